// Barriers beyond single arrivals and single threads: bytes, tests, ends, warps. That the phases are
// right otherwise: synchronisation_exhaustive_test.cc.
#include "memory_model/sync/barrier.h"

#include <gtest/gtest.h>

#include "memory_model/concurrency_test_util.h"
#include "semantics/base/cat.h"

namespace palladion::memory_model {
namespace {

using concurrency_test::Script;
using Codes = std::set<std::string>;

constexpr CodeSite Line(int line) { return {LocId{}, line}; }

// What a script's blocks do at barriers that count bytes.
struct Blocks {
  explicit Blocks(std::size_t count) : gmem(s.Buffer("gmem", {4}, ProxySpace::kGlobal)) {
    for (std::size_t i = 0; i < count; ++i) {
      const Place place = Place{}.With(PlaceLevel::kBlock, static_cast<std::int32_t>(i));
      block.push_back(s.Thread(Cat("block ", i), place));
      smem.push_back(s.Buffer("smem", {4}, ProxySpace::kShared));
      full.push_back(s.model.MakeBarrier({.name = "full"}));
    }
  }
  // Block i's part of a multicast: a row of four for all.
  AsyncRequest Part(std::size_t i) {
    const auto row = static_cast<std::int64_t>(i);
    AsyncRequest part = s.Copy(gmem, {row, 1}, smem[0], {row, 1});
    for (std::size_t to = 1; to < block.size(); ++to) part.destinations.push_back(s.Operand(smem[to], {row, 1}));
    part.function = [](const std::vector<AsyncValue>& in, std::vector<AsyncValue>* out) {
      for (AsyncValue& value : *out) value = in[0];
    };
    const std::int64_t bytes = part.sources[0].bytes.value();
    part.each_destination = true;
    part.expects_at = full[i];
    part.expects.bytes = bytes * static_cast<std::int64_t>(block.size());
    for (std::size_t to = 0; to < block.size(); ++to) {
      part.expects.senders.push_back(static_cast<std::int64_t>(to));
      part.completions.push_back(
          {.object = full[to], .amount = bytes, .unit = CompletionUnit::kBytes, .sender = row, .of = to});
    }
    return part;
  }

  Script s;
  BufferId gmem;
  std::vector<BufferId> smem;
  std::vector<BarrierId> full;
  std::vector<AgentId> block;
};

TEST(BarrierBytes, APhaseNeedsItsArrivalsAndItsBytes) {
  Script s;
  const auto a = s.Thread("a");
  const auto bar = s.model.MakeBarrier({.name = "bar", .num_arrivals = 2});
  const auto has = [&] { return s.model.Waiting(a, bar, {}).has; };
  EXPECT_EQ(has(), "0 completions and 0 of 2 arrivals");
  s.model.Expect(a, bar, {.bytes = 64, .senders = {0}}, Line(1));
  EXPECT_EQ(has(), "0 completions and 1 of 2 arrivals, 64 bytes to come");
  s.model.Arrive(a, bar, Line(2));
  EXPECT_EQ(has(), "0 completions and 2 of 2 arrivals, 64 bytes to come");
  EXPECT_FALSE(s.model.CanWait(a, bar));
  s.model.End(bar, Line(3));
  ASSERT_NE(s.Find(FindingCode::kBarrierPending), nullptr);
  EXPECT_EQ(s.Find(FindingCode::kBarrierPending)->message,
            "barrier bar ends with 2 of 2 arrivals, 64 bytes to come, for completion 1");
  EXPECT_EQ(s.Codes(), Codes{"BAR_PENDING"});
}

// Four blocks each load a quarter for all: each block's barrier completes once, after all four, in any order of issues
// and landings, those among them that come before the block's own copy.
TEST(BarrierBytes, PartsOfAMulticast) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    Blocks blocks(4);
    Script& s = blocks.s;
    for (std::size_t i = 0; i < 4; ++i) {
      s.Start(blocks.block[i], blocks.Part(i));
      s.Wait(blocks.block[i], blocks.full[i]);
      s.Read(blocks.block[i], blocks.smem[i], {0, 4});
    }
    s.Run(seed);
    EXPECT_EQ(s.Codes(), Codes{});
    EXPECT_FALSE(s.model.ArrivalsRace());
    for (std::size_t i = 1; i <= 4; ++i) EXPECT_EQ(s.DataOf(i), (std::vector<float>{1, 1, 1, 1}));
  }
}

// Each copies again as soon as its own barrier completes: its part may be the other's bytes of the copy before.
TEST(BarrierBytes, APartOfTheNextCopyMayCompleteThePhaseOfThisOne) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    Blocks blocks(2);
    Script& s = blocks.s;
    for (int round = 0; round < 2; ++round) {
      for (std::size_t i = 0; i < 2; ++i) {
        s.Start(blocks.block[i], blocks.Part(i));
        s.Wait(blocks.block[i], blocks.full[i]);
      }
    }
    s.Run(seed);
    EXPECT_NE(s.Find(FindingCode::kBarrierBytes), nullptr) << seed;
    EXPECT_TRUE(s.model.ArrivalsRace());
  }
}

// A block that knows of the other's barrier only knows of what landed there.
TEST(BarrierBytes, ABarrierReleasesItsOwnBlock) {
  for (const bool own : {false, true}) {
    Blocks blocks(2);
    Script& s = blocks.s;
    const auto released = s.model.MakeBarrier({.name = "told"});
    for (std::size_t i = 0; i < 2; ++i) s.Start(blocks.block[i], blocks.Part(i));
    s.Wait(blocks.block[0], blocks.full[0]);
    s.Arrive(blocks.block[0], released);
    s.Wait(blocks.block[1], released);
    if (own) s.Wait(blocks.block[1], blocks.full[1]);
    s.Read(blocks.block[1], blocks.smem[1], {0, 4});
    if (!own) s.Wait(blocks.block[1], blocks.full[1]);
    s.Run(1);
    EXPECT_EQ(s.Codes(), own ? Codes{} : Codes{"RACE_ASYNC"});
  }
}

TEST(BarrierTest, ATestThatSaysYesIsAWait) {
  Script s;
  const auto smem = s.Buffer("smem", {4}, ProxySpace::kShared);
  const auto a = s.Thread("a"), b = s.Thread("b");
  const auto bar = s.model.MakeBarrier({"bar"});
  EXPECT_FALSE(s.model.Test(a, bar, Line(1)));
  s.model.Touch(b, smem, AccessKind::kWrite, s.SetOfRows(smem, {0, 4}), Line(2));
  s.model.Arrive(b, bar, Line(3));
  EXPECT_TRUE(s.model.Test(a, bar, Line(4)));
  EXPECT_FALSE(s.model.Test(a, bar, Line(5)));  // the phase has been seen
  s.model.Touch(a, smem, AccessKind::kRead, s.SetOfRows(smem, {0, 4}), Line(6));
  s.model.End(Line(7));
  EXPECT_EQ(s.Codes(), Codes{});
}

// What is left unawaited when the scope ends: a defect, and a note where the block ends with it. Pending arrivals, and
// two completions that one waiter has left out, are a defect in both.
TEST(BarrierEnd, ANoteWhereTheBlockEndsToo) {
  for (const Barrier::Ends ends : {Barrier::Ends::kScope, Barrier::Ends::kBlock}) {
    const Severity severity = ends == Barrier::Ends::kScope ? Severity::kDefect : Severity::kNote;
    Script s;
    const auto a = s.Thread("a"), b = s.Thread("b");
    const auto unawaited = s.model.MakeBarrier({"unawaited"}), one = s.model.MakeBarrier({"one"}),
               two = s.model.MakeBarrier({"two"}), half = s.model.MakeBarrier({"half", 2});
    s.model.Arrive(a, unawaited, Line(1));
    s.model.Arrive(a, half, Line(2));
    for (int completion = 0; completion < 3; ++completion) {  // b leaves out the last, or the last two
      for (const BarrierId barrier : {one, two}) {
        s.model.Arrive(a, barrier, Line(3));
        s.model.Wait(a, barrier, Line(4));
        if (completion == 0 || (completion == 1 && barrier == one)) s.model.Wait(b, barrier, Line(5));
      }
    }
    for (const BarrierId barrier : {unawaited, one, two, half}) s.model.End(barrier, Line(11), ends);
    int last = 0;
    for (const Finding& finding : s.model.findings()) {
      const bool at_end = finding.code == FindingCode::kBarrierUnawaited ||
                          (finding.code == FindingCode::kBarrierPhaseSkip &&
                           finding.message.find("but not for its completion") != std::string::npos);
      const bool harmless = at_end && finding.first->object != "two";
      EXPECT_EQ(finding.severity, harmless ? severity : Severity::kDefect) << finding.message;
      last += at_end ? 1 : 0;
    }
    EXPECT_EQ(last, 3);
    EXPECT_EQ(s.Codes().count("BAR_PENDING"), 1u);
  }
}

// A thread, then its four warps, then the thread: `waits` says how often each warp waits, of completions that come one
// at a time, each once all waiters of the one before have waited.
struct Warps {
  Script s;
  AgentId thread, other;
  BarrierId bar;
  int line = 0;

  Warps() {
    thread = s.Thread("thread 0", Place().With(PlaceLevel::kBlock, 0).With(PlaceLevel::kThread, 0));
    other = s.Thread("other");
    bar = s.model.MakeBarrier({"bar"});
  }
  CodeSite Next() { return Line(++line); }
  // What the arriver has to know before it arrives again.
  void Signal(AgentId waiter) {
    const auto seen = s.model.MakeSemaphore({"seen"});
    s.model.Signal(waiter, seen, Next());
    s.model.Wait(other, seen, 1);
  }
  void ArriveAndWait(const std::vector<AgentId>& waiters) {
    s.model.Arrive(other, bar, Next());
    for (const AgentId waiter : waiters) {
      ASSERT_TRUE(s.model.CanWait(waiter, bar));
      s.model.Wait(waiter, bar, Next());
      Signal(waiter);
    }
  }
  std::vector<AgentId> Fork() {
    std::vector<AgentId> warps;
    for (int w = 0; w < 4; ++w) {
      warps.push_back(s.model.agents().Spawn(thread, "warp " + std::to_string(w) + " of thread 0",
                                             s.model.agents().PlaceOf(thread).With(PlaceLevel::kWarp, w), Next()));
    }
    return warps;
  }
};

TEST(BarrierWarps, EvenWarpsAdvanceTheirThread) {
  Warps w;
  w.ArriveAndWait({w.thread});
  for (int mesh = 0; mesh < 3; ++mesh) {
    const auto warps = w.Fork();
    for (const AgentId warp : warps) EXPECT_FALSE(w.s.model.CanWait(warp, w.bar));  // the thread's phase is theirs
    w.ArriveAndWait(warps);
    w.ArriveAndWait(warps);
    w.s.model.JoinWarps(w.thread, warps);
    EXPECT_FALSE(w.s.model.CanWait(w.thread, w.bar));
    w.ArriveAndWait({w.thread});
  }
  w.s.model.End(w.Next());
  EXPECT_EQ(w.s.Codes(), Codes{});
}

// One warp is the one that waits, mesh after mesh: it goes on where it was.
TEST(BarrierWarps, OneWarpMayWaitAlone) {
  Warps w;
  for (int mesh = 0; mesh < 3; ++mesh) {
    const auto warps = w.Fork();
    w.ArriveAndWait({warps[1]});
    w.ArriveAndWait({warps[1]});
    w.s.model.JoinWarps(w.thread, warps);
  }
  w.s.model.End(w.Next());
  EXPECT_EQ(w.s.Codes(), Codes{});
}

TEST(BarrierWarps, TheThreadWaitsAfterUnevenWarps) {
  for (const int even : {0, 1}) {  // completions that all warps have waited for
    Warps w;
    const auto warps = w.Fork();
    if (even == 1) w.ArriveAndWait(warps);
    w.ArriveAndWait({warps[0]});
    w.s.model.JoinWarps(w.thread, warps);
    EXPECT_EQ(w.s.Codes(), Codes{});
    ASSERT_TRUE(w.s.model.CanWait(w.thread, w.bar));
    w.s.model.Wait(w.thread, w.bar, Line(99));
    EXPECT_EQ(w.s.Codes(), Codes{"BAR_PHASE_SKIP"});
    const Finding& found = *w.s.Find(FindingCode::kBarrierPhaseSkip);
    EXPECT_EQ(found.text_line, 99);
    EXPECT_EQ(found.message,
              std::string("thread 0 waits for barrier bar, of which its warps have seen different "
                          "completions (warp 0: ") +
                  (even == 1 ? "2, warp 1: 1, warp 2: 1, warp 3: 1)" : "1, warp 1: 0, warp 2: 0, warp 3: 0)"));
    w.s.model.End(w.Next());
    EXPECT_EQ(w.s.model.findings().size(), 1u);
  }
}

// The others catch up in the next mesh: then the thread has seen what all of them have.
TEST(BarrierWarps, UnevenWarpsMayCatchUp) {
  Warps w;
  auto warps = w.Fork();
  w.ArriveAndWait({warps[0]});
  w.s.model.JoinWarps(w.thread, warps);
  warps = w.Fork();
  EXPECT_FALSE(w.s.model.CanWait(warps[0], w.bar));
  for (std::size_t i = 1; i < 4; ++i) w.s.model.Wait(warps[i], w.bar, w.Next());
  for (std::size_t i = 1; i < 4; ++i) w.Signal(warps[i]);
  w.s.model.JoinWarps(w.thread, warps);
  EXPECT_FALSE(w.s.model.CanWait(w.thread, w.bar));
  w.ArriveAndWait({w.thread});
  w.s.model.End(w.Next());
  EXPECT_EQ(w.s.Codes(), Codes{});
}

// A warp that has ended has waited all the same: the next completion has to come after its wait.
TEST(BarrierWarps, TheNextCompletionComesAfterTheWaitsOfEndedWarps) {
  for (const bool released : {true, false}) {
    Warps w;
    const auto warps = w.Fork();
    w.s.model.Arrive(w.other, w.bar, w.Next());
    for (const AgentId warp : warps) w.s.model.Wait(warp, w.bar, w.Next());
    w.s.model.JoinWarps(w.thread, warps);
    if (released) w.Signal(w.thread);
    w.s.model.Arrive(w.other, w.bar, w.Next());
    w.s.model.Wait(w.thread, w.bar, w.Next());
    w.s.model.End(w.Next());
    EXPECT_EQ(w.s.Codes(), released ? Codes{} : Codes{"BAR_DOUBLE"});
    if (!released) {
      EXPECT_EQ(w.s.model.findings()[0].confidence, Confidence::kPredicted);
    }
  }
}

}  // namespace
}  // namespace palladion::memory_model
