// The path back from the last end: by hand, against plain sums over many random runs, and in whole kernels, whose time
// it adds up to.
#include "emu/timing/base/critical_path.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>

#include "emu/timing/base/ticks.h"
#include "emu/timing/gpu/h100_test_util.h"
#include "emu/timing/mosaic_gpu/kernels_test_util.h"

namespace palladion::timing::base::test {
namespace {

using gpu::test::H100;
using mosaic_gpu::test::TimeOf;
using report::PathPart;
using report::Timing;

using Agent = scheduler::AgentOrdinal;
using scheduler::Ticks;
using Sums = std::map<std::int32_t, std::int64_t>;

Sums SumsOf(const CriticalPath& path) {
  Sums sums;
  for (const CriticalPath::Stretch& stretch : path.Longest()) sums[stretch.at.what] += stretch.time.value;
  return sums;
}

// One works at 1 and 2, the other waits for what it does after 1 and goes on at 3.
TEST(CriticalPath, GoesThroughTheAgentThatEndedTheWait) {
  CriticalPath path;
  const Agent one{0}, other{1};
  path.Entered(one, {});
  path.Entered(other, {});
  path.Spent(other, {2}, {.what = 9});  // it would have had time
  path.Spent(one, {5}, {.what = 1});
  path.Began(one);
  path.Spent(one, {4}, {.what = 2});
  path.Followed(other, one);
  path.Spent(other, {10}, {.what = 3});
  path.Left(one, {9});
  path.Left(other, {15});
  EXPECT_EQ(SumsOf(path), (Sums{{1, 5}, {3, 10}}));
}

TEST(CriticalPath, AnOperationBesideItsIssuerBeginsWhereItWasIssued) {
  CriticalPath path;
  const Agent issuer{0}, engine{1};
  path.Entered(issuer, {});
  path.Spent(issuer, {3}, {.what = 1});
  path.Entered(engine, issuer);
  path.Spent(engine, {20}, {.what = 1, .how = 0, .appointed = true});
  path.Spent(issuer, {4}, {.what = 2});
  path.Left(issuer, {7});
  path.Left(engine, {23});
  const std::vector<CriticalPath::Stretch> stretches = path.Longest();
  ASSERT_EQ(stretches.size(), 2u);
  EXPECT_FALSE(stretches[0].at.appointed);
  EXPECT_EQ(stretches[0].time, Ticks{3});
  EXPECT_TRUE(stretches[1].at.appointed);
  EXPECT_EQ(stretches[1].time, Ticks{20});
}

TEST(CriticalPath, APlaceIsLeftToWhoComesNext) {
  CriticalPath path;
  const Agent first{0}, next{1};
  path.Entered(first, {});
  path.Spent(first, {6}, {.what = 1});
  CriticalPath::Held held = path.Hold(first);
  path.Left(first, {6});
  path.Entered(next, {});
  path.StartFrom(next, held);
  path.Release(held);
  path.Spent(next, {2}, {.what = 2});
  path.Left(next, {8});
  EXPECT_EQ(SumsOf(path), (Sums{{1, 6}, {2, 2}}));
}

// Keeps complete sums for each agent, and passes the same events to `path`.
class Random {
 public:
  Random(std::uint32_t seed, CriticalPath& path) : random_(seed), path_(path) {}

  Sums Run() {
    for (int i = 0; i < 6; ++i) Enter({});
    for (int i = 0; i < 4000; ++i) Step();
    while (!there_.empty()) Leave(there_.begin()->first);
    return longest_;
  }
  std::size_t there() const { return there_.size(); }

 private:
  struct Of {
    Sums now, began;
  };
  static std::int64_t Total(const Sums& sums) {
    std::int64_t total = 0;
    for (const auto& [what, time] : sums) total += time;
    return total;
  }
  std::int32_t Any() {
    auto at = there_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random_() % there_.size()));
    return at->first;
  }
  void Enter(Agent by) {
    const Agent agent{next_++};
    path_.Entered(agent, by);
    there_[agent.value].now = by.valid() ? there_.at(by.value).now : Sums();
  }
  void Leave(std::int32_t agent) {
    const Sums& now = there_.at(agent).now;
    path_.Left(Agent{agent}, {Total(now)});
    if (Total(now) > Total(longest_)) longest_ = now;
    there_.erase(agent);
  }
  void Step() {
    const std::int32_t agent = Any(), by = Any();
    Of& of = there_.at(agent);
    switch (random_() % 8) {
      case 0:
        path_.Began(Agent{agent});
        of.began = of.now;
        return;
      case 1:
        path_.Followed(Agent{agent}, Agent{by});
        of.now = there_.at(by).began;
        return;
      case 2:
        if (there_.size() < 12) Enter(Agent{agent});
        return;
      case 3:
        if (there_.size() > 3) Leave(agent);
        return;
      default:
        const auto what = static_cast<std::int32_t>(random_() % 5);
        const auto time = static_cast<std::int64_t>(random_() % 4);
        path_.Spent(Agent{agent}, {time}, {.what = what});
        if (time > 0) of.now[what] += time;
    }
  }

  std::mt19937 random_;
  CriticalPath& path_;
  std::map<std::int32_t, Of> there_;
  Sums longest_;
  std::int32_t next_ = 0;
};

TEST(CriticalPath, IsTheSameAsPlainSumsHoweverLittleIsKept) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    for (const std::size_t enough : {1u, 40u, 65536u}) {
      CriticalPath path(enough);
      Random random(seed, path);
      const Sums sums = random.Run();
      EXPECT_EQ(SumsOf(path), sums) << "seed " << seed << ", " << enough;
    }
  }
}

// Two that wait for each other for ever: what is kept does not grow.
TEST(CriticalPath, WhatIsKeptIsBoundedByWhoIsThere) {
  CriticalPath path(100);
  const Agent one{0}, other{1};
  path.Entered(one, {});
  path.Entered(other, {});
  std::size_t most = 0;
  for (int i = 0; i < 100000; ++i) {
    for (const auto& [a, b] : {std::pair(one, other), std::pair(other, one)}) {
      path.Spent(a, {1}, {.what = i % 7});
      path.Began(a);
      path.Followed(b, a);
    }
    most = std::max(most, path.parts());
  }
  path.Left(one, {200000});
  EXPECT_LE(most, 101u);
  std::int64_t all = 0;
  for (const auto& [what, time] : SumsOf(path)) all += time;
  EXPECT_EQ(all, 200000);
}

// ---- of kernels

std::int64_t TicksOfPath(const Timing& timing) {
  std::int64_t ticks = 0;
  for (const PathPart& part : timing.critical_path) ticks += TicksOf(part.time).value;
  return ticks;
}

const PathPart* PartOf(const Timing& timing, const std::string& op, const std::string& doing) {
  for (const PathPart& part : timing.critical_path) {
    if (part.op == op && part.doing == doing) return &part;
  }
  return nullptr;
}

TEST(CriticalPath, OfACopyIsItsWayThereAndBack) {
  const Timing timing =
      mosaic_gpu::test::RunOf(mosaic_gpu::test::CopyText(), mosaic_gpu::test::MachineNamed("h100")).timed.timing;
  EXPECT_EQ(TicksOfPath(timing), TicksOf(timing.cycles).value);
  const PathPart* const in = PartOf(timing, "copy_gmem_to_smem", "under way");
  ASSERT_NE(in, nullptr);
  EXPECT_EQ(in->time, H100().tma_dram_latency + machines::Cycles(64));
  EXPECT_EQ(PartOf(timing, "barrier_wait", ""), nullptr) << "who waited for it is not on the way";
}

TEST(CriticalPath, AddsUpToTheCyclesOfEveryKernel) {
  const mosaic_gpu::test::TiledMatmul one{.m = 128, .n = 256, .k = 1024, .slots = 2},
      waves{.m = 64, .n = 1024, .k = 512, .slots = 4};
  const Timing timing = TimeOf(one);
  EXPECT_EQ(TicksOfPath(timing), TicksOf(timing.cycles).value);
  const Timing later = TimeOf(waves, {"chip.cores=2"});
  EXPECT_EQ(TicksOfPath(later), TicksOf(later.cycles).value);
  const PathPart* const launch = PartOf(later, "", "waits for the launch of its block");
  ASSERT_NE(launch, nullptr);
  EXPECT_EQ(launch->time, H100().replace);
}

// With one slot, copies and products take turns; with eight the products follow each other.
TEST(CriticalPath, AMissingSlotPutsTheCopiesOnIt) {
  const auto copies = [](std::int64_t slots) {
    const Timing timing = TimeOf({.m = 64, .n = 128, .k = 4096, .slots = slots});
    double share = 0;
    for (const PathPart& part : timing.critical_path) {
      if (part.op == "copy_gmem_to_smem" && part.doing == "under way") share += part.time / timing.cycles;
    }
    return share;
  };
  EXPECT_GT(copies(1), 0.7);
  EXPECT_LT(copies(8), copies(1));
}

}  // namespace
}  // namespace palladion::timing::base::test
