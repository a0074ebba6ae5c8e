// Positions and attention: turning a head by its position, and queries over a block of what they see.
//
// Knows heads and blocks of positions; no layer, no cache's owner. The context is read in blocks that
// begin at fixed positions. In each block a query makes a part of its own: a peak, a sum of weights
// and the values mixed by them; its parts are joined in the order of positions. So a row's sums depend
// neither on the other rows of the pass nor on how far the cache reaches.
#pragma once

#include "lanes.h"

namespace {

constexpr int64_t SEEN_AT_ONCE = 256;  // positions of a block
constexpr int64_t NEAR = 64;           // of them, so many keys stay close while queries pass over them
constexpr int64_t QUERIES = 32;        // that share a block at a time

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

// The vector at `from`, of which only `count` numbers are there; the others are zero.
template <class Kept>
inline Lanes load_some(const Kept* from, int64_t count) {
  if (count >= LANES) return load(from);
  Kept kept[LANES] = {};
  std::memcpy(kept, from, count * sizeof(Kept));
  return load(kept);
}

// One query at one block: what it sees of it, and where its part goes.
struct Query {
  const float* at;      // [head_dim]
  int64_t begin, end;   // positions within the block; none: it sees nothing of it
  float* part;          // peak, sum, then from LANES on [head_dim] and what rounds it up to LANES
};

// Floats of one query's part of one block.
inline int64_t part_floats(int64_t head_dim) { return (2 + (head_dim - 1) / LANES) * LANES; }

// A head of W vectors (W = 0: of any size, the last vector perhaps not full).
template <int W>
struct Heads {
  const int64_t dim;

  int64_t vectors() const { return W ? W : (dim + LANES - 1) / LANES; }
  template <class Kept>
  Lanes at(const Kept* head, int64_t vector) const {
    if (W) return load(head + vector * LANES);
    return load_some(head + vector * LANES, dim - vector * LANES);
  }

  // Scores of a query against keys [begin, end), from scores[begin] on; up to 3 more are written.
  template <class Kept>
  void score(const float* query, const Kept* keys, int64_t begin, int64_t end,
             float* scores) const {
    for (int64_t at_key = begin; at_key < end; at_key += 4) {
      const Kept* key[4];
      for (int i = 0; i < 4; i++) key[i] = keys + std::min(at_key + i, end - 1) * dim;
      Lanes dot[4] = {};
      for (int64_t vector = 0; vector < vectors(); vector++) {
        const Lanes part = at(query, vector);
        for (int i = 0; i < 4; i++) dot[i] += part * at(key[i], vector);
      }
      sums(dot[0], dot[1], dot[2], dot[3], scores + at_key);
    }
  }

  // Add values [begin, end) times their weights, even and odd positions of the block apart.
  template <class Kept>
  void mix(const float* weights, const Kept* values, int64_t begin, int64_t end,
           float* mixed) const {
    constexpr int MOST = W ? W : 4;
    for (int64_t first = 0; first < vectors(); first += MOST) {
      const int64_t wide = std::min<int64_t>(MOST, vectors() - first);
      Lanes even[MOST] = {}, odd[MOST] = {};
      const auto add = [&](Lanes* to, int64_t position) {
        for (int64_t i = 0; i < (W ? W : wide); i++)
          to[i] += weights[position] * at(values + position * dim, first + i);
      };
      int64_t position = begin;
      if (position < end && position % 2) add(odd, position++);
      for (; position + 2 <= end; position += 2) {
        add(even, position);
        add(odd, position + 1);
      }
      if (position < end) add(even, position);
      for (int64_t i = 0; i < wide; i++) {
        float* to = mixed + (first + i) * LANES;
        put_lanes(to, load(to) + (even[i] + odd[i]));
      }
    }
  }
};

// Scores [begin, end) to weights in place; writes the part's peak and sum.
inline void weigh(float* scores, const Query& query, float scale) {
  for (int64_t at = query.end; at < query.end + LANES; at++) scores[at] = -INFINITY;
  Lanes peaks = Lanes{} - INFINITY, total{};
  for (int64_t at = query.begin; at < query.end; at += LANES) {
    const Lanes value = load(scores + at);
    peaks = value > peaks ? value : peaks;
  }
  float peak = peaks[0];
  for (int i = 1; i < LANES; i++) peak = peaks[i] > peak ? peaks[i] : peak;
  for (int64_t at = query.begin; at < query.end; at += LANES) {
    Lanes weight = exponential((load(scores + at) - peak) * scale);
    if (at + LANES > query.end)  // what lies past the row weighs nothing, exactly
      for (int i = query.end - at; i < LANES; i++) weight[i] = 0.0f;
    total += weight;
    put_lanes(scores + at, weight);
  }
  query.part[0] = peak * scale;
  query.part[1] = sum(total);
}

// Queries over one block; `scores` holds QUERIES * (SEEN_AT_ONCE + LANES) floats.
template <int W, class Kept>
void attend(const Heads<W> heads, const Query* queries, int64_t count, const Kept* keys,
            const Kept* values, float* scores) {
  constexpr int64_t STRIDE = SEEN_AT_ONCE + LANES;
  const float scale = 1.0f / std::sqrt((float)heads.dim);
  for (int64_t near = 0; near < SEEN_AT_ONCE; near += NEAR)
    for (int64_t i = 0; i < count; i++)
      heads.score(queries[i].at, keys, std::max(queries[i].begin, near),
                  std::min(queries[i].end, near + NEAR), scores + i * STRIDE);
  for (int64_t i = 0; i < count; i++) {
    std::memset(queries[i].part, 0, part_floats(heads.dim) * sizeof(float));
    if (queries[i].begin < queries[i].end) weigh(scores + i * STRIDE, queries[i], scale);
  }
  for (int64_t near = 0; near < SEEN_AT_ONCE; near += NEAR)
    for (int64_t i = 0; i < count; i++)
      heads.mix(scores + i * STRIDE, values, std::max(queries[i].begin, near),
                std::min(queries[i].end, near + NEAR), queries[i].part + LANES);
}

template <class Kept>
void attend_any(int64_t head_dim, const Query* queries, int64_t count, const Kept* keys,
                const Kept* values, float* scores) {
  if (head_dim == 4 * LANES) return attend<4>({head_dim}, queries, count, keys, values, scores);
  if (head_dim == 8 * LANES) return attend<8>({head_dim}, queries, count, keys, values, scores);
  attend<0>({head_dim}, queries, count, keys, values, scores);
}

// Join a query's parts, `count` of them `stride` floats apart, in order; writes [head_dim].
void join(const float* parts, int64_t count, int64_t stride, int64_t head_dim, float* to) {
  float peak = -INFINITY, whole = 0.0f;
  for (int64_t i = 0; i < count; i++) peak = parts[i * stride] > peak ? parts[i * stride] : peak;
  std::memset(to, 0, head_dim * sizeof(float));
  for (int64_t begin = 0; begin < count; begin += LANES) {
    const int64_t end = std::min<int64_t>(begin + LANES, count);
    Lanes share{};
    for (int64_t i = begin; i < end; i++) share[i - begin] = parts[i * stride] - peak;
    share = exponential(share);
    for (int64_t i = begin; i < end; i++) {
      const float* part = parts + i * stride;
      whole += share[i - begin] * part[1];
      for (int64_t at = 0; at < head_dim; at++) to[at] += share[i - begin] * part[LANES + at];
    }
  }
  for (int64_t at = 0; at < head_dim; at++) to[at] /= whole;
}

}  // namespace
