// Which kernels are oblivious, and what of them is left out of a schedule without values.
#include "emu/run/launch/oblivious.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "emu/emulate.h"
#include "emu/run/launch/elided_program.h"

namespace palladion::launch {
namespace {

std::string Threads(const std::string& body) {
  return "pkir 1;\nkernel @k {\n  backend mosaic_gpu;\n  in %x: i32[128] space gmem;\n  out %o: i32[128] space gmem;\n"
         "  mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=2, thread_name=\"wg\"};\n"
         "  body @k (%xr: ref<gmem,i32[128]>, %or: ref<gmem,i32[128]>) {\n" +
         body + "    return;\n  }\n}\n";
}

bool IsOblivious(const std::string& body) {
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(Threads(body), {.target = "mosaic_gpu/h100"});
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  return kernel.ok() && ElidedKernel(kernel->state()) != nullptr;
}

TEST(Oblivious, ValuesMayGoToMemory) {
  EXPECT_TRUE(
      IsOblivious("    %v = get(%xr) : i32[128];\n    %w = add(%v, 1:i32) : i32[128];\n"
                  "    _ = swap(%or, %w) : i32[128];\n"));
}

TEST(Oblivious, IndicesOfAThreadAreNoValues) {
  EXPECT_TRUE(
      IsOblivious("    %t = axis_index{axis=\"wg\"}() : i32[];\n    %v = get(%xr.at[%t]) : i32[];\n"
                  "    _ = swap(%or.at[%t], %v) : i32[];\n"));
}

TEST(Oblivious, AnIndexFromMemoryIsNot) {
  EXPECT_FALSE(
      IsOblivious("    %t = get(%xr.at[0]) : i32[];\n    %v = get(%xr.at[%t]) : i32[];\n"
                  "    _ = swap(%or.at[0], %v) : i32[];\n"));
}

TEST(Oblivious, ABranchOnMemoryIsNot) {
  EXPECT_FALSE(
      IsOblivious("    %t = get(%xr.at[0]) : i32[];\n    cond(%t) {\n      return;\n    } {\n"
                  "      _ = swap(%or.at[0], 1:i32) : i32[];\n      return;\n    };\n"));
}

TEST(Oblivious, LoopsCarryWhatTheyAreGiven) {
  const auto loop = [](const std::string& first) {
    return "    %f = get(%xr.at[0]) : i32[];\n    %n = scan{length=4, reverse=false}(init=" + first +
           ") (%c: i32[]) {\n      %d = add(%c, 1:i32) : i32[];\n      return %d;\n    } : i32[];\n"
           "    %v = get(%xr.at[%n]) : i32[];\n    _ = swap(%or.at[0], %v) : i32[];\n";
  };
  EXPECT_TRUE(IsOblivious(loop("0:i32")));
  EXPECT_FALSE(IsOblivious(loop("%f")));
}

TEST(Oblivious, ASumThatIsCarriedIsAValue) {
  EXPECT_TRUE(IsOblivious(
      "    %i, %s = scan{length=4, reverse=false}(init=0:i32, init=0:i32) (%c: i32[], %a: i32[]) {\n"
      "      %v = get(%xr.at[%c]) : i32[];\n      %b = add(%a, %v) : i32[];\n      %d = add(%c, 1:i32) : i32[];\n"
      "      return %d, %b;\n    } : i32[], i32[];\n    _ = swap(%or.at[%i], %s) : i32[];\n"));
}

// As JAX's closures do with what they use.
TEST(Oblivious, NumbersThatAScopeBeginsWithAreOperands) {
  const auto scope = [](const std::string& number, const std::string& also) {
    return "    %f = get(%xr.at[0]) : i32[];\n    %t = axis_index{axis=\"wg\"}() : i32[];\n"
           "    _ = run_state(" +
           number + ") (%n: ref<default,i32[]>) {\n" + also +
           "      %i = get(%n) : i32[];\n      %v = get(%xr.at[%i]) : i32[];\n      _ = swap(%or.at[%i], %v) : i32[];\n"
           "      return;\n    } : i32[];\n";
  };
  EXPECT_TRUE(IsOblivious(scope("%t", "")));
  EXPECT_FALSE(IsOblivious(scope("%f", "")));
  EXPECT_FALSE(IsOblivious(scope("%t", "      _ = swap(%n, %f) : i32[];\n")));
}

TEST(Oblivious, WhileLoopsEndByWhatTheyCarry) {
  const auto loop = [](const std::string& add) {
    return "    %n = while(init=0:i32) (%c: i32[]) {\n      %m = lt(%c, 4:i32) : bool[];\n      return %m;\n    } "
           "(%d: i32[]) {\n      %v = get(%xr.at[%d]) : i32[];\n      %e = add(%d, " +
           add + ") : i32[];\n      return %e;\n    } : i32[];\n    _ = swap(%or.at[0], %n) : i32[];\n";
  };
  EXPECT_TRUE(IsOblivious(loop("1:i32")));
  EXPECT_FALSE(IsOblivious(loop("%v")));
}

TEST(Oblivious, StepsOfValuesAreLeftOut) {
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(
      Threads(
          "    %t = axis_index{axis=\"wg\"}() : i32[];\n    %u = mul(%t, 2:i32) : i32[];\n"
          "    %v = get(%xr) : i32[128];\n    %w = mul(%v, 3:i32) : i32[128];\n    %y = add(%w, 1:i32) : i32[128];\n"
          "    _ = swap(%or, %y) : i32[128];\n    _ = swap(%or.at[%u], 1:i32) : i32[];\n"),
      {.target = "mosaic_gpu/h100"});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const auto elided = ElidedKernel(kernel->state());
  ASSERT_NE(elided, nullptr);
  const auto values = [](const Program& program) {
    return std::count_if(program.steps.begin(), program.steps.end(),
                         [](const Step& step) { return step.value != nullptr; });
  };
  EXPECT_EQ(values(kernel->state().program()) - values(elided->program()), 2);  // %w and %y
  EXPECT_EQ(kernel->state().program().steps.size(), elided->program().steps.size());
}

// ---- where an array's contents may decide

// "-": something else decides, too; else a letter for each of x and o, upper case where its contents do.
std::string Deciding(const std::string& body) {
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(Threads(body), {.target = "mosaic_gpu/h100"});
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  if (!kernel.ok()) return "";
  const WithoutValues left = KernelWithoutValues(kernel->state());
  if (left.kernel == nullptr) return "-";
  return std::string(left.moved[0] ? "X" : "x") + (left.moved[1] ? "O" : "o");
}

TEST(ButForOperands, AnIndexOrABranchMayComeFromAnInput) {
  const std::string index = "    %t = get(%xr.at[0]) : i32[];\n";
  EXPECT_EQ(Deciding(index + "    _ = swap(%or.at[%t], %t) : i32[];\n"), "Xo");
  EXPECT_EQ(Deciding(index + "    _ = swap(%or.at[0], %t) : i32[];\n"), "xo");
  EXPECT_EQ(Deciding(index + "    cond(%t) {\n      return;\n    } {\n      _ = swap(%or.at[0], 1:i32) : i32[];\n"
                             "      return;\n    };\n"),
            "Xo");
}

// What is stored in such an array is computed, and what it is computed from.
TEST(ButForOperands, WhatIsStoredThereDecidesToo) {
  const std::string text =
      "    %a = get(%xr.at[1]) : i32[];\n    %b = mul(%a, 2:i32) : i32[];\n    _ = swap(%xr.at[0], %b) : i32[];\n"
      "    %t = get(%xr.at[0]) : i32[];\n    %c = mul(%t, 3:i32) : i32[];\n    _ = swap(%or.at[%t], %c) : i32[];\n";
  EXPECT_EQ(Deciding(text), "Xo");
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(Threads(text), {.target = "mosaic_gpu/h100"});
  const auto left = KernelWithoutValues(kernel->state());
  const auto values = [](const Program& program) {
    return std::count_if(program.steps.begin(), program.steps.end(),
                         [](const Step& step) { return step.value != nullptr; });
  };
  EXPECT_EQ(values(kernel->state().program()) - values(left.kernel->program()), 1);  // %c
}

// An output's contents, what an instruction adds to or an atomic changes, and what a scope allocates decide nothing
// yet.
TEST(ButForOperands, OtherMemoryMayNot) {
  const std::string use = "    %t = get(%xr.at[0]) : i32[];\n    _ = swap(%or.at[%t], %t) : i32[];\n";
  EXPECT_EQ(Deciding("    %t = get(%or.at[0]) : i32[];\n    _ = swap(%or.at[%t], 1:i32) : i32[];\n"), "-");
  EXPECT_EQ(Deciding("    %v = get(%xr) : i32[128];\n    addupdate(%xr, %v);\n" + use), "-");
  EXPECT_EQ(Deciding("    atomic_store{atomic_type=add}(ref=%xr.at[0], value=1:i32);\n" + use), "-");
  EXPECT_EQ(Deciding("    _ = run_state(0:i32) (%n: ref<default,i32[]>) {\n      %a = get(%xr.at[0]) : i32[];\n"
                     "      _ = swap(%n, %a) : i32[];\n      %t = get(%n) : i32[];\n"
                     "      _ = swap(%or.at[%t], 1:i32) : i32[];\n      return;\n    } : i32[];\n"),
            "-");
}

}  // namespace
}  // namespace palladion::launch
