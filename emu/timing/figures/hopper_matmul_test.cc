// The time of JAX's own Hopper matrix product, from its kernel text, against what was published:
// docs/explanation/time.md has the table. conformance/golden/make_hopper_matmul.py writes the texts.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "absl/strings/str_format.h"
#include "emu/timing/figures/figures_test_util.h"
#include "emu/timing/mosaic_gpu/kernels_test_util.h"

namespace palladion::timing::figures::test {
namespace {

struct Published {
  const char* kernel;
  const char* of_what;
  double microseconds;
};
constexpr Published kPublished[] = {
    {"1024x4096x4096, tiles of 128 x 128", "JAX's guide", 43},
    {"1024x4096x4096, tiles of 128 x 256", "JAX's guide", 43},
    {"4096x4096x4096, tiles of 128 x 256", "cuBLAS", 175.5},
};

TEST(HopperMatmul, ThePageShowsEachTimeWithItsError) {
  const std::string page = FileOf("docs/explanation/time.md");
  for (const Published& row : kPublished) {
    const mosaic_gpu::GpuRun run =
        mosaic_gpu::test::RunOf(TextOf("hopper_matmul.txt", row.kernel), mosaic_gpu::test::MachineNamed("h100"));
    const report::Timing& timing = run.timed.timing;
    const double found = timing.time.value() / 1000;
    const auto share = [&](std::size_t unit) { return timing.units[unit].busy * 100; };
    const std::string line = absl::StrFormat("| %s | %s, %.4g us | %.0f | %.1f us | %+.0f %% | %.0f %% | %.0f %% |",
                                             row.kernel, row.of_what, row.microseconds, timing.cycles.value(), found,
                                             (found / row.microseconds - 1) * 100, share(0), share(2));
    EXPECT_NE(page.find(line), std::string::npos) << "docs/explanation/time.md should have the line\n" << line;
    EXPECT_LE(std::abs(found / row.microseconds - 1), timing.uncertainty.value())
        << "the stated uncertainty is too small";
    EXPECT_EQ(timing.placement.units, 132);
  }
}

}  // namespace
}  // namespace palladion::timing::figures::test
