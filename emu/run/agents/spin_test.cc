// Loops that wait (spin.h): what is one and what is not, what waiting costs, and what is reported when no agent can go
// on.
#include "emu/run/agents/spin.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emu/run/launch/run.h"
#include "emu/testing/word_kernel_test_util.h"
#include "scheduler/policies/policies.h"
#include "semantics/base/cat.h"

namespace palladion::agents {
namespace {

// Looks at %WORD until it is not VALUE.
std::string Poll(const std::string& word, int value) {
  return Cat("    while() () {\n      %s = atomic_rmw{op=add}(%", word, ".at[0], 0:i32) : i32[];\n      %g = eq(%s, ",
             value, ":i32) : bool[];\n      return %g;\n    } () { return; };\n");
}

// The first program runs one body, the others another.
std::string FirstAndOthers(const std::string& first, const std::string& others) {
  return "    %first = eq(%p, 0:i32) : bool[];\n    cond(%first) {\n" + others + "    return; } {\n" + first +
         "    return; };\n";
}

const Finding* DeadlockOf(const agents::Ran& result) {
  for (const Finding& finding : result.findings) {
    if (finding.code == FindingCode::kDeadlock) return &finding;
  }
  return nullptr;
}

TEST(RunUnderPolicy, AWaitForWhatNoAgentWritesIsADeadlockAtOnce) {
  TestKernel kernel(WordKernel(6, Poll("n", 0)));
  for (std::uint64_t seed = 0; seed < 13; ++seed) {
    const agents::Ran result = kernel.RunSeed(seed);
    ASSERT_EQ(result.run.outcome, scheduler::Outcome::kDeadlock) << seed;
    EXPECT_LE(result.run.steps, 12) << seed;
    ASSERT_NE(DeadlockOf(result), nullptr);
    EXPECT_EQ(0u, DeadlockOf(result)->message.find("no program can go on: program (0) waits for 'd[0]' to change (it "
                                                   "holds 0, and no agent has written it); program (1)"))
        << DeadlockOf(result)->message;
    EXPECT_EQ(DeadlockOf(result)->text_line, 11);
  }
}

TEST(RunUnderPolicy, ALockThatIsNeverGivenBackNamesWhoHasIt) {
  TestKernel kernel(WordKernel(2, Take("lock") + kSplitUpdate));
  const agents::Ran result = kernel.RunSeed(0);
  ASSERT_NE(DeadlockOf(result), nullptr);
  EXPECT_EQ(DeadlockOf(result)->message,
            "no program can go on: program (1) waits for 'm[0]' to change (it holds 1, which program (0) wrote last), "
            "and that one has ended");
}

TEST(RunUnderPolicy, TwoLocksInOppositeOrdersAreACycle) {
  const std::string one = Take("n") + Take("lock") + Give("lock") + Give("n");
  const std::string other = Take("lock") + Take("n") + Give("n") + Give("lock");
  TestKernel kernel(WordKernel(2, FirstAndOthers(one, other)));
  scheduler::ReplayPolicy first_takes_one({{scheduler::AgentOrdinal{0}, 1, scheduler::AgentOrdinal{1}}});
  const agents::Ran result = kernel.Run(first_takes_one);
  ASSERT_NE(DeadlockOf(result), nullptr);
  EXPECT_EQ(result.run.deadlock.cycle,
            (std::vector<scheduler::AgentOrdinal>{scheduler::AgentOrdinal{0}, scheduler::AgentOrdinal{1}}));
  EXPECT_EQ(DeadlockOf(result)->message,
            "no program can go on: program (0) waits for 'm[0]' to change (it holds 1, which program (1) wrote last); "
            "program (1) waits for 'd[0]' to change (it holds 1, which program (0) wrote last); each can only be woken "
            "by the next, and the last by the first");
  EXPECT_LE(result.run.steps, 8);
}

// A million times round would be a million operations.
TEST(RunUnderPolicy, WhoWaitsCostsNothing) {
  const std::string works =
      "    %end = while(init=0:i32) (%i: i32[]) { %more = lt(%i, 20000:i32) : bool[]; return %more; } (%i: i32[]) {\n"
      "      _ = atomic_rmw{op=add}(%lock.at[0], 1:i32) : i32[];\n      %j = add(%i, 1:i32) : i32[];\n"
      "      return %j; } : i32[];\n    _ = atomic_rmw{op=xchg}(%n.at[0], 1:i32) : i32[];\n";
  TestKernel kernel(WordKernel(8, FirstAndOthers(works, Poll("n", 0))));
  for (std::uint64_t seed = 0; seed < 13; ++seed) {
    const agents::Ran result = kernel.RunSeed(seed);
    EXPECT_EQ(result.run.outcome, scheduler::Outcome::kFinished) << seed;
    EXPECT_LE(result.run.steps, 20001 + 7 * 4) << seed;
  }
}

// Each arrival wakes all that wait, and what they saw is their carry: two looks for each time, and no more.
TEST(RunUnderPolicy, WhoIsWokenOftenFallsAsleepAgainAtOnce) {
  const std::string arrive =
      "    _ = atomic_rmw{op=add}(%n.at[0], 1:i32) : i32[];\n    %end = while(init=0:i32) (%v: i32[]) {\n"
      "      %g = lt(%v, 40:i32) : bool[];\n      return %g;\n    } (%v: i32[]) {\n"
      "      %s = atomic_rmw{op=add}(%n.at[0], 0:i32) : i32[];\n      return %s; } : i32[];\n"
      "    _ = swap(%or.at[%p], %end) : i32[];\n";
  TestKernel kernel(WordKernel(40, arrive));
  for (std::uint64_t seed = 0; seed < 13; ++seed) {
    const agents::Ran result = kernel.RunSeed(seed);
    EXPECT_EQ(result.run.outcome, scheduler::Outcome::kFinished) << seed;
    EXPECT_LE(result.run.steps, 40 * 40 * 4) << seed;
  }
}

// Its count of attempts is looked at: the loop ends by itself.
TEST(RunUnderPolicy, ABoundedLoopIsNeverPutToSleep) {
  const std::string attempts =
      "    %end = while(init=0:i32) (%i: i32[]) {\n      %s = atomic_rmw{op=add}(%n.at[0], 0:i32) : i32[];\n"
      "      %g = eq(%s, 0:i32) : bool[];\n      %more = lt(%i, 300:i32) : bool[];\n      %both = and(%g, %more) : "
      "bool[];\n"
      "      return %both;\n    } (%i: i32[]) { %j = add(%i, 1:i32) : i32[]; return %j; } : i32[];\n"
      "    _ = swap(%or.at[%p], %end) : i32[];\n";
  TestKernel kernel(WordKernel(2, attempts));
  for (std::uint64_t seed = 0; seed < 13; ++seed) {
    EXPECT_EQ(kernel.RunSeed(seed).run.outcome, scheduler::Outcome::kFinished) << seed;
    EXPECT_EQ(kernel.Word(0, 1), 300) << seed;
  }
}

// Carries that only count for themselves, or come back after a few times round, do not keep a loop awake.
TEST(RunUnderPolicy, CountsThatNoAgentReadsAndTurnsThatComeAgainAreNoChange) {
  const std::string count =
      "    %end, _ = while(init=0:i32, init=0:i32) (%i: i32[], %k: i32[]) {\n"
      "      %s = atomic_rmw{op=add}(%n.at[0], 0:i32) : i32[];\n      %g = eq(%s, 0:i32) : bool[];\n"
      "      return %g;\n    } (%i: i32[], %k: i32[]) { %j = sub(2:i32, %i) : i32[]; %next = add(%k, 1:i32) : i32[];\n"
      "      return %j, %next; } : i32[], i32[];\n    _ = swap(%or.at[%p], %end) : i32[];\n";
  TestKernel kernel(WordKernel(2, count));
  const agents::Ran result = kernel.RunSeed(0);
  EXPECT_EQ(result.run.outcome, scheduler::Outcome::kDeadlock);
  EXPECT_LE(result.run.steps, 40);
}

// Each time round the word is taken and given back: that is no wait, whatever it holds at the end.
TEST(RunUnderPolicy, AChangeThatIsUndoneIsAChange) {
  const std::string forever =
      "    while() () {\n      %s = atomic_rmw{op=xor}(%n.at[0], 1:i32) : i32[];\n"
      "      %t = atomic_rmw{op=xor}(%n.at[0], 1:i32) : i32[];\n      %not = ne(%s, 7:i32) : bool[];\n"
      "      return %not;\n    } () { return; };\n";
  TestKernel kernel(WordKernel(2, forever));
  EXPECT_EQ(kernel.RunSeed(0, {.loop = {.budget = 3000}}).run.outcome, scheduler::Outcome::kBudget);
}

Ran RunPlain(TestKernel& kernel) {
  const std::vector<MutableArray> outputs = kernel.out();
  absl::StatusOr<Ran> result = launch::Run({kernel.state(), kernel.in(), outputs}, {});
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : Ran{};
}

// One after another they would wait for ever.
TEST(PlainRun, ProgramsThatWaitForEachOtherRunTogether) {
  const std::string barrier =
      "    %t = atomic_rmw{op=add}(%n.at[0], 1:i32) : i32[];\n    while() () {\n"
      "      %s = atomic_rmw{op=add}(%n.at[0], 0:i32) : i32[];\n"
      "      %g = lt(%s, 5:i32) : bool[];\n      return %g;\n    } () { return; };\n"
      "    _ = swap(%or.at[%p], %t) : i32[];\n";
  TestKernel kernel(WordKernel(5, barrier));
  const Ran result = RunPlain(kernel);
  EXPECT_TRUE(result.findings.empty());
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(kernel.Word(0, i), static_cast<std::int32_t>(i));
}

TEST(PlainRun, AProgramThatWaitsAloneIsStuck) {
  const std::string poll =
      "    %end = while(init=0:i32) (%i: i32[]) {\n      %s = get(%n.at[0]) : i32[];\n"
      "      %g = eq(%s, 0:i32) : bool[];\n      return %g;\n    } (%i: i32[]) {\n"
      "      %j = add(%i, 1:i32) : i32[];\n      return %j; } : i32[];\n";
  const std::string stuck = "program (0) waits for 'd[0]' to change (it holds 0";
  {
    TestKernel kernel(WordKernel(3, poll));  // beside the others it waits too
    const Ran result = RunPlain(kernel);
    ASSERT_EQ(result.findings.size(), 1u);
    EXPECT_EQ(result.findings[0].code, FindingCode::kDeadlock);
    EXPECT_EQ(0u, result.findings[0].message.find("no program can go on: " + stuck)) << result.findings[0].message;
    EXPECT_EQ(result.findings[0].text_line, 11);
  }
  TestKernel kernel(WordKernel(3, poll));
  const std::vector<MutableArray> outputs = kernel.out();
  const absl::StatusOr<Ran> alone =
      launch::Run({kernel.state(), kernel.in(), outputs}, {.only_program = std::vector<std::int64_t>{1}});
  ASSERT_TRUE(alone.ok()) << alone.status();
  EXPECT_TRUE(alone->stuck());
  ASSERT_EQ(alone->findings.size(), 1u);
  EXPECT_EQ(alone->findings[0].message,
            "program (1) waits for 'd[0]' to change (it holds 0) in a loop, and no program runs at the same time");
}

// A flag that is stored and loaded without atomics: the run ends; that it is a race a check says.
TEST(PlainRun, WhoWaitsForAPlainStoreIsNotStuck) {
  TestKernel kernel(WordKernel(
      2, FirstAndOthers("      while() () {\n        %s = get(%n.at[0]) : i32[];\n        %g = eq(%s, 0:i32) : "
                        "bool[];\n        return %g;\n      } () { return; };\n",
                        "    _ = swap(%n.at[0], 1:i32) : i32[];\n")));
  const Ran result = RunPlain(kernel);
  EXPECT_FALSE(result.stuck());
  EXPECT_TRUE(result.findings.empty());
}

// Long loops are looked at now and then, and go on.
TEST(PlainRun, ALongLoopIsNotStuck) {
  const std::string count =
      "    %end = while(init=0:i32) (%i: i32[]) {\n      %s = get(%n.at[0]) : i32[];\n"
      "      %more = add(%s, 100000:i32) : i32[];\n      %g = lt(%i, %more) : bool[];\n"
      "      return %g;\n    } (%i: i32[]) {\n"
      "      %j = add(%i, 1:i32) : i32[];\n      return %j; } : i32[];\n"
      "    _ = swap(%or.at[%p], %end) : i32[];\n";
  TestKernel kernel(WordKernel(2, count));
  EXPECT_FALSE(RunPlain(kernel).stuck());
  EXPECT_EQ(kernel.Word(0, 1), 100000);
}

}  // namespace
}  // namespace palladion::agents
