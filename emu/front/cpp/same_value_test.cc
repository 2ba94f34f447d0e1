// Writes that nothing orders and that store the same bytes: a note where they do so with other operands too.
#include <gtest/gtest.h>

#include <utility>

#include "emu/front/cpp/kernel_test_util.h"

namespace palladion::cpp_kernels {
namespace {

constexpr std::int32_t kBlocks = 3;

FunctionKernel Storing(KernelFunction function) {
  return {.name = "store",
          .grid = {kBlocks},
          .threads = {std::move(function)},
          .inputs = {"x"},
          .outputs = {{"y", DType::kI32, {1}}}};
}

std::vector<Tensor> Ones() { return {ArrayOf<std::int32_t>({kBlocks}, {1, 1, 1})}; }

TEST(SameValue, WhatAllStoreIsANote) {
  const FunctionKernel kernel = Storing([](KernelContext& ctx) { ctx.store(ctx.array("y").at(0), 7); });
  std::vector<Tensor> outputs;
  const Report report = Checked(kernel, Ones(), {.seeds = 8}, &outputs);
  const ReportedFinding* const note = Find(report, "SAME_VALUE");
  ASSERT_NE(nullptr, note) << Codes(report);
  EXPECT_EQ("note", Name(note->severity));
  EXPECT_NE(std::string::npos, note->message.find("; every write stores the same bytes")) << note->message;
  EXPECT_EQ(1u, report.findings.size()) << Codes(report);
  EXPECT_EQ(Verdict::kClean, report.verdict);
  EXPECT_EQ(7, ValuesOf<std::int32_t>(outputs[0])[0]);
  ExpectReplays(kernel, Ones(), *note);
}

TEST(SameValue, WhatTheOperandsHideIsARace) {
  const FunctionKernel kernel = Storing([](KernelContext& ctx) {
    ctx.store(ctx.array("y").at(0), ctx.load<std::int32_t>(ctx.array("x").at(ctx.block())));
  });
  const Report report = Checked(kernel, Ones(), {.seeds = 8});
  EXPECT_EQ(nullptr, Find(report, "SAME_VALUE")) << Codes(report);
  const ReportedFinding* const race = Find(report, "RACE_WW");
  ASSERT_NE(nullptr, race) << Codes(report);
  EXPECT_NE(std::string::npos, race->message.find("; these operands hide it")) << race->message;
  EXPECT_EQ(Verdict::kDefect, report.verdict);
}

TEST(SameValue, WhatDiffersIsARace) {
  const FunctionKernel kernel =
      Storing([](KernelContext& ctx) { ctx.store(ctx.array("y").at(0), static_cast<std::int32_t>(ctx.block())); });
  const Report report = Checked(kernel, Ones(), {.seeds = 8});
  EXPECT_EQ(nullptr, Find(report, "SAME_VALUE")) << Codes(report);
  ASSERT_NE(nullptr, Find(report, "RACE_WW")) << Codes(report);
  EXPECT_NE(nullptr, Find(report, "NONDET")) << Codes(report);
}

// Bytes that were never written are equal to nothing, also where they are the same.
TEST(SameValue, WhatIsUndefinedIsEqualToNothing) {
  const FunctionKernel kernel = Storing([](KernelContext& ctx) {
    const KernelMemory slot = ctx.alloc("slot", DType::kI32, {1});
    ctx.copy_async(slot, ctx.array("y").slice(0, 1));
    ctx.commit_copies();
    ctx.wait_copies(0);
  });
  const Report report = Checked(kernel, Ones(), {.seeds = 4});
  EXPECT_EQ(nullptr, Find(report, "SAME_VALUE")) << Codes(report);
  EXPECT_NE(nullptr, Find(report, "RACE_WW")) << Codes(report);
}

}  // namespace
}  // namespace palladion::cpp_kernels
