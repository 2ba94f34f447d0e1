#include "conformance/metamorphic/both_ways.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "conformance/metamorphic/checked_report.h"
#include "conformance/metamorphic/harmless.h"
#include "conformance/metamorphic/insertion.h"
#include "emu/check.h"
#include "emu/emulate.h"
#include "emu/testing/for_tests.h"
#include "semantics/base/cat.h"

namespace palladion::conformance {
namespace {

constexpr FindingCode kOfTasks[] = {FindingCode::kRaceWriteWrite, FindingCode::kRaceReadWrite, FindingCode::kSameValue,
                                    FindingCode::kGridOrder};

bool IsOfTasks(const ReportedFinding& finding) {
  return std::find(std::begin(kOfTasks), std::end(kOfTasks), finding.code) != std::end(kOfTasks);
}

std::string AccessLine(const std::optional<ReportedAccess>& access) {
  if (!access.has_value()) return "no access";
  return Cat(Name(access->kind), " of ", access->object, " by ", access->agent, " at line ", access->text_line);
}

// That outputs differ, and in which schedule, is a symptom, which may stand in the same entry.
std::string MessageOf(const ReportedFinding& finding) {
  return finding.message.substr(0, finding.message.find("; the results differ: "));
}

// Which of several undefined values arrives first, and which element is named, depends on the order.
std::string LineOf(const ReportedFinding& finding) {
  if (IsOfTasks(finding)) {
    return Cat(Name(finding.severity), " ", Code(finding.code), " at line ", finding.text_line, ": ",
               MessageOf(finding), "; ", AccessLine(finding.first), "; ", AccessLine(finding.second),
               "; why: ", finding.why, "; fix: ", finding.fix, "; confidence: ", Name(finding.confidence));
  }
  std::set<int> places{finding.text_line};
  if (finding.first.has_value()) places.insert(finding.first->text_line);
  if (finding.second.has_value()) places.insert(finding.second->text_line);
  return Cat(Name(finding.severity), " ", Code(finding.code), " at lines ", absl::StrJoin(places, ", "));
}

// Which schedule shows it is the schedule's: a difference of outputs, and data that a conflicting access reads before
// another task has written it. A report has these as symptoms of what is found (emu/front/reports/causes.h).
bool IsSymptom(const ReportedFinding& finding, const Report& report) {
  if (finding.code == FindingCode::kNondeterministic) return true;
  if (finding.code != FindingCode::kUninitialised || !finding.first.has_value()) return false;
  const auto reads = [&](const std::optional<ReportedAccess>& side) {
    return side.has_value() && side->object == finding.first->object && side->text_line == finding.first->text_line;
  };
  return std::any_of(report.findings.begin(), report.findings.end(), [&](const ReportedFinding& other) {
    return IsOfTasks(other) && (reads(other.first) || reads(other.second));
  });
}

std::set<std::string> LinesOf(const Report& report) {
  std::set<std::string> lines{Cat("verdict ", Name(report.verdict))};
  for (const ReportedFinding& finding : report.findings) {
    if (!IsSymptom(finding, report)) lines.insert(LineOf(finding));
  }
  return lines;
}

void Compare(const Report& in_order, const Report& by_policy, std::vector<std::string>& differences) {
  const std::set<std::string> before = LinesOf(in_order), after = LinesOf(by_policy);
  std::vector<std::string> lost, found;
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(lost));
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(found));
  for (const std::string& line : lost) differences.push_back(Cat("in order: ", line));
  for (const std::string& line : found) differences.push_back(Cat("by policy: ", line));
  const auto denied = [](const Report& report) {
    return std::any_of(report.facts.begin(), report.facts.end(),
                       [](const ReportedFact& fact) { return fact.fact == Fact::kNoConflict && !fact.shown; });
  };
  if (denied(in_order) != denied(by_policy)) differences.push_back("only one way has the fact no-conflict");
}

}  // namespace

BothWays RunBothWays(const Case& test) {
  BothWays both;
  const absl::StatusOr<std::string> text = CanonicalText(test.kernel);
  if (!text.ok() || test.launches > 1) return both;
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(*text, {.target = test.target});
  if (!kernel.ok()) return both;
  const check::OtherMode way = check::OtherModeOf(*kernel);
  if (way == check::OtherMode::kNone) return both;
  std::string other = *text;
  const bool cores = way == check::OtherMode::kAsCores;
  if (cores) {
    const absl::Span<const Harmless> all = AllHarmless();
    const auto semaphore =
        std::find_if(all.begin(), all.end(), [](const Harmless& row) { return row.name == "semaphore_scratch"; });
    const std::optional<Inserted> inserted = Insert(*text, *semaphore, kAtStart);
    if (!inserted.has_value()) return both;
    other = inserted->text;
  }
  const CheckedText in_order = CheckText(test, *text, 1), by_policy = CheckText(test, other, 1, /*by_policy=*/!cores);
  if (in_order.report.error.has_value() || by_policy.report.error.has_value()) return both;
  both.applies = true;
  both.conflicts =
      static_cast<int>(std::count_if(in_order.report.findings.begin(), in_order.report.findings.end(), IsOfTasks));
  Compare(in_order.report, by_policy.report, both.differences);
  return both;
}

}  // namespace palladion::conformance
