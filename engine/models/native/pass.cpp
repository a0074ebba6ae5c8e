// Passes of a Llama-family model as functions, each run by a whole team of threads: what a library has.
//
// Built without -ffast-math: what is no number must stay none.

#include <omp.h>

#include <vector>

#include "ends.h"
#include "laws.h"
#include "layers.h"
#include "many.h"
#include "rows.h"

extern "C" {

// Numbers of one weight as it is packed.
int64_t draftscope_packed(int64_t out, int64_t in) {
  return (out + GROUP - 1) / GROUP * GROUP * in;
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

// Round a weight [out, in] to bytes of a unit for each output, and lay it out in `packed`, of zeros.
void draftscope_pack_bytes(const float* weight, int64_t out, int64_t in, int8_t* packed,
                           float* units, int threads) {
  constexpr float MOST = 127.0f;
#pragma omp parallel for num_threads(threads)
  for (int64_t column = 0; column < out; column++) {
    const float* row = weight + column * in;
    float peak = 0.0f;
    bool finite = true;
    for (int64_t at = 0; at < in; at++) {
      peak = std::max(peak, std::fabs(row[at]));
      finite = finite && row[at] - row[at] == 0.0f;
    }
    units[column] = finite ? peak / MOST : NAN;  // an output of what is no number is none
    const float scale = finite && peak > 1e-30f ? MOST / peak : 0.0f;
    int8_t* to = packed + column / GROUP * GROUP * in + column % GROUP;
    for (int64_t at = 0; at < in; at++)
      to[at * GROUP] = scale > 0.0f ? (int8_t)std::lrint(row[at] * scale) : 0;
  }
}

// Floats of scratch that a pass needs; `widest` is what a row is made of, where it is made of ids.
int64_t draftscope_scratch(const Shape* shape, int64_t n, int64_t first, int64_t widest,
                           int threads) {
  const int64_t heads = (shape->heads + 2 * shape->kv_heads) * shape->head_dim;
  return n * (heads + 2 * shape->mlp_width) + all_parts(*shape, n, first) +
         threads * own_floats(*shape, n, widest);
}

// Attend from one row of each of many sequences; `half`: keys and values take half the room.
void draftscope_attend(const Many* many, int half, int threads) {
#pragma omp parallel num_threads(threads)
  {
    Desk desk;
#pragma omp for schedule(dynamic)
    for (int64_t item = 0; item < many->sequences * many->kv_heads; item++) {
      if (half)
        attend_one<Brain>(*many, item, desk);
      else
        attend_one<float>(*many, item, desk);
    }
  }
}

// Run `count` layers, from number `begin` on, on rows in place; the same numbers in the store. With
// `ends`, rows are made of ids before, and kept, scored and looked at after, as they ask.
void draftscope_run(const Shape* shape, const Layer* layers, int64_t begin, int64_t count,
                    const Store* store, const Rows* rows, const Entrance* entrance,
                    const Exit* exit, Ends* ends, float* scratch, int threads) {
  const int64_t n = rows->n, heads = (shape->heads + 2 * shape->kv_heads) * shape->head_dim;
  const int64_t floats = own_floats(*shape, n, ends ? entrance->weights.in : 0);
  const int64_t tapped = ends ? ends->tapped : 0, width = shape->width;
  const Reach reach = rows->reach;
  float *inner = scratch + n * heads, *x = rows->x;
  float* parts = inner + n * 2 * shape->mlp_width;
  float* own = parts + all_parts(*shape, n, rows->first);
  const Pass pass{*shape, *store, *rows, scratch, inner, parts};
  std::vector<Stage> stages(STAGES * count + tapped + 4);
#pragma omp parallel num_threads(threads)
  {
    const int team = omp_get_num_threads();
    float* mine = own + omp_get_thread_num() * floats;
    Stage* stage = stages.data();
    if (ends) enter(*entrance, *ends, shape->epsilon, n, x, width, mine, *stage++, team, reach);
    int64_t taken = 0;
    for (int64_t at = 0; at < count; at++, stage += STAGES) {
      if (taken < tapped && ends->taps[taken] == at)
        keep(*ends, x, n, width, ++taken, *stage++, team);
      pass.run(layers[begin + at], begin + at, mine, stage, team);
    }
    while (taken < tapped) keep(*ends, x, n, width, ++taken, *stage++, team);
    if (tapped) keep(*ends, x, n, width, 0, *stage++, team);
    if (ends && ends->scored)
      leave(*exit, *ends, shape->epsilon, x + (n - ends->scored) * width, mine, stage, team, reach);
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
    take_part(stage, groups_of(*weights), omp_get_num_threads(), prepare,
              [&](int64_t begin, int64_t end) {
                product(norm ? own : x, n, *weights, begin, end, {to, weights->out, false},
                        Reach::far);
              });
  }
}

// The largest value of each row [rows, width] and its first place.
void draftscope_largest(const float* x, int64_t rows, int64_t width, float* values,
                        int64_t* places, int threads) {
#pragma omp parallel for num_threads(threads) if (rows > 1)
  for (int64_t row = 0; row < rows; row++)
    places[row] = largest(x + row * width, width, values + row);
}

// What is to be seen of each row: its law (written, or given already), the top of it, the entropy.
void draftscope_look(const float* logits, float* law, int given, int64_t rows, int64_t width,
                     int64_t count, int64_t* places, float* entropies, int threads) {
#pragma omp parallel for num_threads(threads) if (rows > 1)
  for (int64_t row = 0; row < rows; row++) {
    const float* from = logits + row * width;
    float* to = law + row * width;
    if (!given) softmax(from, width, 1.0f, to);
    top(to, width, count, places + row * count);
    entropies[row] = entropy(from, to, width, places[row * count]);
  }
}

// The top of each row of a law and its entropy.
void draftscope_describe(const float* law, int64_t rows, int64_t width, int64_t count,
                         int64_t* places, float* entropies, int threads) {
#pragma omp parallel for num_threads(threads) if (rows > 1)
  for (int64_t row = 0; row < rows; row++) {
    top(law + row * width, width, count, places + row * count);
    entropies[row] = entropy_of(law + row * width, width);
  }
}

// The softmax of each row at a temperature, and the largest value of each.
void draftscope_laws(const float* scores, int64_t rows, int64_t width, float temperature,
                     float* laws, float* peaks, int threads) {
#pragma omp parallel for num_threads(threads) if (rows > 1)
  for (int64_t row = 0; row < rows; row++)
    peaks[row] = softmax(scores + row * width, width, temperature, laws + row * width);
}

// A draw from a law by a uniform in [0, 1), and all its mass.
int64_t draftscope_draw(const float* law, int64_t width, double uniform, double* total) {
  return draw(law, width, uniform, total);
}

// What is left of a law where a token of another was rejected.
void draftscope_residual(const float* p_target, const float* q_draft, int64_t place, int64_t width,
                         float* to) {
  residual(p_target, q_draft, place, width, to);
}
}
