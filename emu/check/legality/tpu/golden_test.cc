// The rules of TPU kernels against JAX: kernels that its Mosaic lowering takes or refuses
// (conformance/golden/make_tpu_legality_golden.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "emu/check/contracts.h"
#include "emu/check/legality/golden_kernels_test_util.h"
#include "emu/check/legality/tpu/limits.h"
#include "emu/emulate.h"
#include "semantics/ir/parser.h"

namespace palladion::legality {
namespace {

bool AnyIllegal(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.code == FindingCode::kIllegal; });
}

std::string FirstOf(const std::vector<Finding>& findings) { return findings.empty() ? "nothing" : findings[0].message; }

TEST(TpuLegalityGolden, RefusesWhatJaxRefusesAndNothingElse) {
  int lowered = 0, refused = 0;
  for (const GoldenKernel& golden : ReadGoldenKernels("tpu_legality.txt")) {
    const absl::StatusOr<Module> module = Parse(golden.text, golden.name);
    ASSERT_TRUE(module.ok()) << module.status() << "\n" << golden.text;
    const std::vector<Finding> findings =
        check::StaticFindingsOfParsed(module->kernels[0], TargetFromName(golden.target).value());
    EXPECT_EQ(golden.verdict == "refused", AnyIllegal(findings))
        << golden.name << ": JAX " << golden.verdict << " it; found " << FirstOf(findings) << "\n"
        << golden.text;
    for (const Finding& finding : findings) EXPECT_FALSE(finding.fix.empty()) << finding.message;
    (golden.verdict == "refused" ? refused : lowered) += 1;
  }
  EXPECT_GT(lowered, 500);
  EXPECT_GT(refused, 300);
}

// What can be prepared is judged after that, with the same verdict.
TEST(TpuLegalityGolden, APreparedKernelIsJudgedAsItsTextIs) {
  int prepared = 0;
  for (const GoldenKernel& golden : ReadGoldenKernels("tpu_legality.txt")) {
    const absl::StatusOr<PreparedKernel> kernel =
        PrepareText(golden.text, {.kernel = "", .target = golden.target, .path = ""});
    if (!kernel.ok()) continue;
    ++prepared;
    const std::vector<Finding> findings = check::StaticFindings(kernel->state());
    EXPECT_EQ(golden.verdict == "refused", AnyIllegal(findings)) << golden.name << ": " << FirstOf(findings);
  }
  EXPECT_GT(prepared, 800);
}

TEST(TpuLimits, NamesAreUniqueAndRulesAreSentences) {
  std::set<std::string_view> names;
  for (const LimitText& limit : AllTpuLimits()) {
    EXPECT_TRUE(names.insert(limit.name).second) << limit.name;
    EXPECT_TRUE(limit.name.starts_with("tpu.")) << limit.name;
    EXPECT_FALSE(limit.rule.empty() || limit.rule.ends_with(".")) << limit.rule;
    EXPECT_FALSE(limit.source.empty() || limit.fix.empty()) << limit.name;
  }
}

// Rules that no kernel of today's JAX breaks which it still traces, or which the exporter writes.
TEST(TpuLimits, EachIsBrokenByAKernelOfTheGoldenFile) {
  const std::set<std::string_view> kNotTraced = {"tpu.operand.bits", "tpu.operand.space", "tpu.access.smem-mask",
                                                 "tpu.access.mask-shape", "tpu.copy.add",
                                                 // JAX lowers what breaks these: tpu_chips_test.cc.
                                                 "tpu.mxu.chip", "tpu.mxu.number", "tpu.mxu.rhs", "tpu.mxu.lhs",
                                                 "tpu.operand.cmem", "tpu.control.cmem", "tpu.launch.partitioned"};
  std::set<std::string> broken;
  for (const GoldenKernel& golden : ReadGoldenKernels("tpu_legality.txt")) {
    const absl::StatusOr<Module> module = Parse(golden.text, golden.name);
    ASSERT_TRUE(module.ok()) << module.status();
    for (const Finding& finding :
         check::StaticFindingsOfParsed(module->kernels[0], TargetFromName(golden.target).value())) {
      const std::size_t open = finding.message.rfind('[');
      if (open != std::string::npos && finding.message.ends_with("]"))
        broken.insert(finding.message.substr(open + 1, finding.message.size() - open - 2));
    }
  }
  for (const LimitText& limit : AllTpuLimits())
    EXPECT_NE(kNotTraced.count(limit.name), broken.count(std::string(limit.name))) << limit.name;
}

}  // namespace
}  // namespace palladion::legality
