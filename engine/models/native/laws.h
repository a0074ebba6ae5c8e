// What the rule does along a law: the mass of a stretch, a draw, a residual.
//
// Knows numbers in a row; no token, no rule. Sums that decide a draw are float64.
#pragma once

#include "lanes.h"

namespace {

constexpr int64_t STRETCH = 512;  // entries whose mass is summed before any is looked at

// The mass of the entries [begin, end).
inline double mass_of(const float* law, int64_t begin, int64_t end) {
  double part[8] = {};
  int64_t at = begin;
  for (; at + 8 <= end; at += 8)
    for (int i = 0; i < 8; i++) part[i] += law[at + i];
  for (; at < end; at++) part[0] += law[at];
  return ((part[0] + part[4]) + (part[1] + part[5])) + ((part[2] + part[6]) + (part[3] + part[7]));
}

// The first entry at which the mass so far exceeds `uniform` of all mass, never one without any.
inline int64_t draw(const float* law, int64_t width, double uniform, double* total) {
  *total = 0.0;
  for (int64_t at = 0; at < width; at += STRETCH)
    *total += mass_of(law, at, std::min(at + STRETCH, width));
  const double mark = *total * uniform;
  double before = 0.0;
  int64_t at = 0;
  for (; at + STRETCH < width; at += STRETCH) {
    const double mass = mass_of(law, at, at + STRETCH);
    if (before + mass > mark) break;
    before += mass;
  }
  for (; at < width; at++) {
    before += law[at];
    if (before > mark && law[at] > 0.0f) return at;
  }
  for (at = width - 1; at > 0 && !(law[at] > 0.0f);) at--;  // rounding left the mark out of reach
  return at;
}

// max(0, p_target - q_draft), or p_target less its entry at `place` where q_draft is null (all its
// mass is there); renormalised, and p_target itself where nothing is left.
inline void residual(const float* p_target, const float* q_draft, int64_t place, int64_t width,
                     float* to) {
  if (q_draft) {
    int64_t at = 0;
    for (; at + LANES <= width; at += LANES) {
      const Lanes left = load(p_target + at) - load(q_draft + at);
      put_lanes(to + at, left > 0.0f ? left : Lanes{});
    }
    for (; at < width; at++) to[at] = std::max(0.0f, p_target[at] - q_draft[at]);
  } else {
    std::memcpy(to, p_target, width * sizeof(float));
    to[place] = std::max(0.0f, to[place] - 1.0f);
  }
  const double mass = mass_of(to, 0, width);
  if (!(mass > 0.0)) {
    std::memcpy(to, p_target, width * sizeof(float));
    return;
  }
  const float share = (float)(1.0 / mass);
  for (int64_t at = 0; at < width; at++) to[at] *= share;
}

}  // namespace
