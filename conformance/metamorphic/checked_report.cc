#include "conformance/metamorphic/checked_report.h"

#include <algorithm>
#include <iterator>
#include <regex>
#include <utility>

#include "absl/strings/str_join.h"
#include "conformance/case_runner.h"
#include "emu/check.h"
#include "emu/emulate.h"
#include "emu/session.h"
#include "emu/testing/for_tests.h"
#include "semantics/base/cat.h"

namespace palladion::conformance {
namespace {

// Of a case that runs once.
constexpr std::int64_t kSeeds = 8;

// A harmless operation takes a part of a budget.
constexpr std::int64_t kBudgets = 16;

CheckedText Refused(Report report) {
  CheckedText checked{.report = std::move(report)};
  checked.exit_code = static_cast<int>(ExitCodeOf(checked.report));
  return checked;
}

// Operations are numbered as they come ("DMA #3 issued by the core"), and a TPU's kernel with a semaphore runs as
// cores, not as programs, which is seen in the names alone. What a harmless operation takes of a memory is part of what
// is taken.
std::string WithoutNumbers(std::string text) {
  static const std::regex* const kNumber = new std::regex(" #[0-9]+|[0-9]+ of its [0-9]+ bytes");
  static const std::regex* const kCore =
      new std::regex("the core( from program \\([^)]*\\) on)?|(the )?program( \\([^)]*\\))?");
  return std::regex_replace(std::regex_replace(std::move(text), *kNumber, ""), *kCore, "program");
}

std::string AccessLine(const std::optional<ReportedAccess>& access) {
  if (!access.has_value()) return "";
  return Cat("; ", Name(access->kind), " by ", access->agent, " of ", access->object, access->box, " at line ",
             access->text_line, " ", access->source);
}

// All of a finding but how often it was and how it is seen again, which count schedules. Which of two accesses came
// first does, too, and so does what a message says of both, or of the values of two schedules.
std::string FindingLine(const ReportedFinding& finding) {
  if (finding.code == FindingCode::kNondeterministic)
    return Cat("NONDET of ", finding.first.has_value() ? finding.first->object : "");
  const bool two = finding.first.has_value() && finding.second.has_value();
  const auto [low, high] = std::minmax({AccessLine(finding.first), AccessLine(finding.second)});
  const std::string message =
      two ? ""
          : Cat(" at line ", finding.text_line, " ", finding.source, ": ", finding.message, "; fix: ", finding.fix);
  return WithoutNumbers(Cat(Name(finding.severity), " ", Code(finding.code), message, low, high,
                            "; confidence: ", Name(finding.confidence)));
}

// Of a kernel whose schedules differ: the places alone. The thread, the element and the undefined value in the
// report depend on the schedule that met them first, and NONDET beside another defect is an effect of that.
std::string PlacesLine(const ReportedFinding& finding) {
  std::set<int> places{finding.text_line};
  if (finding.first.has_value()) places.insert(finding.first->text_line);
  if (finding.second.has_value()) places.insert(finding.second->text_line);
  return Cat(Name(finding.severity), " ", Code(finding.code), " at lines ", absl::StrJoin(places, ", "));
}

std::multiset<std::string> SeveritiesOf(const Report& report, std::string_view code) {
  std::multiset<std::string> severities;
  for (const ReportedFinding& finding : report.findings) {
    if (Code(finding.code) == code) severities.insert(std::string(Name(finding.severity)));
  }
  return severities;
}

using Lines = std::multiset<std::string>;

// What a harmless operation takes of a chip's memory is its own, so whether there is enough does not depend on the
// kernel.
Lines FindingLines(const Report& report, bool places_alone) {
  Lines lines;
  for (const ReportedFinding& finding : report.findings) {
    if (finding.code == FindingCode::kCapacity || (places_alone && finding.code == FindingCode::kNondeterministic))
      continue;
    lines.insert(places_alone ? PlacesLine(finding) : FindingLine(finding));
  }
  return lines;
}

bool HasDefect(const Report& report) {
  return std::any_of(report.findings.begin(), report.findings.end(), [](const ReportedFinding& finding) {
    return finding.severity == Severity::kDefect && finding.code != FindingCode::kNondeterministic;
  });
}

Lines NeverRanLines(const Report& report, const std::set<int>& without) {
  Lines lines;
  for (const NeverRan& part : report.never_ran) {
    if (!without.contains(part.text_line)) lines.insert(Cat("never ran: ", part.what, " at line ", part.text_line));
  }
  return lines;
}

void Compare(const Lines& before, const Lines& after, std::vector<std::string>& differences) {
  std::vector<std::string> lost, found;
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(lost));
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(found));
  for (const std::string& line : lost) differences.push_back(Cat("- ", line));
  for (const std::string& line : found) differences.push_back(Cat("+ ", line));
}

// One of the facts that `denies` names is missing.
bool Lacks(const Report& report, absl::Span<const Fact> denies) {
  return std::any_of(report.facts.begin(), report.facts.end(), [&](const ReportedFact& fact) {
    return !fact.shown && std::find(denies.begin(), denies.end(), fact.fact) != denies.end();
  });
}

std::string MissingFacts(const Report& report) {
  std::string missing;
  for (const ReportedFact& fact : report.facts) {
    if (!fact.shown) Append(&missing, missing.empty() ? "" : "; ", fact.words);
  }
  return missing;
}

void CompareVerdicts(const Report& before, const Report& after, absl::Span<const Fact> denies,
                     std::vector<std::string>& differences) {
  if (SeveritiesOf(before, "CAPACITY") != SeveritiesOf(after, "CAPACITY") || before.verdict == after.verdict) return;
  const bool denied =
      before.verdict == Verdict::kProved && after.verdict == Verdict::kClean && !denies.empty() && Lacks(after, denies);
  if (denied) return;
  differences.push_back(Cat("verdict ", Name(before.verdict), " [", MissingFacts(before), "] -> ", Name(after.verdict),
                            " [", MissingFacts(after), "]"));
}

std::string ErrorLine(const Report& report) {
  return report.error.has_value() ? Cat(Name(report.error->kind), ": ", report.error->message) : "";
}

}  // namespace

CheckedText CheckText(const Case& test, const std::string& text, std::int64_t factor, bool by_policy) {
  const PrepareOptions prepare{.target = test.target};
  const absl::StatusOr<PreparedKernel> kernel =
      test.launches > 1 ? PrepareLaunches(text, test.launches, prepare) : PrepareText(text, prepare);
  if (!kernel.ok()) return Refused(ReportOfRefused(kernel.status(), text, prepare));
  const absl::StatusOr<std::vector<Tensor>> inputs = MakeInputs(test, *kernel);
  if (!inputs.ok()) return Refused(ErrorReport(inputs.status(), kernel->name(), kernel->target()));
  CheckOptions options{.seeds = test.schedules.value_or(kSeeds) * factor, .threads = 1};
  const check::ForTests how{.by_policy = by_policy};
  options.for_tests = &how;
  options.all_seeds = by_policy;
  if (test.proxy.has_value()) options.proxy = *test.proxy;
  if (test.links.has_value()) options.links = *test.links;
  if (test.budget.has_value()) options.SetBudget(*test.budget * kBudgets);
  CheckedText checked;
  absl::StatusOr<Report> report = Check(*kernel, *inputs, options, &checked.outputs);
  if (!report.ok()) return Refused(ErrorReport(report.status(), kernel->name(), kernel->target()));
  checked.report = *std::move(report);
  checked.exit_code = static_cast<int>(ExitCodeOf(checked.report));
  checked.tried = checked.report.schedules > 1;
  return checked;
}

bool HasConflict(const CheckedText& checked) { return Lacks(checked.report, {Fact::kNoConflict}); }

std::vector<std::string> Differences(const CheckedText& before, const CheckedText& after, absl::Span<const Fact> denies,
                                     const std::set<int>& lines) {
  std::vector<std::string> differences;
  CompareVerdicts(before.report, after.report, denies, differences);
  const bool by_chance = before.tried && after.tried && HasDefect(before.report) && HasDefect(after.report);
  Compare(FindingLines(before.report, by_chance), FindingLines(after.report, by_chance), differences);
  Compare(NeverRanLines(before.report, lines), NeverRanLines(after.report, lines), differences);
  Compare({ErrorLine(before.report)}, {ErrorLine(after.report)}, differences);
  if (before.report.printed != after.report.printed) differences.push_back("it prints something else");
  if (before.outputs.size() != after.outputs.size()) {
    differences.push_back(Cat(before.outputs.size(), " outputs -> ", after.outputs.size()));
    return differences;
  }
  if (by_chance) return differences;
  for (std::size_t i = 0; i < before.outputs.size(); ++i) {
    if (!before.outputs[i].BitwiseEquals(after.outputs[i]))
      differences.push_back(Cat("output ", i, " has other bytes"));
  }
  return differences;
}

}  // namespace palladion::conformance
