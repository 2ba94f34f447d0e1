// ILLEGAL against JAX: kernels that its lowerings for TPU, Triton and Mosaic GPU take or refuse
// (conformance/golden/make_legality_golden.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "emu/check/contracts.h"
#include "emu/check/legality/golden_kernels_test_util.h"
#include "emu/emulate.h"

namespace palladion::legality {
namespace {

TEST(LegalityGolden, RefusesWhatJaxRefusesAndNothingElse) {
  const std::vector<GoldenKernel> kernels = ReadGoldenKernels("legality.txt");
  ASSERT_GT(kernels.size(), 150u);
  int lowered = 0, refused = 0;
  for (const GoldenKernel& golden : kernels) {
    const absl::StatusOr<PreparedKernel> kernel =
        PrepareText(golden.text, {.kernel = "", .target = golden.target, .path = ""});
    ASSERT_TRUE(kernel.ok()) << kernel.status() << "\n" << golden.name << "\n" << golden.text;
    const std::vector<Finding> findings = check::StaticFindings(kernel->state());
    const bool illegal =
        std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.code == FindingCode::kIllegal; });
    EXPECT_EQ(golden.verdict == "refused", illegal)
        << golden.name << " on " << golden.target << ": JAX " << golden.verdict << " it; found "
        << (findings.empty() ? "nothing" : findings[0].message) << "\n"
        << golden.text;
    (golden.verdict == "refused" ? refused : lowered) += 1;
  }
  EXPECT_GT(lowered, 70);
  EXPECT_GT(refused, 70);
}

}  // namespace
}  // namespace palladion::legality
