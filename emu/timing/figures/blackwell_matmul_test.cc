// The time of Blackwell kernels: steps of JAX's tutorial against what was published: docs/explanation/time.md has the
// table. conformance/golden/make_blackwell_matmul.py writes the texts of the steps. This test computes two of the seven
// again: each takes seconds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "absl/strings/str_format.h"
#include "emu/chip/layouts/bank_conflicts.h"
#include "emu/run/watch/observed.h"
#include "emu/timing/figures/figures_test_util.h"
#include "emu/timing/gpu/registers.h"
#include "emu/timing/mosaic_gpu/kernels_test_util.h"

namespace palladion::timing::figures::test {
namespace {

using gpu::RegisterNeed;
using mosaic_gpu::test::Prepared;
using report::Timing;

constexpr double kLeastMicroseconds = 2.0 * 4096 * 8192 * 4096 / 2250e6;  // at 2250 TFLOP/s

double Percent(const Timing& timing) { return 100 * kLeastMicroseconds / (timing.time.value() / 1000); }

Timing TimeOfStep(const std::string& step, const std::string& clock) {
  return mosaic_gpu::test::RunOf(TextOf("blackwell_matmul.txt", step),
                                 mosaic_gpu::test::MachineNamed("b200", {"clock.short=" + clock}))
      .timed.timing;
}

// JAX's page, as shares of 2250 TFLOP/s.
TEST(BlackwellMatmul, ThePageShowsStepsWithTheirErrors) {
  const std::string page = FileOf("docs/explanation/time.md");
  for (const auto& [step, name, published] : {std::tuple{0, "basic", 37.62}, std::tuple{3, "collective", 59.41}}) {
    const Timing timing = TimeOfStep(name, "1.304 GHz");
    const double found = Percent(timing);
    const std::string line =
        absl::StrFormat("| %d %s | %.1f %% | %.0f | %.0f us | %.1f %% | %+.1f |", step, name, published,
                        timing.cycles.value(), timing.time.value() / 1000, found, found - published);
    EXPECT_NE(page.find(line), std::string::npos) << "docs/explanation/time.md should have the line\n" << line;
    // Registers that spill take a time that the model leaves out.
    ASSERT_EQ(timing.uncertainty.has_value(), step != 0);
    if (step != 0) {
      EXPECT_LE(std::abs(found / published - 1), *timing.uncertainty) << "the stated uncertainty is too small";
    }
    EXPECT_EQ(timing.placement.units, 148);
    ASSERT_GT(timing.units.size(), 6U);
    EXPECT_EQ(timing.units[6].unit, "tensor memory reads");
    EXPECT_NE(std::find(timing.left_out.begin(), timing.left_out.end(),
                        "the latency of tensor memory, which is not published"),
              timing.left_out.end());
  }
}

// docs/explanation/time.md says so.
TEST(BlackwellMatmul, NoStoreOfTheStepsHasBankConflicts) {
  for (const char* step : {"basic", "warp specialised", "tiled epilogue", "collective", "persistent",
                           "epilogue warpgroup", "grid tiling"}) {
    const PreparedKernel kernel = Prepared(TextOf("blackwell_matmul.txt", step), "mosaic_gpu/b200");
    const auto transfers = layouts::SharedTransfersOf(kernel.state().text(), 32);
    EXPECT_FALSE(transfers.empty()) << step;
    for (const auto& [instr, transfer] : transfers)
      EXPECT_EQ(transfer.turns, transfer.least) << step << ", line " << instr->text_line;
  }
}

RegisterNeed RegistersOfStep(const std::string& step) {
  const PreparedKernel kernel = Prepared(TextOf("blackwell_matmul.txt", step), "mosaic_gpu/b200");
  return gpu::RegistersOf(kernel.state().text(), 1, {});
}

// docs/explanation/time.md says so: the first two steps of the tutorial hold a tile of 128 x 256 in registers.
TEST(BlackwellMatmul, AWholeTileOfTheTutorialSpills) {
  for (const char* step : {"basic", "warp specialised"}) {
    const RegisterNeed need = RegistersOfStep(step);
    EXPECT_GT(need.spilled, 0) << step;
    EXPECT_LE(need.spilled, 16) << step;
  }
  for (const char* step : {"tiled epilogue", "collective", "persistent"})
    EXPECT_EQ(RegistersOfStep(step).spilled, 0) << step;
}

// The step with the largest error, at the clock that is the default of reports.
TEST(BlackwellMatmul, TheStatedUncertaintyHoldsAtTheHighestClock) {
  const Timing timing = TimeOfStep("epilogue warpgroup", "1.85 GHz");
  const double longer = Percent(timing) / 63.38 - 1;  // than reported, as a share of the reported time
  EXPECT_LE(longer, timing.uncertainty.value());
  EXPECT_GE(longer, timing.uncertainty.value() - 0.02) << "it is stated too large";
}

}  // namespace
}  // namespace palladion::timing::figures::test
