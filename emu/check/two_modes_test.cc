// Programs under a policy are what they are one after another: a task keeps the order of its programs, and scratch goes
// from program to program. Every case is compared in conformance/metamorphic/both_ways_test.cc; here is what it does
// not have.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "emu/check.h"
#include "emu/check/for_tests.h"
#include "emu/values.h"
#include "semantics/base/cat.h"

namespace palladion::check {
namespace {

Report CheckText(const std::string& text, const CheckOptions& options) {
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = "generic", .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  std::vector<Tensor> inputs;
  for (const OperandDescription& input : kernel->inputs())
    inputs.push_back(*TensorFromText(input.dtype, input.shape, "zeros"));
  absl::StatusOr<Report> report = Check(*kernel, inputs, options);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : Report{};
}

std::string Codes(const Report& report) {
  std::vector<std::string> codes;
  for (const ReportedFinding& finding : report.findings) codes.emplace_back(Code(finding.code));
  std::sort(codes.begin(), codes.end());
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  std::string text;
  for (const std::string& code : codes) Append(&text, text.empty() ? "" : " ", code);
  return text;
}

// Each program adds one to a sum that the first one of its task sets to zero; TICKET stands before that.
std::string Sum(const std::string& grid, const std::string& semantics, const std::string& sum, const std::string& at,
                const std::string& ticket = "") {
  return Cat("pkir 1;\nkernel @k {\n  params {dimension_semantics=[", semantics, "]};\n  grid [", grid,
             "];\n  in %c: i32[1];\n  out %o: i32[", sum,
             "];\n  out %d: i32[1] alias %c;\n  body @b (%cr: ref<default,i32[1]>, %or: ref<default,i32[", sum,
             "]>, %n: ref<default,i32[1]>) {\n    %p = program_id{axis=0}() : i32[];\n", ticket,
             "    %z = eq(%p, 0:i32) : bool[];\n    cond(%z) { return; } { _ = swap(%or.at[", at,
             "], 0:i32) : i32[]; return; };\n    %v = get(%or.at[", at,
             "]) : i32[];\n    %w = add(%v, 1:i32) : i32[];\n    _ = swap(%or.at[", at,
             "], %w) : i32[];\n    return;\n  }\n}\n");
}
constexpr ForTests kByPolicy{.by_policy = true};
const std::string kTicket = "    %t = atomic_rmw{op=xchg}(%n.at[0], 1:i32) : i32[];\n";

TEST(TwoModes, ATaskKeepsTheOrderOfItsPrograms) {
  const std::string one = Sum("4", "\"arbitrary\"", "1", "0");
  EXPECT_EQ(CheckText(one, {}).verdict, Verdict::kProved);
  EXPECT_EQ(CheckText(one, {.exhaustive = true}).verdict, Verdict::kProved);
  EXPECT_EQ(CheckText(one, {.seeds = 16, .all_seeds = true, .for_tests = &kByPolicy}).verdict, Verdict::kProved);

  const std::string column = "    %q = program_id{axis=1}() : i32[];\n";
  for (const std::string& ticket : {std::string(), kTicket}) {
    const std::string several = Sum("3, 2", "\"arbitrary\", \"parallel\"", "2", "%q", column + ticket);
    EXPECT_EQ(Codes(CheckText(several, {.seeds = 16})), "") << several;
    EXPECT_EQ(Codes(CheckText(several, {.exhaustive = true})), "") << several;
    const std::string swapped = Sum("3, 2", "\"parallel\", \"arbitrary\"", "2", "%q", column + ticket);
    EXPECT_NE(Codes(CheckText(swapped, {.seeds = 16})).find("GRID_ORDER"), std::string::npos) << swapped;
  }
}

// FIRST is what the condition looks at under which a program writes its scratch before it reads it; TICKET lets
// programs see each other.
std::string Scratch(const std::string& first, const std::string& ticket) {
  return Cat("pkir 1;\nkernel @k {\n  grid [4];\n  in %c: i32[1];\n  out %o: i32[4];\n  out %d: i32[1] alias %c;\n",
             "  scratch %s: ref<vmem,i32[1]>;\n  body @b (%cr: ref<default,i32[1]>, %or: ref<default,i32[4]>, ",
             "%n: ref<default,i32[1]>, %sr: ref<vmem,i32[1]>) {\n    %p = program_id{axis=0}() : i32[];\n", ticket,
             "    %z = eq(", first,
             ", 0:i32) : bool[];\n    cond(%z) { return; } { _ = swap(%sr.at[0], 5:i32) : i32[]; return; };\n"
             "    %v = get(%sr.at[0]) : i32[];\n    _ = swap(%or.at[%p], %v) : i32[];\n    return;\n  }\n}\n");
}

TEST(TwoModes, ScratchGoesFromProgramToProgram) {
  EXPECT_EQ(Codes(CheckText(Scratch("%p", ""), {})), "GRID_ORDER UNINIT");  // in reverse nothing is there first
  EXPECT_EQ(Codes(CheckText(Scratch("%p", ""), {.seeds = 1, .for_tests = &kByPolicy})), "GRID_ORDER");
  EXPECT_EQ(Codes(CheckText(Scratch("%p", kTicket), {.seeds = 1})), "GRID_ORDER");
  for (const std::string& ticket : {std::string(), kTicket}) {
    EXPECT_EQ(Codes(CheckText(Scratch("0:i32", ticket), {.seeds = 16})), "") << ticket;
    EXPECT_EQ(Codes(CheckText(Scratch("0:i32", ticket), {.seeds = 16, .for_tests = &kByPolicy})), "") << ticket;
    EXPECT_EQ(Codes(CheckText(Scratch("0:i32", ticket), {.exhaustive = true})), "") << ticket;
  }
}

}  // namespace
}  // namespace palladion::check
