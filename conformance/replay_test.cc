// The schedule that a finding is printed with shows it again, and shows it as the report does: the same accesses in the
// same order; and one run of that schedule, as `palladion run --replay` makes it, gives the outputs of that check. Of
// every case that is checked.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "conformance/checked_cases_test_util.h"
#include "emu/testing/replayed_run.h"

namespace palladion::conformance {
namespace {

bool SameSide(const std::optional<ReportedAccess>& a, const std::optional<ReportedAccess>& b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() == b.has_value();
  return a->text_line == b->text_line && a->kind == b->kind;
}

bool SameSides(const ReportedFinding& a, const ReportedFinding& b) {
  return a.code == b.code && SameSide(a.first, b.first) && SameSide(a.second, b.second);
}

// Of a kernel whose every instruction can be observed, as `log` and `why` run it.
void ExpectOutputs(const CheckedCase& test, const CheckOptions& options, const std::vector<Tensor>& outputs) {
  const absl::StatusOr<PreparedKernel> kernel =
      PrepareText(test.text, {.target = test.kernel.target(), .observable = true});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const auto replayed = check::ReplayedRun::Of(*kernel, test.inputs, options);
  ASSERT_TRUE(replayed.ok()) << test.name << ": " << replayed.status();
  const absl::StatusOr<RunResult> run = replayed->Run({});
  if (outputs.empty()) return;  // it does not come to its end
  ASSERT_TRUE(run.ok()) << test.name << ": " << run.status();
  ASSERT_EQ(outputs.size(), run->outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    EXPECT_EQ(0, std::memcmp(outputs[i].bytes(), run->outputs[i].bytes(), outputs[i].num_bytes()))
        << test.name << ", output " << i << ", " << options.replay;
}

TEST(Replay, ShowsEachFindingOfACaseAsItsReportDoes) {
  std::int64_t replayed = 0;
  VisitCheckedCases([&](const CheckedCase& test) {
    const absl::StatusOr<Report> report = Check(test.kernel, test.inputs, test.options);
    if (!report.ok()) return;
    for (const ReportedFinding& finding : report->findings) {
      if (finding.replay.empty() || !finding.first.has_value() || !finding.second.has_value()) continue;
      ++replayed;
      CheckOptions options = test.options;
      options.replay = finding.replay;
      std::vector<Tensor> outputs;
      const absl::StatusOr<Report> again = Check(test.kernel, test.inputs, options, &outputs);
      ASSERT_TRUE(again.ok()) << test.name << ": " << finding.replay << ": " << again.status();
      EXPECT_TRUE(std::any_of(again->findings.begin(), again->findings.end(),
                              [&](const ReportedFinding& shown) { return SameSides(shown, finding); }))
          << test.name << "\n"
          << ToText(*report) << "\n--- and replayed by " << finding.replay << "\n"
          << ToText(*again);
      ExpectOutputs(test, options, outputs);
    }
  });
  std::cout << replayed << " findings replayed\n";
  EXPECT_GT(replayed, 100);
}

}  // namespace
}  // namespace palladion::conformance
