// A pass of a Llama-family model over a few rows, as one function that a whole team of threads runs.
//
// Knows weights, norms, positions and a cache of keys and values; no ids, no embedding, no rule.
// Each row is computed in an order that depends on its own position alone: neither on how many rows
// the pass has nor on how many threads share it (ARCHITECTURE.md, invariant 2). Built without
// -ffast-math: what is no number must stay none.

#include <omp.h>

#include <vector>

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
};
}

namespace {

constexpr int STAGES = 6;  // of a layer

// Everything that the threads of one pass share.
struct Pass {
  const Shape& shape;
  const Store& store;
  const Rows& rows;
  float *qkv, *mixed, *inner;  // [n, (heads + 2 kv_heads) head_dim], [n, heads * head_dim], [n, 2 mlp]

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

  // Attend from one head of one row; heads that share keys follow one another.
  void mix(const Layer& layer, int64_t index, int64_t item, float* scores) const {
    const int64_t group = shape.heads / shape.kv_heads, dim = shape.head_dim;
    const int64_t kv = item / (rows.n * group), row = item / group % rows.n;
    const int64_t head = kv * group + item % group, position = rows.first + row;
    const int64_t from = layer.window ? std::max<int64_t>(0, position + 1 - layer.window) : 0;
    const int64_t begin = (kv * store.positions + store.start + from) * dim;
    attend(qkv + row * qkv_width() + head * dim, store.keys[index] + begin,
           store.values[index] + begin, position + 1 - from, dim, scores,
           mixed + row * shape.heads * dim + head * dim);
  }

  // silu(gate) * up, which each thread makes for itself: [n, mlp_width].
  void activate(float* to) const {
    const int64_t width = shape.mlp_width;
    for (int64_t row = 0; row < rows.n; row++) {
      const float *gate = inner + row * 2 * width, *up = gate + width;
      int64_t at = 0;
      for (; at + LANES <= width; at += LANES) {
        const Lanes value = load(gate + at);
        const Lanes mixed_in = value / (1.0f + exponential(-value)) * load(up + at);
        put_lanes(to + row * width + at, mixed_in);
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
    const int64_t n = rows.n, heads = shape.heads;
    const auto multiply = [&](Stage& stage, const Weights& weights, const float* x, Sink sink,
                              auto prepare) {
      take_part(stage, groups_of(weights), threads, prepare,
                [&](int64_t group) { product(x, n, weights, group, sink); });
    };
    const auto nothing = [] {};
    multiply(stages[0], layer.qkv, own, {qkv, qkv_width(), false},
             [&] { norm(layer.attention_norm, own); });
    take_part(stages[1], n * (heads + shape.kv_heads), threads, nothing,
              [&](int64_t item) { place(layer, index, item); });
    take_part(stages[2], n * heads, threads, nothing,
              [&](int64_t item) { mix(layer, index, item, own); });
    multiply(stages[3], layer.output, mixed, {rows.x, shape.width, true}, nothing);
    multiply(stages[4], layer.gate_up, own, {inner, 2 * shape.mlp_width, false},
             [&] { norm(layer.mlp_norm, own); });
    multiply(stages[5], layer.down, own, {rows.x, shape.width, true}, [&] { activate(own); });
  }
};

// Floats that one thread works in.
int64_t own_floats(const Shape& shape, int64_t n, int64_t first) {
  const int64_t rows = n * std::max(shape.width, shape.mlp_width);
  return std::max(rows, first + n + 4 + LANES);
}

}  // namespace

extern "C" {

int64_t draftscope_lanes() { return LANES; }

// Bytes of one weight as it is packed.
int64_t draftscope_packed_bytes(int64_t out, int64_t in) {
  return (out + GROUP - 1) / GROUP * GROUP * in * sizeof(uint16_t);
}

// Round a weight [out, in] to float16 and lay it out; return its largest magnitude, NaN if any is.
float draftscope_pack(const float* weight, int64_t out, int64_t in, uint16_t* packed, int threads) {
  const int64_t groups = (out + GROUP - 1) / GROUP;
  float largest = 0.0f;
  bool broken = false;
#pragma omp parallel for num_threads(threads) reduction(max : largest) reduction(|| : broken)
  for (int64_t group = 0; group < groups; group++) {
    for (int64_t lane = 0; lane < GROUP; lane++) {
      const int64_t column = group * GROUP + lane;
      for (int64_t at = 0; at < in; at++) {
        const float value = column < out ? weight[column * in + at] : 0.0f;
        largest = std::max(largest, std::fabs(value));
        broken = broken || value != value;
        packed[(group * in + at) * GROUP + lane] = _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
      }
    }
  }
  return broken ? NAN : largest;
}

// Floats of scratch that a pass needs.
int64_t draftscope_scratch(const Shape* shape, int64_t n, int64_t first, int threads) {
  const int64_t heads = 2 * (shape->heads + shape->kv_heads) * shape->head_dim;
  return n * (heads + 2 * shape->mlp_width) + threads * own_floats(*shape, n, first);
}

// Run `count` layers, from number `begin` on, on rows in place; the same numbers in the store.
void draftscope_run(const Shape* shape, const Layer* layers, int64_t begin, int64_t count,
                    const Store* store, const Rows* rows, float* scratch, int threads) {
  const int64_t n = rows->n, heads = shape->heads * shape->head_dim;
  float* mixed = scratch + n * (heads + 2 * shape->kv_heads * shape->head_dim);
  float* inner = mixed + n * heads;
  float* own = inner + n * 2 * shape->mlp_width;
  const Pass pass{*shape, *store, *rows, scratch, mixed, inner};
  std::vector<Stage> stages(STAGES * count);
#pragma omp parallel num_threads(threads)
  {
    float* mine = own + omp_get_thread_num() * own_floats(*shape, n, rows->first);
    for (int64_t at = 0; at < count; at++)
      pass.run(layers[begin + at], begin + at, mine, &stages[STAGES * at], omp_get_num_threads());
  }
}

// x [n, in] times a weight, after an RMS norm if `norm` is given; scratch of n * in floats a thread.
void draftscope_product(const Weights* weights, const float* x, int64_t n, const float* norm,
                        float epsilon, float* to, float* scratch, int threads) {
  const int64_t in = weights->in;
  Stage stage;
#pragma omp parallel num_threads(threads)
  {
    float* own = norm ? scratch + omp_get_thread_num() * n * in : nullptr;
    const auto prepare = [&] {
      for (int64_t row = 0; norm && row < n; row++)
        rms_norm(x + row * in, norm, epsilon, in, own + row * in);
    };
    take_part(stage, groups_of(*weights), omp_get_num_threads(), prepare, [&](int64_t group) {
      product(norm ? own : x, n, *weights, group, {to, weights->out, false});
    });
  }
}
}
