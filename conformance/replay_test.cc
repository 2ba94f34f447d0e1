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

// Of the kernel as it is checked; and of one whose every instruction can be observed, as `log` and `why` run it, where
// that is the same run. False: it is refused there.
bool ExpectOutputs(const CheckedCase& test, const CheckOptions& options, const std::vector<Tensor>& outputs) {
  bool refused = false;
  for (const bool observable : {false, true}) {
    const absl::StatusOr<PreparedKernel> kernel =
        PrepareText(test.text, {.target = test.kernel.target(), .observable = observable});
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    if (!kernel.ok()) continue;
    const auto replayed = check::ReplayedRun::Of(*kernel, test.inputs, options);
    refused |= observable && absl::IsUnimplemented(replayed.status());
    EXPECT_TRUE(replayed.ok() || refused) << test.name << ": " << replayed.status();
    if (!replayed.ok() || outputs.empty()) continue;
    const absl::StatusOr<RunResult> run = replayed->Run({});
    EXPECT_TRUE(run.ok()) << test.name << ": " << run.status();
    if (!run.ok()) continue;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      EXPECT_EQ(0, std::memcmp(outputs[i].bytes(), run->outputs[i].bytes(), outputs[i].num_bytes()))
          << test.name << ", output " << i << ", " << options.replay;
  }
  return !refused;
}

TEST(Replay, ShowsEachFindingOfACaseAsItsReportDoes) {
  std::int64_t replayed = 0, refused = 0;
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
      refused += ExpectOutputs(test, options, outputs) ? 0 : 1;
    }
  });
  std::cout << replayed << " findings replayed, " << refused << " of them not where instructions are observed\n";
  EXPECT_LT(refused, replayed / 4);
  EXPECT_GT(replayed, Rounds(100));
}

}  // namespace
}  // namespace palladion::conformance
