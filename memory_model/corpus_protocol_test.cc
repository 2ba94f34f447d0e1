// Misuse of barriers, semaphores and collectives, each in a few requests and with a clean twin. Numbers
// are those of the corpus of kernels that later cases for these machines carry.
#include <vector>

#include "memory_model/corpus_test_util.h"

namespace palladion::memory_model {
namespace {

using concurrency_test::Codes;
using concurrency_test::Expect;
using concurrency_test::kSeeds;
using concurrency_test::Script;

// In some schedules the waiter comes between the arrivals by luck: then it is predicted, and the second completion is
// left over.
TEST(Corpus, 030_BarrierCompletesTwice) {
  for (const bool one_thread : {true, false}) {
    int proved = 0, predicted = 0;
    for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
      for (const bool racy : {true, false}) {
        Script s;
        const auto a = s.Thread("thread 0"), b = one_thread ? a : s.Thread("thread 1"), w = s.Thread("waiter");
        const auto bar = s.model.MakeBarrier({"bar"});
        const auto seen = s.model.MakeSemaphore({"seen"}), first = s.model.MakeSemaphore({"first"});
        s.Arrive(a, bar);
        s.Signal(a, first);
        s.Wait(b, first);
        if (!racy) s.Wait(b, seen);
        s.Arrive(b, bar);
        s.Wait(w, bar);
        if (!racy) s.Signal(w, seen);
        if (!racy) s.Wait(w, bar);
        s.Run(seed);
        const Finding* found = s.Find(FindingCode::kBarrierDouble);
        EXPECT_EQ(found != nullptr, racy);
        EXPECT_TRUE(racy || s.Codes().empty());
        if (found != nullptr) ++(found->confidence == Confidence::kProved ? proved : predicted);
      }
    }
    EXPECT_GT(proved, 0);
    EXPECT_GT(predicted, 0);
  }
}

TEST(Corpus, 031_UnawaitedAtExit) {
  Expect(
      [](Script& s, bool racy) {
        const auto a = s.Thread("thread 0");
        const auto bar = s.model.MakeBarrier({"bar"});
        s.Arrive(a, bar);
        if (!racy) s.Wait(a, bar);
      },
      {"BAR_UNAWAITED"});
}

TEST(Corpus, 032_PendingArrivalAtExit) {
  Expect(
      [](Script& s, bool racy) {
        const auto a = s.Thread("thread 0");
        const auto bar = s.model.MakeBarrier({"bar", 2});
        s.Arrive(a, bar);
        if (!racy) s.Arrive(a, bar);
        if (!racy) s.Wait(a, bar);
      },
      {"BAR_PENDING"});
}

// A waits for the even phases, B for the odd ones.
// A waits for the even phases, B for the odd ones.
TEST(Corpus, 033_AlternateWaiters) {
  Expect(
      [](Script& s, bool racy) {
        const auto arriver = s.Thread("arriver"), a = s.Thread("a"), b = s.Thread("b");
        const auto bar = s.model.MakeBarrier({"bar"});
        for (int phase = 0; phase < 4; ++phase) {
          const auto go_on = s.model.MakeSemaphore({"go_on"}), begun = s.model.MakeSemaphore({"begun"});
          s.Arrive(arriver, bar);
          s.Signal(arriver, begun, racy ? 1 : 2);
          for (const AgentId waiter : {a, b}) {
            if (racy && waiter != (phase % 2 == 0 ? a : b)) continue;
            s.Wait(waiter, begun);
            s.Wait(waiter, bar);
            s.Signal(waiter, go_on);
          }
          s.Wait(arriver, go_on, racy ? 1 : 2);
        }
      },
      {"BAR_PHASE_SKIP"});
}

TEST(Corpus, 034_UnderArrivalIsADeadlock) {
  Script s;
  const auto a = s.Thread("thread 0"), w = s.Thread("waiter");
  const auto bar = s.model.MakeBarrier({"bar", 2});
  s.Arrive(a, bar);
  s.Wait(w, bar);
  s.Run(0);
  ASSERT_EQ(s.blocked.size(), 1u);
  EXPECT_EQ(s.blocked[0].object, "barrier bar");
  EXPECT_EQ(s.blocked[0].needs, "completion 1");
  EXPECT_EQ(s.blocked[0].has, "0 completions and 1 of 2 arrivals");
  EXPECT_EQ(s.blocked[0].site.text_line, 2);
}

TEST(Corpus, 037_DeadlockCycle) {
  Expect(
      [](Script& s, bool racy) {
        const auto a = s.Thread("a"), b = s.Thread("b");
        const auto b0 = s.model.MakeBarrier({"b0"}), b1 = s.model.MakeBarrier({"b1"});
        if (!racy) s.Arrive(a, b0);
        s.Wait(a, b1);
        if (racy) s.Arrive(a, b0);
        s.Wait(b, b0);
        s.Arrive(b, b1);
      },
      {"DEADLOCK"});
}

TEST(Corpus, 040_ScopedAllocationDivergent) {
  Expect(
      [](Script& s, bool racy) {
        const auto a = s.Thread("a"), b = s.Thread("b");
        const auto meet = s.model.MakeRendezvous("run_scoped", {a, b});
        s.Enter(a, meet, "an allocation of f32[4]");
        s.Enter(b, meet, racy ? "an allocation of f32[8]" : "an allocation of f32[4]");
      },
      {"COLL_MISMATCH"});
  Expect(
      [](Script& s, bool racy) {
        const auto a = s.Thread("a"), b = s.Thread("b");
        const auto meet = s.model.MakeRendezvous("run_scoped", {a, b});
        const auto other = s.model.MakeSemaphore({"other"});
        s.Enter(a, meet, "an allocation");
        if (!racy) s.Enter(b, meet, "an allocation");
        s.Signal(b, other);
        s.Wait(a, other);
      },
      {"COLL_MISMATCH", "DEADLOCK"});
}

TEST(Corpus, 046_SemaphoreLeak) {
  for (const SemaphoreKind kind : {SemaphoreKind::kRegular, SemaphoreKind::kDma, SemaphoreKind::kBarrier}) {
    Expect(
        [=](Script& s, bool racy) {
          const auto a = s.Thread("a"), b = s.Thread("b");
          const auto sem = s.model.MakeSemaphore({"sem", kind});
          s.Signal(a, sem, racy ? 3 : 2);
          s.Wait(b, sem, 2);
        },
        {"SEM_LEAK"});
  }
}

TEST(Corpus, 047_OverWait) {
  Expect(
      [](Script& s, bool racy) {
        const auto a = s.Thread("a"), b = s.Thread("b");
        const auto sem = s.model.MakeSemaphore({"sem"});
        s.Signal(a, sem, 1);
        s.Signal(a, sem, 1);
        s.Wait(b, sem, racy ? 3 : 2);
      },
      {"DEADLOCK"});
}

// A credit from before makes the order of the two writes an accident.
TEST(Corpus, 048_CreditMasksTheRace) {
  Expect(
      [](Script& s, bool racy) {
        const auto vmem = s.Buffer("vmem", {4}, ProxySpace::kPlain);
        const auto a = s.Thread("a"), b = s.Thread("b");
        const auto sem = s.model.MakeSemaphore({"sem"}), begun = s.model.MakeSemaphore({"begun"});
        if (racy) s.Signal(a, sem);
        s.Signal(a, begun);
        s.Write(a, vmem, {0, 4});
        s.Signal(a, sem);
        s.Wait(b, begun);
        s.Wait(b, sem);
        s.Write(b, vmem, {0, 4});
        if (racy) s.Wait(b, sem);
      },
      {"RACE_WW"});
}

// A wait that leaves the credits is satisfied by the same ones in the next round.
TEST(Corpus, 049_NonDecrementingWaitReused) {
  Expect(
      [](Script& s, bool racy) {
        const auto gmem = s.Buffer("gmem", {4}, ProxySpace::kGlobal);
        const auto a = s.Thread("a"), b = s.Thread("b");
        const auto sem = s.model.MakeSemaphore({"sem"}), read = s.model.MakeSemaphore({"read"});
        for (int round = 0; round < 2; ++round) {
          if (round > 0) s.Wait(a, read);
          s.Write(a, gmem, {0, 4});
          s.Signal(a, sem);
          s.Wait(b, sem, 1, !racy);
          s.Read(b, gmem, {0, 4});
          if (round == 0) s.Signal(b, read);
        }
        if (racy) s.Wait(b, sem, 2);
      },
      {"RACE_RW"});
}

}  // namespace
}  // namespace palladion::memory_model
