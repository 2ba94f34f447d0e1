#include "emu/check/checkers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "emu/run/launch/execution_mode.h"
#include "emu/run/launch/run.h"
#include "emu/testing/word_kernel_test_util.h"

namespace palladion::check {
namespace {

TEST(Checkers, TheNamesOfTheOptionAreThoseOfTheTable) {
  EXPECT_EQ(CheckNames(), (std::vector<std::string>{"bounds", "definedness", "races", "contracts"}));
  for (const CheckerRow& row : AllCheckers()) {
    EXPECT_FALSE(row.looks.empty() || row.where.empty());
    EXPECT_NE(row.applies, nullptr);
    EXPECT_NE(row.make, nullptr);
  }
}

// In every execution mode, each option that is set has a checker, and no two checkers of a run establish one fact.
TEST(Checkers, EveryModeHasACheckerForEachOption) {
  const TestKernel kernel(WordKernel(4, "    _ = swap(%or.at[%p], %p) : i32[];\n"), "triton/h100");
  for (const agents::ExecutionMode mode :
       {agents::ExecutionMode::kInOrder, agents::ExecutionMode::kPrograms, agents::ExecutionMode::kThreads}) {
    const CheckedRun run{.program = kernel.state().program(),
                         .kernel = &kernel.state(),
                         .mode = mode,
                         .races = true,
                         .definedness = true,
                         .contracts = true,
                         .counts = true};
    std::vector<std::string> looked;
    std::vector<Fact> established;
    for (const CheckerRow& row : AllCheckers()) {
      if (!row.applies(run)) continue;
      looked.emplace_back(row.option);
      for (const FactRow& fact : AllFacts()) {
        if (!row.establishes.Has(fact.fact)) continue;
        EXPECT_EQ(std::count(established.begin(), established.end(), fact.fact), 0) << fact.name;
        established.push_back(fact.fact);
      }
    }
    for (const std::string& name : CheckNames()) EXPECT_NE(std::count(looked.begin(), looked.end(), name), 0) << name;
    for (const Fact fact : {Fact::kNoConflict, Fact::kOrderedLanes, Fact::kNothingUndefined})
      EXPECT_EQ(std::count(established.begin(), established.end(), fact), 1) << RowOf(fact).name;
  }
}

// A fact is set by a checker that ran; what its row does not name it never sets.
TEST(Checkers, ACheckerEstablishesWhatItsRowSays) {
  TestKernel kernel(WordKernel(4, "    _ = swap(%or.at[%p], %p) : i32[];\n"), "triton/h100");
  for (const CheckerRow& row : AllCheckers()) {
    CheckedRun run{.program = kernel.state().program(), .kernel = &kernel.state()};
    run.races = run.definedness = run.contracts = run.counts = true;
    run.mode = launch::ExecutionModeOf(run.program, {});
    if (!row.applies(run)) continue;
    agents::LaunchOptions options{.mode = run.mode};
    const std::unique_ptr<Checker> checker = row.make(run);
    checker->Attach(options);
    const std::vector<MutableArray> outputs = kernel.out();
    absl::StatusOr<agents::Ran> ran = launch::Run({kernel.state(), kernel.in(), outputs}, options);
    ASSERT_TRUE(ran.ok()) << ran.status();
    Looked looked;
    EXPECT_TRUE(checker->Finish(*ran, nullptr, looked).ok());
    for (const FactRow& fact : AllFacts())
      EXPECT_EQ(looked.facts.Has(fact.fact), row.establishes.Has(fact.fact)) << Name(row.kind) << ": " << fact.name;
  }
}

}  // namespace
}  // namespace palladion::check
