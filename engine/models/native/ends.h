// Both ends of a pass: rows made of ids, and of states where there are any; rows scored and looked at.
//
// Knows a table of embeddings, norms and two weights; no layer, no cache, no rule. As in the layers, a
// row is computed in an order of its own, whatever the other rows are.
#pragma once

#include "laws.h"
#include "product.h"
#include "rows.h"
#include "team.h"

extern "C" {

struct Entrance {
  const uint16_t* table;  // [*, width], float16
  int64_t width;          // of an embedding, and of each state that is read before it
  int64_t states;
  const float* norms;  // [states + 1, width]
  Weights weights;     // to the width of the layers; packed null: the embedding is the row
};

struct Exit {
  const float* norm;  // [width of the layers]
  Weights weights;    // [scored ids, width of the layers]
};

struct Best {
  int64_t place;  // of the largest score, the lowest if several are
  float score;    // the largest; what is no number comes before any number
  float share;    // its probability at temperature 1, where it was asked for
};

struct Ends {
  const int64_t* ids;   // [n]
  const float* states;  // [n, states * width], `stride` floats a row
  int64_t stride;
  const int64_t* taps;  // numbers of layers, from 1 and rising, whose rows are kept as well
  int64_t tapped;       // how many
  float* kept;          // [n, (1 + tapped) * width of the layers]: after the last one, then these
  int64_t scored;       // of the n rows the last so many
  float* scores;        // [scored, scored ids]
  Best* best;           // [scored]
  int32_t shares;       // whether these are asked for
  float temperature;    // of the laws, if these are asked for
  float* laws;          // [scored, scored ids], or null
  double uniform;       // that draws from the last law
  int64_t drawn;        // what it drew
};
}

namespace {

// Write the embedding of an id in float32.
inline void embed(const Entrance& entrance, int64_t id, float* to) {
  const uint16_t* from = entrance.table + id * entrance.width;
  int64_t at = 0;
  for (; at + LANES <= entrance.width; at += LANES) put_lanes(to + at, widen(from + at));
  for (; at < entrance.width; at++) to[at] = _cvtsh_ss(from[at]);
}

// One row's states and its embedding behind them, each normed by itself.
inline void join_ends(const Entrance& entrance, const Ends& ends, float epsilon, int64_t row,
                      float* to) {
  const int64_t width = entrance.width;
  const float *states = ends.states + row * ends.stride, *norm = entrance.norms;
  for (int64_t at = 0; at < entrance.states; at++, to += width, norm += width)
    rms_norm(states + at * width, norm, epsilon, width, to);
  embed(entrance, ends.ids[row], to);
  rms_norm(to, norm, epsilon, width, to);
}

// Make the rows [n, width] of a pass, as one of the team; `own` is this thread's.
inline void enter(const Entrance& entrance, const Ends& ends, float epsilon, int64_t n, float* x,
                  int64_t width, float* own, Stage& stage, int threads, Reach reach) {
  const Weights& weights = entrance.weights;
  if (!weights.packed) {
    take_part(stage, n, threads, [] {},
              [&](int64_t row, int64_t end) {
                for (; row < end; row++) embed(entrance, ends.ids[row], x + row * width);
              });
    return;
  }
  const auto prepare = [&] {
    for (int64_t row = 0; row < n; row++)
      join_ends(entrance, ends, epsilon, row, own + row * weights.in);
  };
  take_part(stage, groups_of(weights), threads, prepare, [&](int64_t begin, int64_t end) {
    product(own, n, weights, begin, end, {x, width, false}, reach);
  });
}

// Keep rows [n, width] as part `part` of what a pass gives, as one of the team.
inline void keep(const Ends& ends, const float* x, int64_t n, int64_t width, int64_t part,
                 Stage& stage, int threads) {
  take_part(stage, n, threads, [] {}, [&](int64_t row, int64_t end) {
    for (; row < end; row++)
      std::memcpy(ends.kept + (row * (1 + ends.tapped) + part) * width, x + row * width,
                  width * sizeof(float));
  });
}

// The best of a row of scores, its law, and what is drawn from the last one.
inline void look(Ends& ends, int64_t row, int64_t width) {
  const float* scores = ends.scores + row * width;
  Best& best = ends.best[row];
  best.place = largest(scores, width, &best.score);
  best.share = ends.shares ? share_of(scores, width, best.score) : 0.0f;
  if (!ends.laws) return;
  float* law = ends.laws + row * width;
  softmax(scores, width, ends.temperature, law);
  double mass;
  if (row == ends.scored - 1) ends.drawn = draw(law, width, ends.uniform, &mass);
}

// Score the last rows [scored, width], as one of the team, and look at each.
inline void leave(const Exit& exit, Ends& ends, float epsilon, const float* x, float* own,
                  Stage* stages, int threads, Reach reach) {
  const Weights& weights = exit.weights;
  const auto prepare = [&] {
    for (int64_t row = 0; row < ends.scored; row++)
      rms_norm(x + row * weights.in, exit.norm, epsilon, weights.in, own + row * weights.in);
  };
  take_part(stages[0], groups_of(weights), threads, prepare, [&](int64_t begin, int64_t end) {
    product(own, ends.scored, weights, begin, end, {ends.scores, weights.out, false}, reach);
  });
  take_part(stages[1], ends.scored, threads, [] {}, [&](int64_t row, int64_t end) {
    for (; row < end; row++) look(ends, row, weights.out);
  });
}

}  // namespace
