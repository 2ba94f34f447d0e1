// The schedule that a finding is printed with shows it again, and shows it as the report does: the same accesses in the
// same order. Of every case that is checked.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>

#include "conformance/checked_cases_test_util.h"

namespace palladion::conformance {
namespace {

bool SameSide(const std::optional<ReportedAccess>& a, const std::optional<ReportedAccess>& b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() == b.has_value();
  return a->text_line == b->text_line && a->kind == b->kind;
}

bool SameSides(const ReportedFinding& a, const ReportedFinding& b) {
  return a.code == b.code && SameSide(a.first, b.first) && SameSide(a.second, b.second);
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
      const absl::StatusOr<Report> again = Check(test.kernel, test.inputs, options);
      ASSERT_TRUE(again.ok()) << test.name << ": " << finding.replay << ": " << again.status();
      EXPECT_TRUE(std::any_of(again->findings.begin(), again->findings.end(),
                              [&](const ReportedFinding& shown) { return SameSides(shown, finding); }))
          << test.name << "\n"
          << ToText(*report) << "\n--- and replayed by " << finding.replay << "\n"
          << ToText(*again);
    }
  });
  std::cout << replayed << " findings replayed\n";
  EXPECT_GT(replayed, Rounds(100));
}

}  // namespace
}  // namespace palladion::conformance
