// Writers that store the same bytes: with these operands, or with others too.
#include "emu/check/other_operands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "emu/check.h"
#include "emu/values.h"

namespace palladion::check {
namespace {

// Every program stores a row's element into one place.
constexpr const char* kStoresItsOwn =
    "pkir 1;\nkernel @k { grid [4]; in %x: f32[4]; out %o: f32[1];\n"
    " body @b (%xr: ref<default,f32[4]>, %or: ref<default,f32[1]>) {\n  %p = program_id{axis=0}() : i32[];\n"
    "  %v = VALUE : f32[];\n  _ = swap(%or.at[0], %v) : f32[];\n  return; } }\n";

Report CheckWith(std::string text, const std::string& value, const std::string& x, const std::string& target) {
  text.replace(text.find("VALUE"), 5, value);
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = target, .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  const absl::StatusOr<Report> report = Check(*kernel, {*TensorFromText(DType::kF32, {4}, x)});
  EXPECT_TRUE(report.ok()) << report.status();
  return *report;
}

TEST(OtherOperands, EqualBytesOfTheseOperandsOnlyAreARace) {
  const Report hidden = CheckWith(kStoresItsOwn, "get(%xr.at[%p])", "full(1)", "triton/h100");
  ASSERT_EQ(1u, hidden.findings.size()) << ToText(hidden);
  EXPECT_EQ("RACE_WW", Code(hidden.findings[0].code));
  EXPECT_EQ("predicted", Name(hidden.findings[0].confidence));
  EXPECT_NE(std::string::npos, hidden.findings[0].message.find("these operands hide it")) << hidden.findings[0].message;
  EXPECT_EQ(Verdict::kDefect, hidden.verdict);
  // One element for all: equal with every operand. It is no proof all the same.
  const Report equal = CheckWith(kStoresItsOwn, "get(%xr.at[0])", "full(1)", "triton/h100");
  ASSERT_EQ(1u, equal.findings.size()) << ToText(equal);
  EXPECT_EQ("SAME_VALUE", Code(equal.findings[0].code));
  EXPECT_EQ(Verdict::kClean, equal.verdict);
  EXPECT_EQ("GRID_ORDER", Code(CheckWith(kStoresItsOwn, "get(%xr.at[%p])", "full(1)", "generic").findings[0].code));
}

// The operand that decides where programs write is kept, the other is not.
TEST(OtherOperands, OperandsThatDecideAreKept) {
  const std::string text =
      "pkir 1;\nkernel @k { grid [4]; in %x: f32[4]; in %n: i32[1]; out %o: f32[1];\n"
      " body @b (%xr: ref<default,f32[4]>, %nr: ref<default,i32[1]>, %or: ref<default,f32[1]>) {\n"
      "  %p = program_id{axis=0}() : i32[];\n  %n0 = get(%nr.at[0]) : i32[];\n  %v = get(%xr.at[%p]) : f32[];\n"
      "  _ = swap(%or.at[%n0], %v) : f32[];\n  return; } }\n";
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = "triton/h100", .path = ""});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const std::vector<Tensor> inputs = {*TensorFromText(DType::kF32, {4}, "full(1)"),
                                      *TensorFromText(DType::kI32, {1}, "[0]")};
  const absl::StatusOr<Report> report = Check(*kernel, inputs);
  ASSERT_TRUE(report.ok()) << report.status();
  const auto count = [&](std::string_view code) {
    return std::count_if(report->findings.begin(), report->findings.end(),
                         [&](const ReportedFinding& finding) { return Code(finding.code) == code; });
  };
  EXPECT_EQ(1, count("RACE_WW")) << ToText(*report);
  EXPECT_EQ(0, count("OOB")) << "a random index was used";
}

}  // namespace
}  // namespace palladion::check
