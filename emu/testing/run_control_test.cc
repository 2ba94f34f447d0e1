// Runs that never end by themselves, of every kind, and are interrupted in the middle: they end, say so, and keep what
// they found. Nothing here is timed: a test that does not end is the failure.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "emu/check.h"
#include "emu/check/plain_run.h"
#include "emu/run/launch/launch.h"
#include "emu/run/threads/thread_test_util.h"
#include "emu/values.h"
#include "semantics/simd/dot.h"

namespace palladion {
namespace {

PreparedKernel Prepared(const std::string& text, const std::string& target) {
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = target, .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  return *std::move(kernel);
}

std::vector<Tensor> InputsOf(const PreparedKernel& kernel) {
  std::vector<Tensor> inputs;
  for (const OperandDescription& input : kernel.inputs())
    inputs.push_back(*TensorFromText(input.dtype, input.shape, "iota"));
  return inputs;
}

using Moment = std::function<bool(const RunControl::Counts&)>;

// Its loops have spent more than this, or a part of it is done.
Moment HasBegun(std::int64_t spent = 0) {
  return [spent](const RunControl::Counts& counts) {
    return counts.spent > spent || counts.programs_done > 0 || counts.schedules_done > 1;
  };
}

// Presses Ctrl-C, as it were, at that moment of `run`.
Report Interrupted(const std::function<absl::StatusOr<Report>(RunControl*)>& run, const Moment& moment = HasBegun()) {
  std::atomic<std::int64_t> interrupts = 0;
  std::atomic<bool> over = false;
  RunControl control(interrupts);
  std::thread presses([&] {
    while (!over && !moment(control.counts())) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    interrupts.fetch_add(1);
  });
  absl::StatusOr<Report> report = run(&control);
  over = true;
  presses.join();
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : Report{};
}

Report InterruptedRun(const std::string& text, const std::string& target) {
  const PreparedKernel kernel = Prepared(text, target);
  return Interrupted([&](RunControl* control) -> absl::StatusOr<Report> {
    absl::StatusOr<RunResult> result =
        Run(kernel, InputsOf(kernel), {.loop_budget = 0, .control = control, .legality = LegalityMode::kOff});
    if (!result.ok()) return result.status();
    return result->report;
  });
}

Report InterruptedCheck(const std::string& text, const std::string& target, CheckOptions options,
                        const Moment& moment = HasBegun()) {
  const PreparedKernel kernel = Prepared(text, target);
  options.run.loop_budget = 0;
  options.step_budget = std::int64_t{1} << 62;
  return Interrupted(
      [&](RunControl* control) {
        options.run.control = control;
        return Check(kernel, InputsOf(kernel), options);
      },
      moment);
}

void ExpectCutShort(const Report& report) {
  EXPECT_TRUE(report.interrupted) << ToText(report);
  EXPECT_FALSE(report.error.has_value()) << report.error->message;
  EXPECT_FALSE(report.proved);
  EXPECT_TRUE(ExitCodeOf(report) == ExitCode::kBudget || !report.findings.empty()) << ToText(report);
}

// Nothing but arithmetic; before it a store outside.
constexpr const char* kCounts =
    "pkir 1;\nkernel @k { grid [2]; in %x: i32[4]; out %o: i32[4];\n"
    " body @b (%xr: ref<default,i32[4]>, %or: ref<default,i32[4]>) {\n"
    "  %one = get(%xr.at[1]) : i32[];\n  %q = add(%one, 8:i32) : i32[];\n  _ = swap(%or.at[%q], %one) : i32[];\n"
    "  %end = while(init=%one) (%v: i32[]) { %go = ne(%v, 0:i32) : bool[]; return %go; } (%v: i32[]) {\n"
    "   %w = add(%v, 2:i32) : i32[]; return %w; } : i32[];\n  return; } }\n";

// Every program changes a word for ever.
constexpr const char* kSpins =
    "pkir 1;\nkernel @spin { backend triton; grid [2]; in %x: i32[1]; out %o: i32[1] alias %x;\n"
    " body @b (%xr: ref<default,i32[1]>, %or: ref<default,i32[1]>) {\n  while() () {\n"
    "   %seen = atomic_rmw{op=xor}(%or.at[0], 1:i32) : i32[];\n   %go = ne(%seen, 2:i32) : bool[];\n"
    "   return %go; } () { return; };\n  return; } }\n";

TEST(Interrupted, APlainRunKeepsItsFindings) {
  for (const char* target : {"triton/h100", "mosaic_tpu/v5e", "generic"}) {
    const Report report = InterruptedRun(kCounts, target);
    ExpectCutShort(report);
    EXPECT_EQ(threads::Codes{"OOB"}, threads::CodesOf(report)) << target;
    EXPECT_EQ(ExitCode::kDefect, ExitCodeOf(report));
  }
}

TEST(Interrupted, AGridOfManyPrograms) {
  const std::string text =
      "pkir 1;\nkernel @k { grid [65536, 1073741824]; out %o: i32[1];\n body @b (%or: ref<default,i32[1]>) {\n"
      "  %p = program_id{axis=0}() : i32[];\n  _ = swap(%or.at[0], %p) : i32[];\n  return; } }\n";
  for (const char* target : {"triton/h100", "mosaic_tpu/v5e"}) {
    const Report report = InterruptedRun(text, target);
    ExpectCutShort(report);
    EXPECT_EQ(ExitCode::kBudget, ExitCodeOf(report));
  }
}

TEST(Interrupted, ProgramsThatRunTogether) {
  ExpectCutShort(InterruptedRun(kSpins, ""));
  const Report checked = InterruptedCheck(kSpins, "", {.seeds = 64});
  ExpectCutShort(checked);
  EXPECT_EQ(threads::Codes{}, threads::CodesOf(checked)) << "an interrupted schedule is no livelock";
  EXPECT_EQ(0, checked.schedules);
  EXPECT_EQ("the check was interrupted before a schedule came to its end", checked.argument);
}

TEST(Interrupted, ThreadsOfABlock) {
  const std::string text = threads::ThreadKernel(
      threads::Threads(2),
      "    while() () {\n      %v = get(%xr.at[0]) : i32[];\n      _ = swap(%or.at[0], %v) : i32[];\n"
      "      %w = get(%or.at[1]) : i32[];\n      %n = add(%w, 1:i32) : i32[];\n"
      "      _ = swap(%or.at[1], %n) : i32[];\n      %g = ne(%v, 5:i32) : bool[];\n      return %g; } () "
      "{ return; };\n");
  ExpectCutShort(InterruptedRun(text, "mosaic_gpu/h100"));
  // Both threads have had their turns by then, also where each step takes long.
  const Report checked = InterruptedCheck(text, "mosaic_gpu/h100", {.seeds = 64}, HasBegun(20'000));
  ExpectCutShort(checked);
  EXPECT_EQ(1u, threads::CodesOf(checked).count("RACE_WW")) << "known by then: " << ToText(checked);
}

// Both programs store one element, and the second then goes on for ever.
TEST(Interrupted, RacesThatWereSeenByThenAreReported) {
  const std::string text =
      "pkir 1;\nkernel @k { grid [2]; out %o: i32[1];\n body @b (%or: ref<default,i32[1]>) {\n"
      "  %p = program_id{axis=0}() : i32[];\n  _ = swap(%or.at[0], %p) : i32[];\n"
      "  %end = while(init=%p) (%v: i32[]) { %go = ne(%v, 0:i32) : bool[]; return %go; } (%v: i32[]) {\n"
      "   %w = add(%v, 2:i32) : i32[]; return %w; } : i32[];\n  return; } }\n";
  const Report report = InterruptedCheck(text, "triton/h100", {.seeds = 4, .threads = 1});
  ExpectCutShort(report);
  EXPECT_EQ(threads::Codes{"RACE_WW"}, threads::CodesOf(report)) << ToText(report);
}

TEST(Interrupted, CheckedProgramsOneAfterAnother) {
  const Report report = InterruptedCheck(kCounts, "triton/h100", {.seeds = 4});
  ExpectCutShort(report);
  EXPECT_EQ(1u, threads::CodesOf(report).count("OOB")) << ToText(report);
}

// Far more schedules than can be run.
const std::string kTicket =
    "  %n = atomic_rmw{op=\"add\"}(%or.at[0], 1:i32) : i32[];\n  _ = swap(%tr.at[%n], %p) : i32[];\n";
const std::string kManyOrders =
    "pkir 1;\nkernel @tickets { backend triton; grid [8]; in %z: i32[1]; out %o: i32[1] alias %z; out %t: i32[64];\n"
    " body @b (%zr: ref<default,i32[1]>, %or: ref<default,i32[1]>, %tr: ref<default,i32[64]>) {\n"
    "  %p = program_id{axis=0}() : i32[];\n" +
    kTicket + "  return; } }\n";

TEST(Interrupted, ASearchOfEverySchedule) {
  const Report report = InterruptedCheck(kManyOrders, "", {.exhaustive = true},
                                         [](const RunControl::Counts& counts) { return counts.schedules_done > 1; });
  ExpectCutShort(report);
  EXPECT_GE(report.schedules, 2);
  const std::string stopped = "not all schedules were run: the search stopped after ";
  EXPECT_EQ(0u, report.argument.find(stopped + std::to_string(report.schedules))) << report.argument;
}

// An observer that presses Ctrl-C before the first step.
class PressesAtOnce final : public run::Watcher {
 public:
  memory_model::EventSet wants() const override { return {memory_model::EventKind::kStep}; }
  void Before(const Step&, Frame&) override { interrupts.fetch_add(1); }
  std::atomic<std::int64_t> interrupts = 0;
};

TEST(Interrupted, StripsOfOneLargeOperation) {
  const std::string text =
      "pkir 1;\nkernel @k { grid []; in %x: f32[65536]; out %o: f32[65536];\n"
      " body @b (%xr: ref<default,f32[65536]>, %or: ref<default,f32[65536]>) {\n  %v = get(%xr) : f32[65536];\n"
      "  %a = exp(%v) : f32[65536];\n  %b = add(%a, %v) : f32[65536];\n  _ = swap(%or, %b) : f32[65536];\n  return; } "
      "}\n";
  const PreparedKernel kernel = Prepared(text, "generic");
  PressesAtOnce presses;
  RunControl control(presses.interrupts);
  const absl::StatusOr<RunResult> result =
      check::RunWatched(kernel, InputsOf(kernel), {.run = {.control = &control}, .observers = {&presses}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->report.interrupted);
  EXPECT_TRUE(IsInterrupted(launch::EndOf(result->report)));
}

TEST(Interrupted, ALargeDotStopsBetweenItsBlocks) {
  constexpr std::size_t kSize = 64;
  const std::vector<float> ones(kSize * kSize, 1.0f);
  std::vector<float> out(kSize * kSize, 7.0f);
  std::vector<std::int64_t> rows, columns;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(kSize); ++i) {
    rows.push_back(i * static_cast<std::int64_t>(kSize));
    columns.push_back(i);
  }
  const simd::DotShape shape{kSize, kSize, kSize};
  std::vector<std::byte> scratch(simd::DotScratchBytes(shape));
  std::atomic<std::int64_t> interrupts = 0;
  const RunControl control(interrupts);
  const auto multiply = [&] {
    simd::Dot({{ones.data(), DType::kF32, rows.data(), columns.data()},
               {ones.data(), DType::kF32, columns.data(), rows.data()},
               shape,
               {DType::kF32, out.data()}},
              absl::MakeSpan(scratch), simd::ActiveTarget(), {.control = &control});
    return out[0];
  };
  interrupts = 1;
  EXPECT_EQ(7.0f, multiply());
  interrupts = 0;
  EXPECT_EQ(64.0f, multiply());
}

TEST(RunControl, WhatWasPressedBeforeDoesNotCount) {
  std::atomic<std::int64_t> interrupts = 5;
  const RunControl control(interrupts);
  EXPECT_FALSE(control.interrupted());
  ++interrupts;
  EXPECT_TRUE(control.interrupted());
  EXPECT_FALSE(RunControl().interrupted());
}

// ---- budgets

absl::StatusOr<RunResult> RunBudget(const std::string& text, std::int64_t budget) {
  const PreparedKernel kernel = Prepared(text, "generic");
  return Run(kernel, InputsOf(kernel), {.loop_budget = budget});
}

std::string TenTimes(const std::string& type) {
  return "pkir 1;\nkernel @k { grid []; in %x: " + type + "; out %o: " + type + ";\n body @b (%xr: ref<default," +
         type + ">, %or: ref<default," + type + ">) {\n  %v = get(%xr) : " + type +
         ";\n  %e = scan{length=10}(init=%v) (%a: " + type + ") {\n   %b = add(%a, %a) : " + type +
         ";\n   %c = mul(%b, %a) : " + type + ";\n   return %c; } : " + type + ";\n  _ = swap(%or, %e) : " + type +
         ";\n  return; } }\n";
}

TEST(Budget, AnIterationOfMuchWorkCountsAsSeveral) {
  EXPECT_TRUE(RunBudget(TenTimes("f32[8]"), 10).ok());
  const absl::Status spent = RunBudget(TenTimes("f32[65536]"), 1000).status();
  EXPECT_TRUE(absl::IsResourceExhausted(spent)) << spent;
  EXPECT_NE(spent.message().find("the budget of 1000 loop iterations is spent; raise RunOptions::loop_budget if"),
            absl::string_view::npos)
      << spent;
  EXPECT_TRUE(RunBudget(TenTimes("f32[65536]"), 100'000).ok());
}

// A product of 64 by 256 by 64 is a million multiply-adds: more than the elements that it reads and writes.
TEST(Budget, AProductOfTensorCoresIsMuchWork) {
  const std::string text =
      "pkir 1;\nkernel @k {\n backend mosaic_gpu;\n in %x: f16[64,256] space smem;\n out %o: f32[64,256] space gmem;\n"
      " mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=1, thread_name=\"wg\"};\n"
      " body @k (%xr: ref<smem,f16[64,256]>, %or: ref<gmem,f32[64,256]>) {\n"
      "  run_scoped{collective_axes=[]}() (%acc: ref<regs,f32[64,256]>) {\n   scan{length=10}() () {\n"
      "    wgmma_ref(acc=%acc, a=%xr.at[0 +: 64, 0 +: 64], b=%xr);\n    wgmma_wait(0:i32);\n    return; };\n"
      "   return; };\n  return; } }\n";
  const PreparedKernel kernel = Prepared(text, "mosaic_gpu/h100");
  const auto with = [&](std::int64_t budget) {
    return palladion::Run(kernel, InputsOf(kernel), {.loop_budget = budget, .legality = LegalityMode::kOff}).status();
  };
  EXPECT_TRUE(absl::IsResourceExhausted(with(4000))) << with(4000);
  EXPECT_TRUE(with(100'000).ok()) << with(100'000);
}

// The same of the tensor core of Blackwell: 128 by 256 by 64, more than twice its elements.
TEST(Budget, AProductInTensorMemoryIsMuchWork) {
  const std::string text =
      "pkir 1;\nkernel @k {\n backend mosaic_gpu;\n in %x: f16[128,64] space smem;\n in %y: f16[64,256] space smem;\n"
      " out %o: f32[128,256] space gmem;\n"
      " mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=none, thread_name=none};\n"
      " body @k (%xr: ref<smem,f16[128,64]>, %yr: ref<smem,f16[64,256]>, %or: ref<gmem,f32[128,256]>) {\n"
      "  run_scoped{collective_axes=[]}() (%acc: ref<tmem,f32[128,256]>, %done: ref<smem,barrier{arrivals=1, "
      "orders_tensor_core=true}[1]>) {\n   scan{length=10}() () {\n"
      "    tcgen05_mma{collective_axis=none, arrive=true, scaled=false, sparse=false}(acc=%acc, a=%xr, b=%yr, "
      "accumulate=false, barrier=%done.at[0]);\n    barrier_wait(barrier=%done.at[0]);\n    return; };\n"
      "   return; };\n  return; } }\n";
  const PreparedKernel kernel = Prepared(text, "mosaic_gpu/b200");
  const auto with = [&](std::int64_t budget) {
    return palladion::Run(kernel, InputsOf(kernel), {.loop_budget = budget, .legality = LegalityMode::kOff}).status();
  };
  EXPECT_TRUE(absl::IsResourceExhausted(with(7000))) << with(7000);
  EXPECT_TRUE(with(100'000).ok()) << with(100'000);
}

// The run looks at what is spent after the first iteration and after every 4096: at the last one of these too.
TEST(Budget, MayBeSpentToTheLastIteration) {
  std::string text = TenTimes("f32[8]");
  text.replace(text.find("length=10"), 9, "length=4097");
  EXPECT_TRUE(RunBudget(text, 4097).ok()) << RunBudget(text, 4097).status();
  EXPECT_FALSE(RunBudget(text, 4096).ok());
}

TEST(Budget, WhatWasFoundBeforeItWasSpentIsReported) {
  const absl::StatusOr<RunResult> result = RunBudget(kCounts, 1000);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(threads::Codes{"OOB"}, threads::CodesOf(result->report));
  ASSERT_TRUE(result->report.error.has_value());
  EXPECT_EQ("budget", Name(result->report.error->kind));
  EXPECT_TRUE(absl::IsResourceExhausted(launch::EndOf(result->report)));
}

}  // namespace
}  // namespace palladion
