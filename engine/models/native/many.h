// Attention of many sequences, one new row each: how a target writes many texts at once.
//
// Knows queries, and keys and values of sequences apart, as float32 or in half the room; no layer, no
// weights. Each row is a sequence's newest position and sees all before it, or a window of it.
#pragma once

#include <vector>

#include "attention.h"

extern "C" {

struct Many {
  int64_t sequences, heads, kv_heads, head_dim;
  int64_t room;           // positions of each sequence in keys and values
  int64_t window;         // positions that a row sees, itself one of them; 0: all before it
  const float* queries;   // [sequences, heads, head_dim]
  const void *keys, *values;  // each [sequences, kv_heads, room, head_dim]
  const int64_t* places;  // [sequences], where each row stands
  float* mixed;           // [sequences, heads, head_dim]
};
}

namespace {

// What one thread needs for itself.
struct Desk {
  std::vector<float> scores, parts;
};

// The heads of one sequence that share a key head: item of sequences * kv_heads.
template <class Kept>
void attend_one(const Many& many, int64_t item, Desk& desk) {
  const int64_t group = many.heads / many.kv_heads, dim = many.head_dim;
  const int64_t sequence = item / many.kv_heads, after = many.places[sequence] + 1;
  const int64_t from = many.window ? std::max<int64_t>(0, after - many.window) : 0;
  const int64_t first = from / SEEN_AT_ONCE, blocks = (after - 1) / SEEN_AT_ONCE + 1 - first;
  const int64_t floats = part_floats(dim), head = item * group;
  const Kept* keys = (const Kept*)many.keys + item * many.room * dim;
  const Kept* values = (const Kept*)many.values + item * many.room * dim;
  desk.scores.resize(QUERIES * (SEEN_AT_ONCE + LANES));
  desk.parts.resize(group * blocks * floats);
  for (int64_t block = 0; block < blocks; block++) {
    const int64_t begin = (first + block) * SEEN_AT_ONCE;
    for (int64_t some = 0; some < group; some += QUERIES) {
      Query queries[QUERIES];
      int64_t count = 0;
      for (int64_t at = some; at < group && count < QUERIES; at++)
        queries[count++] = {many.queries + (head + at) * dim, std::max(from, begin) - begin,
                            std::min(after - begin, SEEN_AT_ONCE),
                            desk.parts.data() + (at * blocks + block) * floats};
      attend_any(dim, queries, count, keys + begin * dim, values + begin * dim,
                 desk.scores.data());
    }
  }
  for (int64_t at = 0; at < group; at++)
    join(desk.parts.data() + at * blocks * floats, blocks, floats, dim,
         many.mixed + (head + at) * dim);
}

}  // namespace
