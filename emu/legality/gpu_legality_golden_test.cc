// The limits of GPU kernels against JAX: kernels over plgpu.Mesh that its lowering takes or refuses
// (conformance/golden/make_gpu_legality_golden.py).
#include <gtest/gtest.h>

#include <string>

#include "emu/checks/contracts.h"
#include "emu/legality/golden_kernels_test_util.h"
#include "semantics/ir/parser.h"

namespace palladion::legality {
namespace {

TEST(GpuLegalityGolden, RefusesWhatJaxRefusesAndNothingElse) {
  int lowered = 0, refused = 0;
  for (const GoldenKernel& golden : ReadGoldenKernels("gpu_legality.txt")) {
    const absl::StatusOr<Module> module = Parse(golden.text, golden.name);
    ASSERT_TRUE(module.ok()) << module.status() << "\n" << golden.text;
    const absl::StatusOr<Target> target = TargetFromName(golden.target);
    ASSERT_TRUE(target.ok()) << target.status();
    const std::vector<Finding> findings = checks::StaticFindingsOfParsed(module->kernels[0], *target);
    EXPECT_EQ(golden.verdict == "refused", !findings.empty())
        << golden.name << ": JAX " << golden.verdict << " it; found "
        << (findings.empty() ? "nothing" : findings[0].message) << "\n"
        << golden.text;
    (golden.verdict == "refused" ? refused : lowered) += 1;
  }
  EXPECT_GT(lowered, 80);
  EXPECT_GT(refused, 80);
}

}  // namespace
}  // namespace palladion::legality
