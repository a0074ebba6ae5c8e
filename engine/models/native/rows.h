// Rows of the vocabulary's length: the largest entry, the top few, softmax and entropy. One pass each.
//
// Knows numbers in rows; no token, no rule. Rows are independent of one another.
#pragma once

#include "lanes.h"

namespace {

constexpr int64_t MOST_SHOWN = 256;  // of the top few

// The largest value and its first place; a NaN, if there is one, comes before any number.
inline int64_t largest(const float* row, int64_t width, float* value) {
  const Lanes zero{};
  Lanes peaks = zero - INFINITY, odd{};
  int64_t at = 0;
  for (; at + LANES <= width; at += LANES) {
    const Lanes here = load(row + at);
    peaks = here > peaks ? here : peaks;
    odd += here - here;  // 0 for numbers, NaN for what is none and for infinities
  }
  float peak = -INFINITY;
  for (int i = 0; i < LANES; i++) peak = peaks[i] > peak ? peaks[i] : peak;
  for (; at < width; at++) {
    peak = row[at] > peak ? row[at] : peak;
    odd[0] += row[at] - row[at];
  }
  const float check = sum(odd);
  if (check != check)
    for (int64_t i = 0; i < width; i++)
      if (row[i] != row[i]) {
        *value = row[i];
        return i;
      }
  *value = peak;
  for (at = 0; at + LANES <= width && !any(load(row + at) == peak); at += LANES) {}
  for (; at < width; at++)
    if (row[at] == peak) return at;
  return 0;
}

// The probability of the largest value of a row, in its softmax; NaN where the row holds one.
inline float share_of(const float* row, int64_t width, float peak) {
  Lanes total{};
  int64_t at = 0;
  for (; at + LANES <= width; at += LANES) total += exponential(load(row + at) - peak);
  float whole = sum(total);
  for (; at < width; at++) whole += std::exp(row[at] - peak);
  return 1.0f / whole;
}

// The places of the `count` largest entries, in falling order; the lower place first among equals.
inline void top(const float* row, int64_t width, int64_t count, int64_t* places) {
  float values[MOST_SHOWN];
  int64_t found = 0;
  const auto take = [&](int64_t at) {
    int64_t to = found < count ? found++ : count - 1;
    for (; to > 0 && values[to - 1] < row[at]; to--) {
      values[to] = values[to - 1];
      places[to] = places[to - 1];
    }
    values[to] = row[at];
    places[to] = at;
  };
  int64_t at = 0;
  for (; at < width && found < count; at++) take(at);
  for (; at + LANES <= width; at += LANES) {
    if (!any(load(row + at) > values[count - 1])) continue;
    for (int64_t i = at; i < at + LANES; i++)
      if (row[i] > values[count - 1]) take(i);
  }
  for (; at < width; at++)
    if (row[at] > values[count - 1]) take(at);
}

inline Lanes warmed(Lanes from, float temperature) {
  return temperature == 1.0f ? from : from / temperature;
}

// The softmax of a row at a temperature; returns the largest value, by which numbers are told.
inline float softmax(const float* row, int64_t width, float temperature, float* law) {
  float peak;
  largest(row, width, &peak);
  Lanes total{};
  int64_t at = 0;
  for (; at + LANES <= width; at += LANES) {
    // below -80 the share of 49,152 ids is under 1e-30; zero keeps subnormal numbers away
    const Lanes from = warmed(load(row + at) - peak, temperature), value = exponential(from);
    const Lanes kept = from < -80.0f ? Lanes{} : value;
    total += kept;
    put_lanes(law + at, kept);
  }
  float whole = sum(total);
  for (; at < width; at++) whole += law[at] = std::exp((row[at] - peak) / temperature);
  const float share = 1.0f / whole;
  for (at = 0; at + LANES <= width; at += LANES) put_lanes(law + at, load(law + at) * share);
  for (; at < width; at++) law[at] *= share;
  return peak;
}

// The entropy in nats of law = softmax(row), from one of its probable places.
inline float entropy(const float* row, const float* law, int64_t width, int64_t place) {
  Lanes even{}, odd{};
  int64_t at = 0;
  for (; at + 2 * LANES <= width; at += 2 * LANES) {
    even += load(row + at) * load(law + at);
    odd += load(row + at + LANES) * load(law + at + LANES);
  }
  float mean = sum(even + odd);
  for (; at < width; at++) mean += row[at] * law[at];
  return row[place] - std::log(law[place]) - mean;
}

// The entropy in nats of any law; what is too small for a normal number counts as none.
inline float entropy_of(const float* law, int64_t width) {
  constexpr float SMALLEST = 2e-38f;
  Lanes total{};
  int64_t at = 0;
  for (; at < width; at += LANES) {
    Lanes here{};
    if (at + LANES <= width)
      here = load(law + at);
    else
      std::memcpy(&here, law + at, (width - at) * sizeof(float));
    const Lanes counted = here < SMALLEST ? Lanes{} + 1.0f : here;
    total -= here * logarithm(counted);
  }
  return sum(total);
}

}  // namespace
