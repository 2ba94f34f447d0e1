// How many runs it takes to shorten the schedules of several findings, and that what is remembered changes no answer:
// each replay is compared with the one that a fresh shortener finds.
#include "emu/check/shorten.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "emu/check/trial_runner.h"
#include "emu/kernel/arrays.h"
#include "emu/values.h"

namespace palladion::check {
namespace {

// Programs write what ticket they drew to the same two elements; with `rare`, program 0 to another one too where it
// draws the last, which program order never shows.
std::string Tickets(bool rare) {
  return std::string(
             "pkir 1;\nkernel @k { grid [4]; in %x: i32[4]; out %o: i32[4] alias %x;\n"
             " body @b (%xr: ref<default,i32[4]>, %or: ref<default,i32[4]>) {\n"
             "  %p = program_id{axis=0}() : i32[];\n  %t = atomic_rmw{op=add}(%or.at[0], 1:i32) : i32[];\n"
             "  _ = swap(%or.at[1], %t) : i32[];\n  _ = swap(%or.at[2], %t) : i32[];\n") +
         (rare ? "  %z = eq(%p, 0:i32) : bool[];\n  %l = eq(%t, 3:i32) : bool[];\n  %b = and(%z, %l) : bool[];\n"
                 "  %n = convert_element_type{to=i32}(%b) : i32[];\n"
                 "  cond(%n) { return; } { _ = swap(%or.at[3], %p) : i32[]; return; };\n"
               : "") +
         "  return; } }\n";
}

// Programs race for an element; but program 0 polls for ever where it draws the first ticket, as in program order.
constexpr char kPollsInProgramOrder[] =
    "pkir 1;\nkernel @k { grid [2]; in %x: i32[4]; out %o: i32[4] alias %x;\n"
    " body @b (%xr: ref<default,i32[4]>, %or: ref<default,i32[4]>) {\n"
    "  %p = program_id{axis=0}() : i32[];\n  %t = atomic_rmw{op=add}(%or.at[0], 1:i32) : i32[];\n"
    "  %s = add(%p, %t) : i32[];\n  %first = eq(%s, 0:i32) : bool[];\n"
    "  cond(%first) { return; } { while() () {\n   %seen = atomic_rmw{op=xor}(%or.at[3], 1:i32) : i32[];\n"
    "   %go = ne(%seen, 2:i32) : bool[];\n   return %go; } () { return; }; return; };\n"
    "  _ = swap(%or.at[1], %t) : i32[];\n  return; } }\n";

// Passes runs on, and knows the longest.
class Longest final : public Trials {
 public:
  explicit Longest(const Trials& runner) : runner_(runner) {}
  absl::Span<const ConstArray> inputs() const override { return runner_.inputs(); }
  bool interact() const override { return runner_.interact(); }
  std::string NameOf(scheduler::Schedule schedule) const override { return runner_.NameOf(std::move(schedule)); }
  absl::StatusOr<std::unique_ptr<Trials>> With(absl::Span<const ConstArray> inputs,
                                               const CheckOptions& options) const override {
    return runner_.With(inputs, options);
  }
  std::vector<std::size_t> InputsOfNumbers() const override { return runner_.InputsOfNumbers(); }
  bool races_are_defects() const override { return runner_.races_are_defects(); }
  std::int64_t work() const { return work_; }

 private:
  absl::StatusOr<Trial> RunOnce(const scheduler::Schedule& schedule, Watch watch, const scheduler::RunLengths& lengths,
                                const agents::LaunchOptions* extra) const override {
    absl::StatusOr<Trial> trial = runner_.Run(schedule, watch, lengths, extra);
    if (trial.ok()) work_ = std::max(work_, trial->run.work);
    return trial;
  }

  const Trials& runner_;
  mutable std::int64_t work_ = 0;
};

class Shortening : public ::testing::Test {
 protected:
  // A trial of the seed, whose findings are each shortened: by one shortener, and each by one of its own.
  void Shorten(const std::string& text, std::int64_t seed) {
    const PreparedKernel kernel = *PrepareText(text, {.kernel = "", .target = "triton/h100", .path = ""});
    const std::vector<Tensor> inputs = {*TensorFromText(DType::kI32, {4}, "zeros")};
    const std::vector<ConstArray> arrays = kernel::ArraysOf(inputs);
    const CheckOptions options;
    const TrialRunner runner = TrialRunner::Create(kernel, arrays, options);
    const scheduler::RunLengths lengths{.steps = 16, .operations = {4, 4, 4, 4}, .work = 16};
    const Trial trial = *runner.Run(runner.ScheduleOfSeed(seed), Watch::kEverything, lengths);
    findings_ = trial.findings.size();
    moves_ = trial.run.moves.size();
    Shortener together(runner, lengths, most_work_);
    for (const Finding& finding : trial.findings) {
      Shortener alone(runner, lengths);
      const std::string replay = together.ReplayOf(trial, finding), shortest = alone.ReplayOf(trial, finding);
      if (most_work_ == Shortener::kMostWork) {
        EXPECT_EQ(replay, shortest);
      }
      as_they_were_ += replay == runner.NameOf(trial.schedule) && replay != shortest ? 1 : 0;
      runs_alone_ += alone.trials();
    }
    runs_together_ = together.trials();
    steps_ = std::max(trial.run.steps, trial.run.work);
  }
  std::int64_t most_work_ = Shortener::kMostWork, steps_ = 0, as_they_were_ = 0;
  std::size_t findings_ = 0, moves_ = 0;
  std::int64_t runs_alone_ = 0, runs_together_ = 0;
};

TEST_F(Shortening, OneRunServesAllFindingsThatNeedNoMoves) {
  for (std::int64_t seed = 1; moves_ == 0; ++seed) Shorten(Tickets(/*rare=*/false), seed);
  EXPECT_GE(findings_, 2u);
  EXPECT_EQ(1, runs_together_);  // without any moves
  EXPECT_EQ(static_cast<std::int64_t>(findings_), runs_alone_);
}

TEST_F(Shortening, WhatProgramOrderShowsNeedsNoRun) {
  Shorten(Tickets(/*rare=*/false), 0);
  EXPECT_GE(findings_, 1u);
  EXPECT_EQ(0, runs_alone_ + runs_together_);
}

TEST_F(Shortening, WhatIsRememberedChangesNoReplay) {
  for (std::int64_t seed = 1; seed < 40; ++seed) {
    runs_alone_ = 0;
    Shorten(Tickets(/*rare=*/true), seed);
    EXPECT_LE(runs_together_, runs_alone_) << seed;
  }
}

TEST_F(Shortening, AScheduleThatDoesNotEndIsNotWaitedFor) {
  const PreparedKernel kernel = *PrepareText(kPollsInProgramOrder, {.kernel = "", .target = "triton/h100", .path = ""});
  const std::vector<Tensor> inputs = {*TensorFromText(DType::kI32, {4}, "zeros")};
  const std::vector<ConstArray> arrays = kernel::ArraysOf(inputs);
  const CheckOptions options;
  const TrialRunner runner = TrialRunner::Create(kernel, arrays, options);
  const scheduler::RunLengths lengths{.steps = 4, .operations = {2, 2}, .work = 4};
  Trial trial = *runner.Run(runner.ScheduleOfSeed(1), Watch::kEverything, lengths);
  for (std::int64_t seed = 2; trial.run.outcome != scheduler::Outcome::kFinished; ++seed)
    trial = *runner.Run(runner.ScheduleOfSeed(seed), Watch::kEverything, lengths);
  const auto race = std::find_if(trial.findings.begin(), trial.findings.end(),
                                 [](const Finding& finding) { return finding.code == FindingCode::kRaceWriteWrite; });
  ASSERT_NE(race, trial.findings.end());
  const Longest longest(runner);
  const std::string replay = Shortener(longest, lengths).ReplayOf(trial, *race);
  EXPECT_GT(longest.work(), 1000) << "one of the runs polls";
  EXPECT_LT(longest.work(), options.step_budget / 100);
  const Trial again = *runner.Run(*scheduler::ParseSchedule(replay), Watch::kEverything, lengths);
  EXPECT_EQ(again.run.outcome, scheduler::Outcome::kFinished) << replay << " is one that ends";
}

// A run of much work is repeated no more often than that work allows, and its schedule then is the seed's.
TEST_F(Shortening, WhatItMayTakeIsWork) {
  for (std::int64_t seed = 3; moves_ == 0; ++seed) Shorten(Tickets(/*rare=*/true), seed);
  ASSERT_GE(findings_, 2u);
  for (const std::int64_t times : {0, 9, 10, 25}) {
    most_work_ = times * steps_;
    for (std::int64_t seed = 3; seed < 23; ++seed) {
      Shorten(Tickets(/*rare=*/true), seed);
      EXPECT_LE(runs_together_, times < 10 ? 0 : times) << seed;
    }
    EXPECT_TRUE(times >= 10 || as_they_were_ > 0) << times;
  }
}

}  // namespace
}  // namespace palladion::check
