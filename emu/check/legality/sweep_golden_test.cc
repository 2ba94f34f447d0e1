// ILLEGAL against JAX: kernels of one operation each, by element type, rank and layout, which its lowerings for Triton,
// Mosaic GPU and Mosaic TPU take or refuse (conformance/golden/make_sweep_legality_golden.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "emu/check/contracts.h"
#include "emu/check/legality/golden_kernels_test_util.h"
#include "emu/emulate.h"

namespace palladion::legality {
namespace {

// What Triton's own compiler refuses, behind JAX's lowering (conformance/hardware): the one difference.
bool IsOfTritonsCompiler(const std::string& message) {
  return message.find("floats of 16 bits has no code on triton") != std::string::npos ||
         message.find("other integers than i32 has no code on triton") != std::string::npos;
}

struct Count {
  int lowered = 0, refused = 0;
};

TEST(SweepLegalityGolden, RefusesWhatJaxRefusesAndNothingElse) {
  std::map<std::string, Count> counts;
  int not_prepared = 0;
  for (const GoldenKernel& golden : ReadSweptKernels("sweep_legality.txt")) {
    const absl::StatusOr<PreparedKernel> kernel =
        PrepareText(golden.text, {.kernel = "", .target = golden.target, .path = ""});
    if (!kernel.ok()) {  // an operation that is not done for the type
      ++not_prepared;
      continue;
    }
    std::string found, others;
    for (const Finding& finding : check::StaticFindings(kernel->state()))
      (IsOfTritonsCompiler(finding.message) ? others : found) += finding.message + "\n";
    EXPECT_EQ(golden.verdict == "refused", !found.empty() || (golden.verdict == "refused" && !others.empty()))
        << golden.name << " on " << golden.target << ": JAX " << golden.verdict << " it; found "
        << (found.empty() ? "nothing" : found) << "\n"
        << golden.text;
    Count& count = counts[golden.target];
    (golden.verdict == "refused" ? count.refused : count.lowered) += 1;
  }
  EXPECT_LT(not_prepared, 10);
  const std::map<std::string, int> least = {{"triton/h100", 900}, {"mosaic_gpu/h100", 500}, {"mosaic_tpu/v5e", 700}};
  for (const auto& [target, kernels] : least) {
    EXPECT_GE(counts[target].lowered + counts[target].refused, kernels) << target;
    EXPECT_GT(counts[target].lowered, kernels / 4) << target;
    EXPECT_GT(counts[target].refused, kernels / 4) << target;
  }
}

}  // namespace
}  // namespace palladion::legality
