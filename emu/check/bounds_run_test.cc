// 061: indices out of bounds, on every kind of memory and in every form of access: the last that is legal, one past it,
// negative ones, and masks that keep the outside out. Never clamped, never wrapped, never a neighbour's element.
#include <gtest/gtest.h>

#include <string>

#include "emu/emulate.h"
#include "emu/values.h"
#include "semantics/base/cat.h"

namespace palladion::check {
namespace {

// Where the ref %r of i32[8] lives: an operand, scratch of a space, a scope of a space, a new_ref. `i` is an input.
struct Home {
  std::string name, operands, params, open, close;
};

std::vector<Home> Homes() {
  std::vector<Home> homes;
  for (const std::string space : {"default", "vmem", "smem", "any", "hbm", "gmem"}) {
    homes.push_back({Cat("scratch in ", space), Cat("  scratch %s: ref<", space, ",i32[8]>;\n"),
                     Cat(", %r: ref<", space, ",i32[8]>"), "", ""});
    homes.push_back(
        {Cat("scope in ", space), "", "", Cat("run_scoped() (%r: ref<", space, ",i32[8]>) {\n"), "return; };\n"});
  }
  homes.push_back({"output", "  out %p: i32[8];\n", ", %r: ref<default,i32[8]>", "", ""});
  homes.push_back({"blocked output", "  out %p: i32[8] block (8) map () { return 0:i32; };\n",
                   ", %r: ref<default,i32[8]>", "", ""});
  homes.push_back({"new_ref", "", "", "%n = get(%zr) : i32[8];\n%r = new_ref(%n) : ref<default,i32[8]>;\n", ""});
  return homes;
}

std::string Text(const Home& home, const std::string& access) {
  return Cat("pkir 1;\nkernel @k { grid [];\n  in %i: i32[]; in %m: bool[4]; in %z: i32[8];\n  out %o: i32[4];\n",
             home.operands,
             "  body @b (%ir: ref<default,i32[]>, %mr: ref<default,bool[4]>, %zr: ref<default,i32[8]>, %or: "
             "ref<default,i32[4]>",
             home.params,
             ") {\n%at = get(%ir) : i32[]; %mask = get(%mr) : bool[4]; %zero = get(%zr) : i32[8]; %four = get(%zr.at[0 "
             "+: 4]) : i32[4];\n",
             "%iota = iota{dim=0}() : i32[4]; %indices = add(%iota, %at) : i32[4];\n", home.open,
             "_ = swap(%r, %zero) : i32[8];\n", access, "\n", home.close, "return; } }\n");
}

std::vector<std::string> FindingsAt(const PreparedKernel& kernel, int at, const std::string& mask) {
  const Tensor zeros = *TensorFromText(DType::kI32, {8}, "zeros");
  const absl::StatusOr<RunResult> result = Run(
      kernel, {*TensorFromText(DType::kI32, {}, Cat("[", at, "]")), *TensorFromText(DType::kBool, {4}, mask), zeros});
  EXPECT_TRUE(result.ok()) << result.status();
  std::vector<std::string> codes;
  for (const ReportedFinding& finding : result->report.findings) {
    if (finding.code != FindingCode::kIllegal)
      codes.emplace_back(Code(finding.code));  // a TPU cannot load from `any`: another test's
  }
  return codes;
}

const std::vector<std::string> kClean = {}, kOut = {"OOB"};

struct Form {
  std::string access;
  int last;     // the largest legal index
  bool masked;  // takes %mask
};

const Form kForms[] = {
    {"%v = get(%r.at[%at]) : i32[];", 7, false},
    {"%v = get(%r.at[%at +: 4]) : i32[4];", 4, false},
    {"%v = get(%r.at[%at +: 3 : 2]) : i32[3];", 3, false},
    {"%v = get(%r.at[%indices]) : i32[4];", 4, false},
    {"%v = get(%r.at[1 +: 6].at[%at +: 4]) : i32[4];", 2, false},
    {"_ = swap(%r.at[%at], 1:i32) : i32[];", 7, false},
    {"_ = swap(%r.at[%at +: 4], %four) : i32[4];", 4, false},
    {"_ = swap(%r.at[%indices], %four) : i32[4];", 4, false},
    {"addupdate(%r.at[%at +: 4], %four);", 4, false},
    {"addupdate(%r.at[%indices], %four);", 4, false},
    {"%v = atomic_rmw{op=add}(%r.at[%at +: 4], %four) : i32[4];", 4, false},
    {"%v = atomic_rmw{op=max}(%r.at[%indices], %four) : i32[4];", 4, false},
    {"%v = masked_load(%r.at[%at +: 4], mask=%mask) : i32[4];", 4, true},
    {"%v = masked_load(%r.at[%indices], mask=%mask) : i32[4];", 4, true},
    {"_ = masked_swap(%r.at[%at +: 4], %four, mask=%mask) : i32[4];", 4, true},
    {"_ = masked_swap(%r.at[%indices], %four, mask=%mask) : i32[4];", 4, true},
};

class OutOfBounds : public testing::TestWithParam<std::string> {};  // the target

TEST_P(OutOfBounds, OffByOneNegativeAndMasked) {
  for (const Home& home : Homes()) {
    for (const Form& form : kForms) {
      const std::string text = Text(home, form.access);
      const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = GetParam(), .path = ""});
      ASSERT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
      const auto expect = [&](const std::vector<std::string>& codes, int at, const std::string& mask) {
        EXPECT_EQ(codes, FindingsAt(*kernel, at, mask)) << home.name << ", index " << at << ", mask " << mask << "\n"
                                                        << text;
      };
      const std::string all = "[true, true, true, true]";
      expect(kClean, 0, all);
      expect(kClean, form.last, all);
      expect(kOut, form.last + 1, all);
      expect(kOut, -1, all);
      expect(kOut, 1 << 30, all);
      expect(kOut, -(1 << 30), all);
      if (!form.masked) continue;
      expect(kClean, form.last + 1, "[true, true, true, false]");  // the lane outside takes no part
      expect(kOut, form.last + 1, "[false, false, false, true]");
      expect(kClean, -1, "[false, true, true, true]");
      expect(kOut, -1, "[true, false, false, false]");
      expect(kClean, 1 << 30, "[false, false, false, false]");
    }
  }
}

// JAX lets a slice pass that is longer than its dimension, so it is found where it runs.
TEST_P(OutOfBounds, SlicesLongerThanTheirDimension) {
  const std::string twelve = "%twelve = iota{dim=0}() : i32[12]; %eight = lt(%twelve, 8:i32) : bool[12];\n";
  const struct {
    std::string access;
    std::vector<std::string> codes;
  } cases[] = {
      {"%v = get(%r.at[0 +: 12]) : i32[12];", kOut},
      {"%v = get(%r.at[%at +: 12]) : i32[12];", kOut},
      {"%v = get(%r.at[%at +: 5 : 2]) : i32[5];", kOut},
      {"%v = get(%r.at[1 +: 6].at[%at +: 8]) : i32[8];", kOut},
      {"%v = get(%r.at[1 +: 6].at[0 +: 7]) : i32[7];", kOut},
      {"%v = get(%r.transpose[0].at[%at +: 12]) : i32[12];", kOut},
      {"_ = swap(%r.at[%at +: 12], %twelve) : i32[12];", kOut},
      {"addupdate(%r.at[0 +: 12], %twelve);", kOut},
      {"%v = masked_load(%r.at[%at +: 12], mask=%eight) : i32[12];", kClean},
      {"%v = masked_load(%r.at[0 +: 12]) : i32[12];", kOut},
      {"_ = masked_swap(%r.at[0 +: 12], %twelve, mask=%eight) : i32[12];", kClean},
  };
  for (const Home& home : Homes()) {
    for (const auto& c : cases) {
      const std::string text = Text(home, twelve + c.access);
      const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = GetParam(), .path = ""});
      ASSERT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
      EXPECT_EQ(c.codes, FindingsAt(*kernel, 0, "zeros")) << home.name << "\n" << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, OutOfBounds,
                         testing::Values("generic", "triton/h100", "mosaic_gpu/h100", "mosaic_tpu/v5e"),
                         [](const testing::TestParamInfo<std::string>& target) {
                           return target.param.substr(0, target.param.find('/'));
                         });

}  // namespace
}  // namespace palladion::check
