// Schedules without values (docs/checks.md#schedules-without-values) change no report: every case that is checked, with
// more schedules than it asks for, has the same report, bit for bit, whether they run without values or in full.
#include <gtest/gtest.h>

#include <atomic>
#include <iostream>
#include <string>

#include "conformance/case_file.h"
#include "conformance/case_runner.h"
#include "emu/check.h"

namespace palladion::conformance {
namespace {

std::string ReportOf(const PreparedKernel& kernel, const std::vector<Tensor>& inputs, const CheckOptions& options) {
  const absl::StatusOr<Report> report = Check(kernel, inputs, options);
  return report.ok() ? ToJson(*report) : report.status().ToString();
}

TEST(Elision, NoReportOfACaseChanges) {
  const auto paths = FindCases(PALLADION_SOURCE_DIR "/conformance/cases");
  ASSERT_TRUE(paths.ok()) << paths.status();
  std::atomic<std::int64_t> elided = 0;
  std::int64_t kernels = 0, some = 0;
  for (const std::string& path : *paths) {
    const absl::StatusOr<Case> test = ReadCase(path);
    ASSERT_TRUE(test.ok()) << test.status();
    if (!test->schedules.has_value()) continue;
    const absl::StatusOr<PreparedKernel> kernel = PrepareText(test->kernel, {.target = test->target});
    if (!kernel.ok()) continue;  // the case is of that
    const absl::StatusOr<std::vector<Tensor>> inputs = MakeInputs(*test, *kernel);
    ASSERT_TRUE(inputs.ok()) << inputs.status();
    CheckOptions options{.seeds = 13, .all_seeds = true, .threads = 1, .step_budget = std::int64_t{1} << 16};
    if (!test->proxy.empty()) options.proxy = test->proxy;
    options.elide = false;
    const std::string full = ReportOf(*kernel, *inputs, options);
    options.elide = true;
    options.elided = &elided;
    const std::int64_t before = elided;
    EXPECT_EQ(ReportOf(*kernel, *inputs, options), full) << path;
    ++kernels;
    some += elided > before;
  }
  // It is no empty claim.
  std::cout << kernels << " kernels, of which " << some << " have " << elided << " schedules without values\n";
  EXPECT_GT(some, 50);
}

}  // namespace
}  // namespace palladion::conformance
