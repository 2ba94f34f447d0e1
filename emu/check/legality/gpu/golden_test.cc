// The limits of GPU kernels against JAX: kernels over plgpu.Mesh that its lowering takes or refuses
// (conformance/golden/make_gpu_legality_golden.py, make_layout_legality_golden.py, make_copy_legality_golden.py,
// make_blackwell_legality_golden.py).
#include <gtest/gtest.h>

#include <string>

#include "emu/check/contracts.h"
#include "emu/check/legality/golden_kernels_test_util.h"
#include "semantics/ir/parser.h"

namespace palladion::legality {
namespace {

// How many JAX takes, and how many it refuses.
struct Verdicts {
  int lowered = 0, refused = 0;
};

Verdicts Compare(const std::string& file_name) {
  Verdicts verdicts;
  for (const GoldenKernel& golden : ReadGoldenKernels(file_name)) {
    const absl::StatusOr<Module> module = Parse(golden.text, golden.name);
    EXPECT_TRUE(module.ok()) << module.status() << "\n" << golden.text;
    const absl::StatusOr<Target> target = TargetFromName(golden.target);
    EXPECT_TRUE(target.ok()) << target.status();
    if (!module.ok() || !target.ok()) continue;
    const std::vector<Finding> findings = check::StaticFindingsOfParsed(module->kernels[0], *target, "jax 0.10.2");
    EXPECT_EQ(golden.verdict == "refused", !findings.empty())
        << golden.name << ": JAX " << golden.verdict << " it; found "
        << (findings.empty() ? "nothing" : findings[0].message) << "\n"
        << golden.text;
    (golden.verdict == "refused" ? verdicts.refused : verdicts.lowered) += 1;
  }
  return verdicts;
}

TEST(GpuLegalityGolden, RefusesWhatJaxRefusesAndNothingElse) {
  const Verdicts verdicts = Compare("gpu_legality.txt");
  EXPECT_GT(verdicts.lowered, 80);
  EXPECT_GT(verdicts.refused, 80);
}

TEST(GpuLegalityGolden, SoWithLayoutsOfRegisters) {
  const Verdicts verdicts = Compare("layout_legality.txt");
  EXPECT_GT(verdicts.lowered, 250);
  EXPECT_GT(verdicts.refused, 250);
}

TEST(GpuLegalityGolden, SoWithCopiesOfBlackwell) {
  const Verdicts verdicts = Compare("copy_legality.txt");
  EXPECT_GT(verdicts.lowered, 80);
  EXPECT_GT(verdicts.refused, 80);
}

TEST(GpuLegalityGolden, RefusesWhatJaxRefusesOfBlackwellsTensorCores) {
  const Verdicts verdicts = Compare("blackwell_legality.txt");
  EXPECT_GT(verdicts.lowered, 1300);
  EXPECT_GT(verdicts.refused, 1500);
}

}  // namespace
}  // namespace palladion::legality
