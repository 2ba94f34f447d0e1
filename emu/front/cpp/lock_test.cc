// A lock: blocks that count under it, and what is found where they do not take it, or give it back otherwise.
#include <gtest/gtest.h>

#include <utility>

#include "emu/front/cpp/kernel_test_util.h"

namespace palladion::cpp_kernels {
namespace {

constexpr std::string_view kFile = "emu/front/cpp/lock_test.cc";
constexpr std::int32_t kBlocks = 4;

int load_line = 0, spin_line = 0, give_line = 0;

void Count(KernelContext& ctx) {
  const KernelMemory count = ctx.array("count").at(0);
  load_line = __LINE__ + 1;
  const auto before = ctx.load<std::int32_t>(count);
  ctx.store(count, before + 1);
}

void Take(KernelContext& ctx) {
  const KernelMemory lock = ctx.array("lock").at(0);
  spin_line = __LINE__ + 1;
  while (ctx.atomic_compare_exchange(lock, 0, 1) != 0) continue;
}

FunctionKernel Counting(KernelFunction function) {
  return {.name = "count",
          .grid = {kBlocks},
          .threads = {std::move(function)},
          .inputs = {"zero"},
          .outputs = {{"lock", DType::kI32, {1}, "zero"}, {"count", DType::kI32, {1}, "zero"}}};
}

std::vector<Tensor> Zero() { return {ArrayOf<std::int32_t>({1}, {0})}; }

TEST(Lock, CountsInEverySchedule) {
  const FunctionKernel kernel = Counting([](KernelContext& ctx) {
    Take(ctx);
    Count(ctx);
    ctx.atomic_exchange(ctx.array("lock").at(0), 0);
  });
  std::vector<Tensor> outputs;
  const Report report = Checked(kernel, Zero(), {}, &outputs);
  EXPECT_EQ("", Codes(report));
  EXPECT_EQ(Verdict::kClean, report.verdict);
  EXPECT_EQ(64, report.schedules);
  EXPECT_EQ(kBlocks, ValuesOf<std::int32_t>(outputs[1])[0]);
}

// The lock is given back by a destructor, also of a thread that an exception leaves.
struct Guard {
  explicit Guard(KernelContext& context) : ctx(context) { Take(ctx); }
  ~Guard() { ctx.atomic_exchange(ctx.array("lock").at(0), 0); }
  KernelContext& ctx;
};

TEST(Lock, AGuardGivesItBackWhenAnExceptionLeavesItsScope) {
  const FunctionKernel kernel = Counting([](KernelContext& ctx) {
    try {
      const Guard guard(ctx);
      Count(ctx);
      throw static_cast<int>(ctx.block());
    } catch (const int block) {
      const Guard again(ctx);  // others throw and catch while this one waits here
      Count(ctx);
      EXPECT_EQ(ctx.block(), block);
    }
    EXPECT_EQ(0, std::uncaught_exceptions());
  });
  std::vector<Tensor> outputs;
  const Report report = Checked(kernel, Zero(), {.seeds = 16}, &outputs);
  EXPECT_EQ("", Codes(report));
  EXPECT_EQ(2 * kBlocks, ValuesOf<std::int32_t>(outputs[1])[0]);
}

TEST(Lock, WithoutItTheCountIsARace) {
  const FunctionKernel kernel = Counting(Count);
  const Report report = Checked(kernel, Zero(), {.seeds = 16});
  EXPECT_EQ(Verdict::kDefect, report.verdict);
  const ReportedFinding* race = Find(report, "RACE_RW");
  ASSERT_NE(nullptr, race) << Codes(report);
  const bool load_is_first = race->first->kind == AccessKind::kRead;
  EXPECT_TRUE(IsAt((load_is_first ? race->first : race->second)->frames, kFile, load_line)) << race->source;
  EXPECT_EQ("count", race->second->object);
  ExpectReplays(kernel, Zero(), *race);
  const ReportedFinding* const differs = Find(report, "NONDET");
  ASSERT_NE(nullptr, differs) << Codes(report);
  EXPECT_NE(std::string::npos, differs->message.find("output 'count'[0] is ")) << differs->message;
  ExpectReplays(kernel, Zero(), *differs);
}

TEST(Lock, APlainStoreDoesNotGiveItBack) {
  const FunctionKernel kernel = Counting([](KernelContext& ctx) {
    Take(ctx);
    Count(ctx);
    give_line = __LINE__ + 1;
    ctx.store(ctx.array("lock").at(0), 0);
  });
  const Report report = Checked(kernel, Zero(), {.seeds = 16});
  ASSERT_FALSE(report.findings.empty());
  bool names_lock = false;
  for (const ReportedFinding& finding : report.findings) {
    for (const auto* side : {&finding.first, &finding.second})
      names_lock |= side->has_value() && (*side)->object == "lock" && IsAt((*side)->frames, kFile, give_line);
  }
  EXPECT_TRUE(names_lock) << Codes(report);
}

TEST(Lock, AThreadThatKeepsItLetsTheOthersSpinForEver) {
  const FunctionKernel kernel = Counting([](KernelContext& ctx) {
    Take(ctx);
    Count(ctx);
  });
  const Report report = Checked(kernel, Zero(), {.seeds = 16, .step_budget = 20'000});
  const ReportedFinding* const livelock = Find(report, "LIVELOCK");
  ASSERT_NE(nullptr, livelock) << Codes(report);
  EXPECT_TRUE(IsAt(livelock->frames, kFile, spin_line)) << livelock->source;
  EXPECT_NE(std::string::npos, livelock->message.find("3 blocks have not ended")) << livelock->message;
  EXPECT_EQ(1, report.schedules) << "no more are tried";
}

}  // namespace
}  // namespace palladion::cpp_kernels
