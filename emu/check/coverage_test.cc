#include "emu/check/coverage.h"

#include <gtest/gtest.h>

#include "emu/check/plain_run.h"
#include "emu/run/launch/launch.h"
#include "emu/testing/kernel_test_util.h"
#include "emu/values.h"

namespace palladion::check {
namespace {

// "line: what" of each part of a kernel over i32[4] that never ran, on x = 0, 1, 2, 3; the body starts at line 9.
std::vector<std::string> MissingOf(const std::string& body, const std::string& grid = "[2]") {
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(VectorKernel(body, grid));
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  if (!kernel.ok()) return {};
  Coverage coverage(kernel->state());
  agents::LaunchOptions options;
  coverage.Attach(options);
  const absl::StatusOr<RunResult> result =
      check::RunWatched(*kernel, {*TensorFromText(DType::kI32, {4}, "iota")}, options);
  EXPECT_TRUE(result.ok()) << result.status();
  std::vector<std::string> missing;
  for (const NeverRan& part : coverage.Missing(result->report.programs))
    missing.push_back(std::to_string(part.text_line) + ": " + part.what);
  return missing;
}

using Lines = std::vector<std::string>;

constexpr const char* kProgram = "%p = program_id{axis=0}() : i32[];\n";

TEST(Coverage, AWhenThatNeverHeld) {
  const auto when = [](int program) {
    return std::string(kProgram) + "%c = eq(%p, " + std::to_string(program) +
           ":i32) : bool[];\n"
           "cond(%c) { return; } {\n  _ = swap(%orf.at[0], %p) : i32[];\n  return;\n};";
  };
  EXPECT_EQ(Lines{}, MissingOf(when(1)));
  EXPECT_EQ(Lines{"11: body of when"}, MissingOf(when(2)));
}

TEST(Coverage, BranchesAndWhatIsInsideThem) {
  const std::string body =
      std::string(kProgram) +
      "%a = add(%p, 1:i32) : i32[];\n"
      "%r = cond(%a) {\n  %v = get(%xr.at[0]) : i32[];\n  return %v;\n} {\n  return %p;\n} {\n"
      "  %w = get(%xr.at[1]) : i32[];\n  return %w;\n} {\n"
      "  %t = lt(%a, 1:i32) : bool[];\n"
      "  %s = cond(%t) {\n    return %p;\n  } {\n    %u = get(%xr.at[2]) : i32[];\n    return %u;\n"
      "  } : i32[];\n  return %s;\n} : i32[];\n"
      "_ = swap(%orf.at[%p], %r) : i32[];";
  // Index 1 and 2 run. Branch 1 has no step of its own, so nothing is said of it.
  EXPECT_EQ((Lines{"11: branch 0 of cond", "11: branch 3 of cond"}), MissingOf(body));
}

TEST(Coverage, Loops) {
  const auto scan = [](int length) {
    return "%r = scan{length=" + std::to_string(length) +
           "}(init=0:i32) (%a: i32[]) {\n  %v = get(%xr.at[1]) : i32[];\n  %b = add(%a, %v) : i32[];\n  return %b;\n} "
           ": "
           "i32[];\n_ = swap(%orf.at[0], %r) : i32[];";
  };
  EXPECT_EQ(Lines{}, MissingOf(scan(1)));
  EXPECT_EQ(Lines{"9: body of scan"}, MissingOf(scan(0)));
  const auto loop = [](int bound) {
    return "%r = while(init=0:i32) (%a: i32[]) {\n  %c = lt(%a, " + std::to_string(bound) +
           ":i32) : bool[];\n  return %c;\n} (%a: i32[]) {\n  %v = get(%xr.at[1]) : i32[];\n  %b = add(%a, %v) : "
           "i32[];\n"
           "  return %b;\n} : i32[];\n_ = swap(%orf.at[0], %r) : i32[];";
  };
  EXPECT_EQ(Lines{}, MissingOf(loop(2)));
  EXPECT_EQ(Lines{"9: body of while"}, MissingOf(loop(0)));
}

TEST(Coverage, Masks) {
  const auto masked = [](const std::string& index, int bound) {
    return "%i = iota{dim=0}() : i32[4];\n%m = lt(%i, " + std::to_string(bound) +
           ":i32) : bool[4];\n%v = masked_load(%xr.at[" + index +
           "], mask=%m, other=0:i32) : i32[4];\n_ = masked_swap(%orf.at[" + index + "], %v, mask=%m) : i32[4];";
  };
  for (const char* index : {"*", "0 +: 4", "%i"}) {
    EXPECT_EQ(Lines{}, MissingOf(masked(index, 1))) << index;
    EXPECT_EQ((Lines{"11: any lane of a masked read", "12: any lane of a masked write"}), MissingOf(masked(index, 0)))
        << index;
  }
}

TEST(Coverage, AnEmptyGrid) { EXPECT_EQ(Lines{"0: any program: the grid is empty"}, MissingOf("", "[0]")); }

// A branch whose line has other instructions too could have been any of them.
TEST(Coverage, NothingIsSaidOfSharedLines) {
  EXPECT_EQ(Lines{}, MissingOf(std::string(kProgram) + "%c = eq(%p, 7:i32) : bool[]; cond(%c) { return; } { _ = "
                                                       "swap(%orf.at[0], %p) : i32[]; return; };"));
}

}  // namespace
}  // namespace palladion::check
