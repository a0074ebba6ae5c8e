// The layers of a Llama-family model over a few rows, as what each thread of a team does of them.
//
// Knows weights, norms, positions and a cache of keys and values; no ids, no embedding, no rule.
// Each row is computed in an order that depends on its own position alone: neither on how many rows
// the pass has nor on how many threads share it (ARCHITECTURE.md, invariant 2).
#pragma once

#include "attention.h"
#include "product.h"
#include "team.h"

extern "C" {

struct Layer {
  Weights qkv, output, gate_up, down;  // gate first
  const float *attention_norm, *mlp_norm;
  const float* head_norms;  // [heads + kv_heads, head_dim], or null
  int64_t window;           // positions that a row sees, itself one of them; 0: all before it
};

struct Shape {
  int64_t width, heads, kv_heads, head_dim, rotary_dim, mlp_width;
  float epsilon;
};

struct Store {
  float *const *keys, *const *values;  // a layer each: [kv_heads, positions, head_dim]
  int64_t positions;
  int64_t start;  // where the sequence's own first position lies
};

struct Rows {
  float* x;                      // [n, width], the residual stream
  int64_t n, first;              // how many, and the position of the first
  const float *cosines, *sines;  // [n, rotary_dim], of their positions; the sines come signed
  Reach reach;                   // of the weights
};
}

namespace {

constexpr int STAGES = 6;  // of a layer

// Everything that the threads of one pass share.
struct Pass {
  const Shape& shape;
  const Store& store;
  const Rows& rows;
  float *qkv, *inner;  // [n, (heads + 2 kv_heads) head_dim], [n, 2 mlp]
  float* parts;        // of each head of each row, in each block of positions

  int64_t qkv_width() const { return (shape.heads + 2 * shape.kv_heads) * shape.head_dim; }

  // Norm and turn a query in place, or put a key and its value into the store.
  void place(const Layer& layer, int64_t index, int64_t item) const {
    const int64_t turned = shape.heads + shape.kv_heads, dim = shape.head_dim;
    const int64_t row = item / turned, head = item % turned, kv = head - shape.heads;
    float* from = qkv + row * qkv_width() + head * dim;
    if (layer.head_norms) rms_norm(from, layer.head_norms + head * dim, shape.epsilon, dim, from);
    const int64_t slot = (kv * store.positions + store.start + rows.first + row) * dim;
    const int64_t angles = row * shape.rotary_dim;
    turn(from, rows.cosines + angles, rows.sines + angles, shape.rotary_dim, dim,
         kv < 0 ? from : store.keys[index] + slot);
    if (kv >= 0)
      std::memcpy(store.values[index] + slot, from + shape.kv_heads * dim, dim * sizeof(float));
  }

  // Blocks of positions that some row sees.
  int64_t first_block(const Layer& layer) const { return seen_from(layer, 0) / SEEN_AT_ONCE; }
  int64_t blocks(const Layer& layer) const {
    return (rows.first + rows.n - 1) / SEEN_AT_ONCE + 1 - first_block(layer);
  }

  // The first position that a row sees.
  int64_t seen_from(const Layer& layer, int64_t row) const {
    const int64_t after = rows.first + row + 1;
    return layer.window ? std::max<int64_t>(0, after - layer.window) : 0;
  }

  // Where the part of one head of one row in a block lies, counted from the first block.
  float* part(const Layer& layer, int64_t row, int64_t head, int64_t block) const {
    const int64_t query = row * shape.heads + head;
    return parts + (query * blocks(layer) + block) * part_floats(shape.head_dim);
  }

  int64_t shares() const {  // of the queries of a key head
    return (rows.n * (shape.heads / shape.kv_heads) + QUERIES - 1) / QUERIES;
  }

  // Attend from some queries of a key head to one block: item of kv_heads * blocks * shares.
  void mix(const Layer& layer, int64_t index, int64_t item, float* scores) const {
    const int64_t group = shape.heads / shape.kv_heads, dim = shape.head_dim;
    const int64_t kv = item / (blocks(layer) * shares()), block = item / shares() % blocks(layer);
    const int64_t begin = (first_block(layer) + block) * SEEN_AT_ONCE;
    Query queries[QUERIES];
    int64_t count = 0;
    for (int64_t at = item % shares() * QUERIES; at < rows.n * group && count < QUERIES; at++) {
      const int64_t row = at / group, head = kv * group + at % group;
      const int64_t from = std::max(seen_from(layer, row), begin) - begin;
      const int64_t to = std::min(rows.first + row + 1 - begin, SEEN_AT_ONCE);
      queries[count++] = {qkv + row * qkv_width() + head * dim, from, to,
                          part(layer, row, head, block)};
    }
    const int64_t slot = (kv * store.positions + store.start + begin) * dim;
    attend_any(dim, queries, count, store.keys[index] + slot, store.values[index] + slot, scores);
  }

  // Join what each head of each row found in its blocks, for oneself: [n, heads * head_dim].
  void gather(const Layer& layer, float* to) const {
    const int64_t floats = part_floats(shape.head_dim);
    for (int64_t row = 0; row < rows.n; row++) {
      const int64_t begin = seen_from(layer, row) / SEEN_AT_ONCE - first_block(layer);
      const int64_t end = (rows.first + row) / SEEN_AT_ONCE + 1 - first_block(layer);
      for (int64_t head = 0; head < shape.heads; head++)
        join(part(layer, row, head, begin), end - begin, floats, shape.head_dim,
             to + (row * shape.heads + head) * shape.head_dim);
    }
  }

  // silu(gate) * up, which each thread makes for itself: [n, mlp_width].
  void activate(float* to) const {
    const int64_t width = shape.mlp_width;
    for (int64_t row = 0; row < rows.n; row++) {
      const float *gate = inner + row * 2 * width, *up = gate + width;
      int64_t at = 0;
      for (; at + LANES <= width; at += LANES) {
        const Lanes value = load(gate + at);
        const Lanes active = value / (1.0f + exponential(-value)) * load(up + at);
        put_lanes(to + row * width + at, active);
      }
      for (; at < width; at++)
        to[row * width + at] = gate[at] / (1.0f + std::exp(-gate[at])) * up[at];
    }
  }

  void norm(const float* weight, float* to) const {
    const int64_t width = shape.width;
    for (int64_t row = 0; row < rows.n; row++)
      rms_norm(rows.x + row * width, weight, shape.epsilon, width, to + row * width);
  }

  // One layer, as one of the team; `own` is this thread's, `stages` are the layer's.
  void run(const Layer& layer, int64_t index, float* own, Stage* stages, int threads) const {
    const int64_t n = rows.n;
    const auto multiply = [&](Stage& stage, const Weights& weights, const float* x, Sink sink,
                              auto prepare) {
      take_part(stage, groups_of(weights), threads, prepare,
                [&](int64_t begin, int64_t end) {
                  product(x, n, weights, begin, end, sink, rows.reach);
                });
    };
    const auto nothing = [] {};
    multiply(stages[0], layer.qkv, own, {qkv, qkv_width(), false},
             [&] { norm(layer.attention_norm, own); });
    take_part(stages[1], n * (shape.heads + shape.kv_heads), threads, nothing,
              [&](int64_t item, int64_t end) {
                for (; item < end; item++) place(layer, index, item);
              });
    take_part(stages[2], shape.kv_heads * blocks(layer) * shares(), threads, nothing,
              [&](int64_t item, int64_t end) {
                for (; item < end; item++) mix(layer, index, item, own);
              });
    multiply(stages[3], layer.output, own, {rows.x, shape.width, true},
             [&] { gather(layer, own); });
    multiply(stages[4], layer.gate_up, own, {inner, 2 * shape.mlp_width, false},
             [&] { norm(layer.mlp_norm, own); });
    multiply(stages[5], layer.down, own, {rows.x, shape.width, true}, [&] { activate(own); });
  }
};

// Floats that one thread works in; `widest` is what it may need for a row besides.
int64_t own_floats(const Shape& shape, int64_t n, int64_t widest) {
  const int64_t heads = shape.heads * shape.head_dim;
  const int64_t row = std::max(std::max(shape.width, shape.mlp_width), std::max(heads, widest));
  return std::max(n * row, QUERIES * (SEEN_AT_ONCE + LANES));
}

// Floats of the parts of all rows, at most.
int64_t all_parts(const Shape& shape, int64_t n, int64_t first) {
  return n * shape.heads * ((first + n - 1) / SEEN_AT_ONCE + 1) * part_floats(shape.head_dim);
}

}  // namespace
