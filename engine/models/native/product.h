// Rows times packed float16 weights, sums in float32. Knows no layer and no cache.
//
// Weights lie in groups of 2 * LANES outputs: [groups][in][2 * LANES], zeros past the last output. A
// group is one stream of memory, which is what the speed of a narrow pass hangs on. Each row is
// summed in one order, however many rows there are: so rows round alike in passes of every width.
#pragma once

#include "lanes.h"

extern "C" {

struct Weights {
  const uint16_t* packed;
  const float* bias;  // [out], or null
  int64_t out, in;
};
}

namespace {

constexpr int GROUP = 2 * LANES;
constexpr int AHEAD = 2048;  // bytes that weights are asked for before they are used

// Rows r0 .. r0 + R of x [*, in] times one group of weights: even and odd inputs are summed apart,
// which halves the wait for each sum, and joined at the end.
template <int R>
inline void multiply(const float* x, int64_t in, const uint16_t* group, Lanes (&total)[R][2]) {
  Lanes even[R][2] = {}, odd[R][2] = {};
  int64_t at = 0;
  for (; at + 2 <= in; at += 2) {
    const uint16_t* here = group + at * GROUP;
    _mm_prefetch((const char*)here + AHEAD, _MM_HINT_T0);
    _mm_prefetch((const char*)(here + GROUP) + AHEAD, _MM_HINT_T0);
    const Lanes a = widen(here), b = widen(here + LANES);
    const Lanes c = widen(here + GROUP), d = widen(here + GROUP + LANES);
    for (int row = 0; row < R; row++) {
      const float first = x[row * in + at], second = x[row * in + at + 1];
      even[row][0] += first * a;
      even[row][1] += first * b;
      odd[row][0] += second * c;
      odd[row][1] += second * d;
    }
  }
  if (at < in) {
    for (int row = 0; row < R; row++) {
      even[row][0] += x[row * in + at] * widen(group + at * GROUP);
      even[row][1] += x[row * in + at] * widen(group + at * GROUP + LANES);
    }
  }
  for (int row = 0; row < R; row++) {
    total[row][0] = even[row][0] + odd[row][0];
    total[row][1] = even[row][1] + odd[row][1];
  }
}

struct Sink {
  float* to;       // [n, stride]
  int64_t stride;  // floats a row
  bool add;        // to what is there
};

inline void put(const Sink& sink, const Weights& weights, int64_t row, int64_t column,
                Lanes value) {
  const int64_t room = std::min<int64_t>(LANES, weights.out - column);
  if (room <= 0) return;
  float* to = sink.to + row * sink.stride + column;
  float kept[LANES] = {}, bias[LANES] = {};
  if (room < LANES) {
    if (weights.bias) std::memcpy(bias, weights.bias + column, room * sizeof(float));
    if (sink.add) std::memcpy(kept, to, room * sizeof(float));
    put_lanes(kept, load(kept) + (value + load(bias)));
    std::memcpy(to, kept, room * sizeof(float));
    return;
  }
  if (weights.bias) value += load(weights.bias + column);
  put_lanes(to, sink.add ? load(to) + value : value);
}

template <int R>
inline void rows_of(const float* x, const Weights& weights, int64_t group, int64_t row,
                    const Sink& sink) {
  Lanes total[R][2];
  multiply<R>(x + row * weights.in, weights.in, weights.packed + group * weights.in * GROUP, total);
  for (int i = 0; i < R; i++) {
    put(sink, weights, row + i, group * GROUP, total[i][0]);
    put(sink, weights, row + i, group * GROUP + LANES, total[i][1]);
  }
}

// Groups that a weight's outputs lie in.
inline int64_t groups_of(const Weights& weights) { return (weights.out + GROUP - 1) / GROUP; }

// x [n, in] times one group of the weights.
void product(const float* x, int64_t n, const Weights& weights, int64_t group, const Sink& sink) {
  int64_t row = 0;
  for (; n - row >= TALLEST; row += TALLEST) rows_of<TALLEST>(x, weights, group, row, sink);
  switch (n - row) {
    case 5: rows_of<5>(x, weights, group, row, sink); break;
    case 4: rows_of<4>(x, weights, group, row, sink); break;
    case 3: rows_of<3>(x, weights, group, row, sink); break;
    case 2: rows_of<2>(x, weights, group, row, sink); break;
    case 1: rows_of<1>(x, weights, group, row, sink); break;
  }
}

}  // namespace
