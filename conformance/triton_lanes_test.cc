// Timelines of a Triton kernel (docs/guides/timeline.md#of-a-triton-kernel) leave nothing out: those of all SMs add up
// to what its report says of each line and of each class of stalls, for every case that has such a time.
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

#include "conformance/case_selection.h"
#include "conformance/checked_cases_test_util.h"
#include "emu/testing/triton_lanes_sum.h"

namespace palladion::conformance {
namespace {

TEST(TritonLanes, AddUpToTheReportOfEveryCase) {
  std::int64_t added_up = 0;
  const auto cases = SelectCases({}, PALLADION_SOURCE_DIR "/conformance/cases");
  ASSERT_TRUE(cases.ok()) << cases.status();
  for (const SelectedCase& selected : *cases) {
    const absl::StatusOr<Case>& test = selected.test;
    ASSERT_TRUE(test.ok()) << test.status();
    if (test->kernel.find("backend triton") == std::string::npos) continue;
    const std::string target = test->target.find('/') == std::string::npos ? "triton/h100" : test->target;
    const absl::StatusOr<PreparedKernel> kernel = PrepareText(test->kernel, {.target = target});
    if (!kernel.ok()) continue;
    const absl::StatusOr<std::vector<Tensor>> inputs = MakeInputs(*test, *kernel);
    ASSERT_TRUE(inputs.ok()) << inputs.status();
    const absl::StatusOr<std::string> lost = timing::LostOnTheLanes(test->kernel, target, *inputs);
    if (!lost.ok()) continue;
    EXPECT_EQ(*lost, "") << selected.name;
    ++added_up;
  }
  std::cout << added_up << " Triton kernels of the cases have timelines\n";
  EXPECT_GT(added_up, 20);
}

}  // namespace
}  // namespace palladion::conformance
