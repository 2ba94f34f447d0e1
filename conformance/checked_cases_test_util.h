// Every conformance case that is checked, for tests that hold two ways to check it against each other. What a case
// expects is conformance_run's to ask.
#ifndef PALLADION_CONFORMANCE_CHECKED_CASES_TEST_UTIL_H_
#define PALLADION_CONFORMANCE_CHECKED_CASES_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "conformance/case_file.h"
#include "conformance/case_runner.h"
#include "conformance/case_selection.h"
#include "emu/check.h"
#include "semantics/base/sanitized_test_util.h"

namespace palladion::conformance {

struct CheckedCase {
  const std::string& name;
  const std::string& text;
  const PreparedKernel& kernel;
  const std::vector<Tensor>& inputs;
  CheckOptions options;

  std::string Report(const CheckOptions& how) const {
    const absl::StatusOr<palladion::Report> report = Check(kernel, inputs, how);
    return report.ok() ? ToJson(*report) : report.status().ToString();
  }
};

// Calls visit(CheckedCase) for each; in a sanitized build for one of four, and Rounds(n) is how many of n to expect
// then. There each case has been checked as itself, so that its code has run; to check it once more in another way
// takes ten times what it does in the release build, which does it for all.
template <class Visit>
void VisitCheckedCases(const Visit& visit) {
  const auto cases = SelectCases({}, PALLADION_SOURCE_DIR "/conformance/cases");
  ASSERT_TRUE(cases.ok()) << cases.status();
  constexpr int kEvery = 4 / Rounds(4);
  int number = 0;
  for (const SelectedCase& selected : *cases) {
    const absl::StatusOr<Case>& test = selected.test;
    ASSERT_TRUE(test.ok()) << test.status();
    if (!test->schedules.has_value() || ++number % kEvery != 0) continue;
    const absl::StatusOr<PreparedKernel> kernel = PrepareText(test->kernel, {.target = test->target});
    if (!kernel.ok()) continue;  // the case is of that
    const absl::StatusOr<std::vector<Tensor>> inputs = MakeInputs(*test, *kernel);
    ASSERT_TRUE(inputs.ok()) << inputs.status();
    CheckOptions options{.seeds = 13, .all_seeds = true, .threads = 1, .step_budget = std::int64_t{1} << 16};
    if (test->proxy.has_value()) options.proxy = *test->proxy;
    visit(CheckedCase{selected.name, test->kernel, *kernel, *inputs, options});
  }
}

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_CHECKED_CASES_TEST_UTIL_H_
