#include "emu/front/reports/report_reader.h"

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "emu/check/evidence.h"
#include "nlohmann/json.hpp"
#include "semantics/base/cat.h"
#include "semantics/base/finding.h"

namespace palladion::reports {
namespace {

using Json = nlohmann::json;

std::string Text(const Json& object, const char* name) { return object.value(name, std::string()); }
bool Has(const Json& object, const char* name) { return object.contains(name) && !object.at(name).is_null(); }

const Json& List(const Json& object, const char* name) {
  static const Json& empty = *new Json(Json::array());
  return Has(object, name) ? object.at(name) : empty;
}

// The value up to `last` that has the word of the member as its name.
template <class Enum, class NameOf>
Enum Word(const Json& object, const char* member, Enum last, const NameOf& name_of) {
  const auto word = object.at(member).get<std::string>();
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (name_of(static_cast<Enum>(i)) == word) return static_cast<Enum>(i);
  }
  throw std::invalid_argument(Cat("'", word, "' is no ", member, " of a report"));
}

template <class Enum>
Enum Word(const Json& object, const char* member, Enum last) {
  return Word(object, member, last, [](Enum value) { return Name(value); });
}

std::vector<std::string> Strings(const Json& object, const char* name) {
  std::vector<std::string> strings;
  for (const Json& one : List(object, name)) strings.push_back(one.get<std::string>());
  return strings;
}

std::vector<SourceFrame> Frames(const Json& of) {
  std::vector<SourceFrame> frames;
  for (const Json& frame : List(of, "frames"))
    frames.push_back({Text(frame, "file"), frame.value("line", 0), frame.value("column", 0), Text(frame, "function")});
  return frames;
}

std::optional<ReportedAccess> Access(const Json& finding, const char* name) {
  if (!Has(finding, name)) return std::nullopt;
  const Json& access = finding.at(name);
  return ReportedAccess{.kind = Word(access, "kind", AccessKind::kFree),
                        .agent = Text(access, "agent"),
                        .object = Text(access, "object"),
                        .box = Text(access, "box"),
                        .source = Text(access, "source"),
                        .text_line = access.value("text_line", 0),
                        .frames = Frames(access)};
}

std::vector<TextEdit> Edits(const Json& finding) {
  std::vector<TextEdit> edits;
  for (const Json& edit : List(finding, "edits"))
    edits.push_back({.where = Word(edit, "where", TextEdit::Where::kSet),
                     .line = edit.value("line", 0),
                     .insert = Strings(edit, "insert"),
                     .name = Text(edit, "name"),
                     .value = Text(edit, "value"),
                     .of = Text(edit, "of")});
  return edits;
}

ReportedFinding OneFinding(const Json& finding) {
  return {.code = Word(finding, "code", AllCodes().back().code, [](FindingCode code) { return Code(code); }),
          .severity = Word(finding, "severity", Severity::kDefect),
          .message = Text(finding, "message"),
          .source = Text(finding, "source"),
          .text_line = finding.value("text_line", 0),
          .count = finding.value("count", std::int64_t{1}),
          .first = Access(finding, "first"),
          .second = Access(finding, "second"),
          .why = Text(finding, "why"),
          .fix = Text(finding, "fix"),
          .confidence = Word(finding, "confidence", Confidence::kPolicyDependent),
          .replay = Text(finding, "replay"),
          .suppressed = Text(finding, "suppressed"),
          .frames = Frames(finding),
          .edits = Edits(finding),
          .suppressed_in_source = finding.value("suppressed_in_source", false)};
}

ReportedFact OneFact(const Json& fact) {
  return {Word(fact, "name", Fact::kEverySchedule, [](Fact one) { return check::RowOf(one).name; }),
          fact.at("shown").get<bool>(), Text(fact, "words")};
}

std::optional<ReportedFidelity> Fidelity(const Json& json) {
  if (!Has(json, "fidelity")) return std::nullopt;
  const Json& one = json.at("fidelity");
  ReportedFidelity fidelity{.exact = one.value("exact", std::int64_t{0}),
                            .approximate = one.value("approximate", std::int64_t{0}),
                            .refused = one.value("refused", std::int64_t{0}),
                            .rows = {},
                            .reached = {}};
  for (const Json& row : List(one, "operations"))
    fidelity.rows.push_back({Text(row, "name"), Word(row, "kind", FidelityKind::kExact),
                             row.value("count", std::int64_t{0}), Text(row, "why")});
  for (const Json& reach : List(one, "reached"))
    fidelity.reached.push_back(
        {Text(reach, "what"), Text(reach, "words"), Text(reach, "source"), reach.value("text_line", 0), Frames(reach)});
  return fidelity;
}

// What a check says besides.
void TakeCheck(const Json& json, Report& report) {
  report.checked = json.value("checked", true);
  report.proved = Text(json, "verdict") == Name(Verdict::kProved);
  report.strict = json.value("strict", false);
  report.schedules = json.value("schedules", std::int64_t{0});
  report.argument = Text(json, "argument");
  for (const Json& fact : List(json, "facts")) report.facts.push_back(OneFact(fact));
  for (const Json& check : List(json, "checks"))
    report.checks.push_back({Word(check, "name", CheckKind::kValues), check.value("times", std::int64_t{0})});
  for (const Json& part : List(json, "never_ran"))
    report.never_ran.push_back({Text(part, "what"), Text(part, "source"), part.value("text_line", 0), Frames(part)});
  report.unused_suppressions = Strings(json, "unused_suppressions");
  report.interrupted = json.value("interrupted", false);
}

Report ReportOf(const Json& json) {
  Report report{.kernel = Text(json, "kernel"),
                .target = Text(json, "target"),
                .programs = json.value("programs", std::int64_t{0}),
                .steps = json.value("steps", std::int64_t{0})};
  for (const Json& finding : List(json, "findings")) report.findings.push_back(OneFinding(finding));
  for (const Json& remark : List(json, "remarks"))
    report.remarks.push_back({Text(remark, "name"), Text(remark, "words"), Text(remark, "source"),
                              remark.value("text_line", 0), Frames(remark)});
  report.fidelity = Fidelity(json);
  report.printed = Strings(json, "printed");
  TakeCheck(json, report);
  if (Has(json, "error"))
    report.error = ReportedError{Word(json.at("error"), "kind", ExitCode::kBudget), Text(json.at("error"), "message")};
  report.verdict = VerdictOf(report);
  return report;
}

}  // namespace

absl::StatusOr<Report> ReadReport(std::string_view json) {
  try {
    return ReportOf(Json::parse(json.begin(), json.end()));
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(Cat("not a report: ", error.what()));
  } catch (const std::invalid_argument& error) {
    return absl::InvalidArgumentError(Cat("not a report: ", error.what()));
  }
}

}  // namespace palladion::reports
