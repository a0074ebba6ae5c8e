// Both ends of a pass: rows made of ids, and of states where there are any; rows scored and looked at.
//
// Knows a table of embeddings, norms and two weights; no layer, no cache, no rule. As in the layers, a
// row is computed in an order of its own, whatever the other rows are.
#pragma once

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
  int64_t scored;  // of the n rows the last so many
  float* scores;   // [scored, scored ids]
  Best* best;      // [scored]
  int32_t shares;  // whether these are asked for
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
                  int64_t width, float* own, Stage& stage, int threads) {
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
    product(own, n, weights, begin, end, {x, width, false});
  });
}

// Score the last rows [scored, width], as one of the team, and find the best of each.
inline void leave(const Exit& exit, const Ends& ends, float epsilon, const float* x, float* own,
                  Stage* stages, int threads) {
  const Weights& weights = exit.weights;
  const auto prepare = [&] {
    for (int64_t row = 0; row < ends.scored; row++)
      rms_norm(x + row * weights.in, exit.norm, epsilon, weights.in, own + row * weights.in);
  };
  take_part(stages[0], groups_of(weights), threads, prepare, [&](int64_t begin, int64_t end) {
    product(own, ends.scored, weights, begin, end, {ends.scores, weights.out, false});
  });
  take_part(stages[1], ends.scored, threads, [] {}, [&](int64_t row, int64_t end) {
    for (; row < end; row++) {
      const float* scores = ends.scores + row * weights.out;
      Best& best = ends.best[row];
      best.place = largest(scores, weights.out, &best.score);
      best.share = ends.shares ? share_of(scores, weights.out, best.score) : 0.0f;
    }
  });
}

}  // namespace
