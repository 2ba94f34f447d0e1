// Host threads: every part runs once, callers take turns, threads end at any time, and rounding is to nearest in all.
#include "semantics/simd/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <vector>

namespace palladion::simd {
namespace {

TEST(Parallel, RunsEveryPartOnce) {
  for (const std::size_t threads : {0u, 1u, 2u, 3u, 8u}) {
    Parallel parallel(threads);
    EXPECT_EQ(parallel.threads(), threads == 0 ? 1 : threads);
    for (const std::size_t parts : {0u, 1u, 2u, 5u, 100u, 3u}) {  // rounds follow each other on the same workers
      std::vector<std::atomic<int>> runs(parts);
      parallel.For(parts, [&](std::size_t part) { ++runs[part]; });
      for (std::size_t part = 0; part < parts; ++part) EXPECT_EQ(runs[part], 1) << part << " of " << parts;
    }
  }
}

TEST(Parallel, CallersTakeTurns) {
  Parallel parallel(2);
  std::vector<std::atomic<int>> runs(64);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) parallel.For(runs.size(), [&](std::size_t part) { ++runs[part]; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const std::atomic<int>& count : runs) EXPECT_EQ(count, 150);
}

// Rounds that come at once, and after pauses in which workers fall asleep, are about to, or have just been woken.
TEST(Parallel, RoundsAfterPausesOfEveryLength) {
  Parallel parallel(3);
  for (int pause = 0; pause < 200; ++pause) {
    std::vector<std::atomic<int>> runs(7);
    parallel.For(runs.size(), [&](std::size_t part) { ++runs[part]; });
    for (const std::atomic<int>& count : runs) ASSERT_EQ(count, 1);
    std::this_thread::sleep_for(std::chrono::microseconds(pause));
  }
}

// Pools that are used once and destroyed while their workers spin or sleep.
TEST(Parallel, EndsAtAnyTime) {
  for (int pause = 0; pause < 100; ++pause) {
    Parallel parallel(2);
    std::atomic<int> runs = 0;
    if (pause % 2 == 0) parallel.For(4, [&](std::size_t) { ++runs; });
    std::this_thread::sleep_for(std::chrono::microseconds(pause));
    EXPECT_EQ(runs, pause % 2 == 0 ? 4 : 0);
  }
}

// A worker created while another rounding mode is set still rounds to nearest.
TEST(Parallel, WorkersRoundToNearest) {
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  Parallel parallel(2);
  std::fesetround(FE_TONEAREST);
  std::atomic<int> entered = 0;
  std::atomic<int> to_nearest = 0;
  parallel.For(2, [&](std::size_t) {
    ++entered;
    while (entered < 2) std::this_thread::yield();  // so that both threads get a part
    if (std::fegetround() == FE_TONEAREST) ++to_nearest;
  });
  EXPECT_EQ(to_nearest, 2);
}

}  // namespace
}  // namespace palladion::simd
