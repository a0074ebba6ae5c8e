// Positions and attention: turning a head by its position, and one query over what it sees.
//
// Knows heads one by one; no layer, no cache's owner. A row's sums run over positions in one order,
// which depends neither on the other rows of the pass nor on how far the cache reaches.
#pragma once

#include "lanes.h"

namespace {

// Su et al. 2021, in halves: coordinate i turns with i + dim / 2; the sines come signed.
inline void turn(const float* x, const float* cosines, const float* sines, int64_t dim,
                 int64_t head_dim, float* to) {
  const int64_t half = dim / 2;
  for (int64_t i = 0; i < half; i++) {
    const float low = x[i], high = x[i + half];
    to[i] = low * cosines[i] + high * sines[i];
    to[i + half] = high * cosines[i + half] + low * sines[i + half];
  }
  if (to != x) std::memcpy(to + dim, x + dim, (head_dim - dim) * sizeof(float));
}

// The vector at `from`, of which only `count` floats are there; the others are zero.
inline Lanes load_some(const float* from, int64_t count) {
  if (count >= LANES) return load(from);
  float kept[LANES] = {};
  std::memcpy(kept, from, count * sizeof(float));
  return load(kept);
}

inline void put_some(float* to, Lanes value, int64_t count) {
  std::memcpy(to, &value, std::min<int64_t>(count, LANES) * sizeof(float));
}

// Scores of one query against `seen` keys, and past them -inf for LANES more; returns their peak.
float scores_of(const float* query, const float* keys, int64_t seen, int64_t head_dim,
                float* scores) {
  for (int64_t at = 0; at < seen; at += 4) {
    const float* key[4];
    for (int i = 0; i < 4; i++) key[i] = keys + std::min(at + i, seen - 1) * head_dim;
    Lanes dot[4] = {};
    for (int64_t d = 0; d < head_dim; d += LANES) {
      const Lanes part = load_some(query + d, head_dim - d);
      for (int i = 0; i < 4; i++) dot[i] += part * load_some(key[i] + d, head_dim - d);
    }
    sums(dot[0], dot[1], dot[2], dot[3], scores + at);
  }
  for (int64_t at = seen; at < seen + LANES; at++) scores[at] = -INFINITY;
  Lanes peaks = Lanes{} - INFINITY;
  for (int64_t at = 0; at < seen; at += LANES) {
    const Lanes value = load(scores + at);
    peaks = value > peaks ? value : peaks;
  }
  float peak = peaks[0];
  for (int i = 1; i < LANES; i++) peak = peaks[i] > peak ? peaks[i] : peak;
  return peak;
}

// Scores to weights in place, not yet divided by their sum, which is returned.
float weights_of(float* scores, int64_t seen, float peak, float scale) {
  Lanes total{};
  for (int64_t at = 0; at < seen; at += LANES) {
    Lanes weight = exponential((load(scores + at) - peak) * scale);
    if (at + LANES > seen)  // what lies past the row weighs nothing, exactly
      for (int i = seen - at; i < LANES; i++) weight[i] = 0.0f;
    total += weight;
    put_lanes(scores + at, weight);
  }
  return sum(total);
}

// Values weighed and added: up to 4 * LANES coordinates from `d` on, even and odd positions apart.
inline void mix_values(const float* weights, const float* values, int64_t seen, int64_t head_dim,
                       int64_t d, float whole, float* to) {
  const int64_t room = head_dim - d;
  const int wide = std::min<int64_t>(4, (room + LANES - 1) / LANES);
  const bool full = room >= 4 * LANES;
  Lanes even[4] = {}, odd[4] = {};
  int64_t at = 0;
  for (; at + 2 <= seen; at += 2) {
    const float *one = values + at * head_dim + d, *two = one + head_dim;
    if (full) {
      for (int i = 0; i < 4; i++) {
        even[i] += weights[at] * load(one + i * LANES);
        odd[i] += weights[at + 1] * load(two + i * LANES);
      }
    } else {
      for (int i = 0; i < wide; i++) {
        even[i] += weights[at] * load_some(one + i * LANES, room - i * LANES);
        odd[i] += weights[at + 1] * load_some(two + i * LANES, room - i * LANES);
      }
    }
  }
  if (at < seen)
    for (int i = 0; i < wide; i++)
      even[i] += weights[at] * load_some(values + at * head_dim + d + i * LANES, room - i * LANES);
  for (int i = 0; i < wide; i++)
    put_some(to + i * LANES, (even[i] + odd[i]) / whole, room - i * LANES);
}

// One query over the keys and values that it sees; `scores` holds seen + LANES + 3 floats.
void attend(const float* query, const float* keys, const float* values, int64_t seen,
            int64_t head_dim, float* scores, float* to) {
  const float peak = scores_of(query, keys, seen, head_dim, scores);
  const float whole = weights_of(scores, seen, peak, 1.0f / std::sqrt((float)head_dim));
  for (int64_t d = 0; d < head_dim; d += 4 * LANES)
    mix_values(scores, values, seen, head_dim, d, whole, to + d);
}

}  // namespace
