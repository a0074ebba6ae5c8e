// Rows times packed weights, float16 or bytes, sums in float32. Knows no layer and no cache.
//
// Weights lie in groups of 2 * LANES outputs: [groups][in][2 * LANES], zeros past the last output. A
// group is one stream of memory, which is what the speed of a narrow pass hangs on. Each row is
// summed in one order, however many rows there are: so rows round alike in passes of every width.
// Bytes are whole numbers of a unit that each output has of its own: half the memory to wait for.
#pragma once

#include "lanes.h"

extern "C" {

struct Weights {
  const void* packed;
  const float* units;  // [out], of the bytes; null: float16
  const float* bias;   // [out], or null
  int64_t out, in;
};
}

namespace {

constexpr int GROUP = 2 * LANES;
constexpr int AHEAD = 8192;  // bytes: weights are asked for so far before they are used

// Where weights lie when they are asked for. Those of a large model come by once a pass and would
// drive everything else out of the cache that the processor's cores share, a drafter's first of all.
enum class Reach : int32_t { far, near, once };

// R rows of x [*, in] times G groups of weights that follow one another. An output is one chain of
// sums over its inputs in order, whatever R and G are: they only say how much is under way at once.
template <int R, int G, bool KEPT, class Number>
inline void multiply(const float* x, int64_t in, const Number* weights, Lanes (&total)[R][2 * G]) {
  for (int row = 0; row < R; row++)
    for (int i = 0; i < 2 * G; i++) total[row][i] = Lanes{};
  for (int64_t at = 0; at < in; at++) {
    Lanes wide[2 * G];
    for (int group = 0; group < G; group++) {
      const Number* here = weights + (group * in + at) * GROUP;
      _mm_prefetch((const char*)here + AHEAD, KEPT ? _MM_HINT_T0 : _MM_HINT_NTA);
      wide[2 * group] = widen(here);
      wide[2 * group + 1] = widen(here + LANES);
    }
    for (int row = 0; row < R; row++) {
      const float one = x[row * in + at];
      for (int i = 0; i < 2 * G; i++) total[row][i] += one * wide[i];
    }
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
  if (room < LANES) {
    float kept[LANES] = {}, bias[LANES] = {}, units[LANES] = {};
    if (weights.units) {
      std::memcpy(units, weights.units + column, room * sizeof(float));
      value *= load(units);
    }
    if (weights.bias) std::memcpy(bias, weights.bias + column, room * sizeof(float));
    if (sink.add) std::memcpy(kept, to, room * sizeof(float));
    put_lanes(kept, load(kept) + (value + load(bias)));
    std::memcpy(to, kept, room * sizeof(float));
    return;
  }
  if (weights.units) value *= load(weights.units + column);
  if (weights.bias) value += load(weights.bias + column);
  put_lanes(to, sink.add ? load(to) + value : value);
}

template <int R, int G>
inline void rows_of(const float* x, const Weights& weights, int64_t group, int64_t row,
                    const Sink& sink, Reach reach) {
  Lanes total[R][2 * G];
  const int64_t in = weights.in, first = group * in * GROUP;
  const auto halves = (const uint16_t*)weights.packed;
  x += row * in;
  if (weights.units)  // a drafter's, which are few: kept whatever else comes by
    multiply<R, G, true>(x, in, (const int8_t*)weights.packed + first, total);
  else if (reach == Reach::once)
    multiply<R, G, false>(x, in, halves + first, total);
  else
    multiply<R, G, true>(x, in, halves + first, total);
  for (int at = 0; at < R; at++)
    for (int i = 0; i < 2 * G; i++)
      put(sink, weights, row + at, group * GROUP + i * LANES, total[at][i]);
}

// Groups that a weight's outputs lie in.
inline int64_t groups_of(const Weights& weights) { return (weights.out + GROUP - 1) / GROUP; }

template <int R>
inline void some_rows(int64_t rows, const float* x, const Weights& weights, int64_t group,
                      int64_t row, const Sink& sink, Reach reach) {
  if (rows == R) return rows_of<R, 1>(x, weights, group, row, sink, reach);
  if constexpr (R > 1) some_rows<R - 1>(rows, x, weights, group, row, sink, reach);
}

// x [n, in] times the groups [begin, end) of the weights. A narrow pass waits for memory, which is
// quickest in one stream; where weights are near, a single row waits for its own sums, so that two
// groups at once are quicker.
void product(const float* x, int64_t n, const Weights& weights, int64_t begin, int64_t end,
             const Sink& sink, Reach reach) {
  if (n > TALLEST && reach == Reach::once) reach = Reach::far;  // a group is read for every tile
  if (n == 1 && reach == Reach::near)
    for (; begin + 2 <= end; begin += 2) rows_of<1, 2>(x, weights, begin, 0, sink, reach);
  for (int64_t group = begin; group < end; group++) {
    for (int64_t row = 0, left = (n + TALLEST - 1) / TALLEST; row < n; left--) {
      const int64_t rows = (n - row + left - 1) / left;  // tiles as alike as can be
      some_rows<TALLEST>(rows, x, weights, group, row, sink, reach);
      row += rows;
    }
  }
}

}  // namespace
