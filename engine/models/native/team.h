// Threads that share the work of a pass, stage after stage, without waiting for one another's turn.
//
// A stage is a number of items, claimed in runs; it is over when all its items are done, not when all
// threads have come by. So a thread that the system has put aside (for a painted frame, say) holds up
// no more than the run it was at. Knows numbers only; nothing of what an item is.
#pragma once

#include <immintrin.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace {

struct alignas(64) Stage {
  std::atomic<int64_t> claimed{0}, done{0};
};

constexpr int SPINS = 2000;      // looks before a waiting thread offers its core to others
constexpr int RUNS_A_THREAD = 4;  // runs of items that a stage is cut into, for each thread

// Take part in a stage: `prepare()` once if there is work left, then `work(begin, end)` for each run.
// Returns when the whole stage is done, whoever did it.
template <class Prepare, class Work>
void take_part(Stage& stage, int64_t items, int threads, Prepare prepare, Work work) {
  const int64_t run = std::max<int64_t>(1, items / (threads * RUNS_A_THREAD));
  if (stage.claimed.load(std::memory_order_relaxed) < items) {
    prepare();  // what others write meanwhile is read in vain: then nothing is left to claim
    for (;;) {
      const int64_t begin = stage.claimed.fetch_add(run, std::memory_order_relaxed);
      if (begin >= items) break;
      const int64_t end = std::min(begin + run, items);
      work(begin, end);
      stage.done.fetch_add(end - begin, std::memory_order_acq_rel);
    }
  }
  for (int spins = 0; stage.done.load(std::memory_order_acquire) < items; spins++) {
    if (spins < SPINS)
      _mm_pause();
    else
      sched_yield();
  }
}

}  // namespace
