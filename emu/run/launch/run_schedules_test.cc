// Kernels whose programs see each other: the same result as program order where there is no choice, every result that
// there can be where there is, and replays.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "emu/run/launch/interaction.h"
#include "emu/run/launch/run.h"
#include "emu/testing/kernel_test_util.h"
#include "emu/testing/word_kernel_test_util.h"
#include "scheduler/policies/portfolio.h"
#include "scheduler/policies/schedule.h"
#include "scheduler/search/parallel_seeds.h"
#include "scheduler/search/shrink.h"
#include "semantics/base/cat.h"

namespace palladion::launch {
namespace {

// Each program draws a ticket and stores its number there.
const std::string kTicket =
    "    %t = atomic_rmw{op=add}(%n.at[0], 1:i32) : i32[];\n    _ = swap(%or.at[%t], %p) : i32[];\n";

const std::string kLocked =
    "    while() () {\n      %old = atomic_cas(%lock.at[0], 0:i32, 1:i32) : i32[];\n"
    "      %busy = ne(%old, 0:i32) : bool[];\n      return %busy;\n    } () { return; };\n" +
    kSplitUpdate + "    _ = atomic_rmw{op=xchg}(%lock.at[0], 0:i32) : i32[];\n";

// Waits until program 1 has set the word.
const std::string kWaitForOne =
    "    %first = eq(%p, 0:i32) : bool[];\n"
    "    cond(%first) { _ = atomic_rmw{op=xchg}(%n.at[0], 1:i32) : i32[]; return; } {\n"
    "      while() () {\n        %seen = atomic_rmw{op=add}(%n.at[0], 0:i32) : i32[];\n"
    "        %not = eq(%seen, 0:i32) : bool[];\n        return %not;\n      } () { return; };\n      return; };\n";

constexpr std::size_t kWord = 1;  // the output %d

TEST(RunUnderPolicy, WithoutInteractionEveryPolicyGivesWhatProgramOrderGives) {
  for (const std::string target : {"generic", "triton/h100", "mosaic_tpu/v5e", "mosaic_tpu/v5p"}) {
    TestKernel kernel(AddKernel(), target);
    const std::vector<MutableArray> outputs = kernel.out();
    const absl::StatusOr<agents::Ran> plain = launch::Run({kernel.state(), kernel.in(), outputs}, {});
    ASSERT_TRUE(plain.ok()) << plain.status();
    const std::string expected = kernel.Outputs();
    EXPECT_FALSE(ProgramsInteract(kernel.state().program()));
    for (std::uint64_t seed = 0; seed < 13; ++seed) {
      std::fill_n(outputs[0].data, expected.size(), std::byte{7});
      const agents::Ran result = kernel.RunSeed(seed);
      EXPECT_EQ(kernel.Outputs(), expected) << target << ", seed " << seed;
      EXPECT_EQ(result.findings.size(), plain->findings.size());
      EXPECT_EQ(result.printed.size(), plain->printed.size());
    }
  }
}

TEST(RunUnderPolicy, TicketsAreAPermutationAndReplay) {
  TestKernel kernel(WordKernel(6, kTicket));
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const agents::Ran result = kernel.RunSeed(seed);
    EXPECT_EQ(result.run.agents, 6);
    EXPECT_EQ(result.run.steps, 12);
    std::set<std::int32_t> tickets;
    for (std::size_t i = 0; i < 6; ++i) tickets.insert(kernel.Word(0, i));
    EXPECT_EQ(tickets.size(), 6u);
    EXPECT_EQ(kernel.Word(kWord), 6);
    const std::string outputs = kernel.Outputs();
    seen.insert(outputs);

    const absl::StatusOr<scheduler::Schedule> schedule =
        scheduler::ParseSchedule(ToString(scheduler::Schedule{.moves = result.run.moves}));
    ASSERT_TRUE(schedule.ok());
    scheduler::ReplayPolicy replay(*schedule->moves);
    EXPECT_EQ(kernel.Run(replay).run.moves, result.run.moves);
    EXPECT_EQ(kernel.Outputs(), outputs);
    EXPECT_EQ(replay.not_made(), 0u);
  }
  EXPECT_GT(seen.size(), 20u);
}

TEST(RunUnderPolicy, ASpinLockProtectsUnderEveryPolicy) {
  TestKernel kernel(WordKernel(5, kLocked));
  for (std::uint64_t seed = 0; seed < 26; ++seed) {
    const agents::Ran result = kernel.RunSeed(seed, {.loop = {.budget = 1'000'000}});
    EXPECT_TRUE(result.findings.empty()) << "seed " << seed << ": " << result.findings[0].message;
    EXPECT_EQ(kernel.Word(kWord), 5) << "seed " << seed;
  }
}

TEST(RunUnderPolicy, AWaitForAnotherProgramEndsWhereBothAreResident) {
  TestKernel kernel(WordKernel(2, kWaitForOne));
  for (std::uint64_t seed = 0; seed < 13; ++seed)
    EXPECT_EQ(kernel.RunSeed(seed, {.loop = {.budget = 1'000'000}}).run.outcome, scheduler::Outcome::kFinished) << seed;
}

// The word changes in each iteration, so no agent waits.
TEST(RunUnderPolicy, ALoopThatChangesSomethingForEverIsALivelock) {
  const std::string forever =
      "    while() () {\n      %seen = atomic_rmw{op=xor}(%n.at[0], 1:i32) : i32[];\n"
      "      %not = ne(%seen, 2:i32) : bool[];\n      return %not;\n    } () { return; };\n";
  TestKernel kernel(WordKernel(6, forever));
  const agents::Ran result = kernel.RunSeed(0, {.loop = {.budget = 5000}});
  EXPECT_EQ(result.run.outcome, scheduler::Outcome::kBudget);
  ASSERT_EQ(result.findings.size(), 1u);
  const Finding& finding = result.findings[0];
  EXPECT_EQ(finding.code, FindingCode::kLivelock);
  EXPECT_EQ(
      finding.message,
      "after 5000 operations on shared memory 6 programs have not ended: program (0) at line 12 of the kernel "
      "text, program (1) at line 12 of the kernel text, program (2) at line 12 of the kernel text, program (3) at "
      "line 12 of the kernel text, ...; their loops change something for ever, or the budget is too small: raise "
      "RunOptions::loop_budget");
  EXPECT_EQ(finding.text_line, 12);
  EXPECT_EQ(finding.confidence, Confidence::kPredicted) << "a larger budget might do";
}

TEST(RunUnderPolicy, ALostUpdateIsFoundAndShrinksToOneMove) {
  TestKernel kernel(WordKernel(4, kSplitUpdate));
  scheduler::LoopResult failing;
  for (std::uint64_t seed = 0; failing.moves.size() < 2 && seed < 100; ++seed) {
    scheduler::LoopResult run = kernel.RunSeed(seed).run;
    if (kernel.Word(kWord) != 4) failing = std::move(run);
  }
  ASSERT_GE(failing.moves.size(), 2u);
  const auto fails = [&](const std::vector<scheduler::Move>& moves) -> absl::StatusOr<bool> {
    scheduler::ReplayPolicy replay(moves);
    kernel.Run(replay);
    return kernel.Word(kWord) != 4;
  };
  const absl::StatusOr<scheduler::Shrunk> shrunk = scheduler::Shrink(failing.moves, failing.operations, fails);
  ASSERT_TRUE(shrunk.ok()) << shrunk.status();
  EXPECT_TRUE(shrunk->reproduced);
  EXPECT_EQ(shrunk->moves.size(), 1u);
}

TEST(RunUnderPolicy, ResultsDoNotDependOnHostThreads) {
  const auto all = [](int threads) {
    const TestKernel shared(WordKernel(6, kTicket + kLocked));
    std::string outputs;
    scheduler::ParallelSeeds<std::string>(0, 60, threads)
        .Do(
            [&](std::int64_t seed) {
              TestKernel kernel(WordKernel(6, kTicket + kLocked));
              kernel.RunSeed(static_cast<std::uint64_t>(seed));
              return kernel.Outputs();
            },
            [&](std::int64_t, std::string output) {
              outputs += output;
              return true;
            });
    return outputs;
  };
  EXPECT_EQ(all(1), all(4));
}

struct Seen {
  scheduler::Explored explored;
  std::multiset<std::string> outputs;
  std::int64_t livelocks = 0;
};

Seen Exhaust(TestKernel& kernel, const SearchOptions& options = {}) {
  Seen seen;
  const std::vector<MutableArray> outputs = kernel.out();
  const auto visit = [&](const agents::Ran& result) -> absl::StatusOr<bool> {
    seen.outputs.insert(kernel.Outputs());
    seen.livelocks += result.run.outcome == scheduler::Outcome::kBudget;
    return true;
  };
  const absl::StatusOr<scheduler::Explored> explored =
      RunExhaustive({kernel.state(), kernel.in(), outputs}, {}, options, visit);
  EXPECT_TRUE(explored.ok()) << explored.status();
  if (explored.ok()) seen.explored = *explored;
  return seen;
}

std::set<std::string> Set(const Seen& seen) { return {seen.outputs.begin(), seen.outputs.end()}; }

TEST(RunExhaustive, TicketsComeInEveryOrderOnce) {
  TestKernel kernel(WordKernel(3, kTicket));
  const Seen few = Exhaust(kernel);
  EXPECT_TRUE(few.explored.complete);
  EXPECT_EQ(few.explored.schedules, 6);  // 3!: stores to different places are not reordered
  EXPECT_EQ(Set(few).size(), 6u);
  const Seen all = Exhaust(kernel, {.reduce = false});
  EXPECT_EQ(all.explored.schedules, 90);  // 6! / (2! 2! 2!)
  EXPECT_EQ(Set(all), Set(few));
  EXPECT_EQ(Exhaust(kernel, {.snapshots = false}).outputs, few.outputs);
}

TEST(RunExhaustive, SnapshotsBringScopesAndLoopsBack) {
  const std::string scoped =
      "    run_scoped() (%s: ref<default,i32[1]>) {\n      _ = swap(%s.at[0], %p) : i32[];\n"
      "      %t = atomic_rmw{op=add}(%n.at[0], 1:i32) : i32[];\n"
      "      run_scoped() (%u: ref<default,i32[2]>) {\n        _ = swap(%u.at[1], %t) : i32[];\n"
      "        %back = get(%u.at[1]) : i32[];\n        %mine = get(%s.at[0]) : i32[];\n"
      "        _ = swap(%or.at[%back], %mine) : i32[];\n        return;\n      };\n      return;\n    };\n";
  TestKernel kernel(WordKernel(3, scoped));
  const Seen copied = Exhaust(kernel);
  EXPECT_EQ(copied.explored.schedules, 6);
  EXPECT_EQ(Exhaust(kernel, {.snapshots = false}).outputs, copied.outputs);
  EXPECT_EQ(Set(copied).size(), 6u);
}

TEST(RunExhaustive, SplitUpdatesLoseSome) {
  TestKernel kernel(WordKernel(2, kSplitUpdate));
  const Seen seen = Exhaust(kernel);
  EXPECT_TRUE(seen.explored.complete);
  EXPECT_EQ(Set(seen).size(), 2u);  // 1 and 2
  EXPECT_EQ(Exhaust(kernel, {.reduce = false}).explored.schedules, 6);
}

// A waiting agent does not loop, so there is an end of schedules; and both orders of the lock are among them.
TEST(RunExhaustive, ProgramsThatSpinHaveAnEndOfSchedules) {
  TestKernel kernel(WordKernel(2, Take("lock") + kTicket + Give("lock")));
  const Seen seen = Exhaust(kernel);
  EXPECT_TRUE(seen.explored.complete);
  EXPECT_EQ(seen.livelocks, 0);
  EXPECT_EQ(Set(seen).size(), 2u);
  EXPECT_EQ(Set(Exhaust(kernel, {.snapshots = false})), Set(seen));
  EXPECT_EQ(Set(Exhaust(kernel, {.reduce = false})), Set(seen));
}

TEST(RunExhaustive, ProgramsThatChangeSomethingForEverHaveNoEndOfSchedules) {
  const std::string forever =
      "    while() () {\n      %seen = atomic_rmw{op=xor}(%n.at[0], 1:i32) : i32[];\n"
      "      %not = ne(%seen, 2:i32) : bool[];\n      return %not;\n    } () { return; };\n";
  TestKernel kernel(WordKernel(2, forever));
  const Seen seen = Exhaust(kernel, {.max_schedules = 5000, .budget = 12});
  EXPECT_FALSE(seen.explored.complete);
  EXPECT_GT(seen.livelocks, 0);
}

TEST(RunExhaustive, TooManyProgramsAreRefused) {
  TestKernel kernel(WordKernel(5, kTicket));
  const std::vector<MutableArray> outputs = kernel.out();
  const auto visit = [](const agents::Ran&) -> absl::StatusOr<bool> { return true; };
  const absl::Status status =
      RunExhaustive({kernel.state(), kernel.in(), outputs}, {.loop = {.resident = 4}}, {}, visit).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
}

TEST(ProgramsInteract, ThroughAtomicsThatAreSeen) {
  const auto why = [](const std::string& body) {
    return WhyProgramsInteract(TestKernel(WordKernel(2, body)).state().program());
  };
  EXPECT_EQ(why(kTicket), "what the atomic at line 11 of the kernel text found in memory");
  EXPECT_EQ(why(kLocked), "what the atomic at line 12 of the kernel text found in memory");
  EXPECT_EQ(why(kSplitUpdate), "");  // a race, which the sweep finds
  const std::string add = "    _ = atomic_rmw{op=add}(%n.at[0], 1:i32) : i32[];\n";
  EXPECT_EQ(why(add), "");
  EXPECT_EQ(why(add + "    %v = get(%n.at[0]) : i32[];\n    _ = swap(%or.at[%p], %v) : i32[];\n"),
            "'c', which line 12 of the kernel text reads and atomics update");
  EXPECT_EQ(why(add + "    %v = get(%lock.at[0]) : i32[];\n    _ = swap(%or.at[%p], %v) : i32[];\n"), "");
  const std::string own =
      "    run_scoped() (%s: ref<default,i32[1]>) {\n      %t = atomic_rmw{op=add}(%s.at[0], 1:i32) : i32[];\n"
      "      _ = swap(%or.at[%p], %t) : i32[];\n      return;\n    };\n";
  EXPECT_EQ(why(own), "");
}

}  // namespace
}  // namespace palladion::launch
