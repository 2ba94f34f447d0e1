#include "emu/front/reports/report_from_json.h"

#include <utility>
#include <vector>

#include "emu/front/reports/report_formats.h"
#include "emu/front/reports/report_view.h"
#include "nlohmann/json.hpp"
#include "semantics/base/cat.h"
#include "semantics/base/source_lines.h"

namespace palladion::reports {
namespace {

using Json = nlohmann::json;

std::string Text(const Json& object, const char* name) { return object.value(name, std::string()); }
bool Has(const Json& object, const char* name) { return object.contains(name) && !object.at(name).is_null(); }
const Json& List(const Json& object, const char* name) {
  static const Json& empty = *new Json(Json::array());
  return Has(object, name) ? object.at(name) : empty;
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
  return ReportedAccess{.kind = Text(access, "kind"),
                        .agent = Text(access, "agent"),
                        .object = Text(access, "object"),
                        .box = Text(access, "box"),
                        .source = Text(access, "source"),
                        .text_line = access.value("text_line", 0),
                        .frames = Frames(access)};
}

ReportedFinding OneFinding(const Json& finding) {
  return {.code = Text(finding, "code"),
          .severity = Text(finding, "severity"),
          .message = Text(finding, "message"),
          .rule = Text(finding, "rule"),
          .source = Text(finding, "source"),
          .text_line = finding.value("text_line", 0),
          .count = finding.value("count", std::int64_t{1}),
          .first = Access(finding, "first"),
          .second = Access(finding, "second"),
          .why = Text(finding, "why"),
          .fix = Text(finding, "fix"),
          .confidence = Text(finding, "confidence"),
          .replay = Text(finding, "replay"),
          .suppressed = Text(finding, "suppressed"),
          .frames = Frames(finding)};
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
    fidelity.rows.push_back(
        {Text(row, "name"), Text(row, "kind"), row.value("count", std::int64_t{0}), Text(row, "why")});
  for (const Json& reach : List(one, "reached"))
    fidelity.reached.push_back(
        {Text(reach, "what"), Text(reach, "words"), Text(reach, "source"), reach.value("text_line", 0), Frames(reach)});
  return fidelity;
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
  for (const Json& line : List(json, "printed")) report.printed.push_back(line.get<std::string>());
  report.checked = json.value("checked", true);
  report.proved = Text(json, "verdict") == "proved";
  report.strict = json.value("strict", false);
  report.schedules = json.value("schedules", std::int64_t{0});
  report.argument = Text(json, "argument");
  for (const Json& check : List(json, "checks"))
    report.checks.push_back({Text(check, "name"), check.value("times", std::int64_t{0})});
  for (const Json& part : List(json, "never_ran"))
    report.never_ran.push_back({Text(part, "what"), Text(part, "source"), part.value("text_line", 0), Frames(part)});
  for (const Json& unused : List(json, "unused_suppressions"))
    report.unused_suppressions.push_back(unused.get<std::string>());
  report.interrupted = json.value("interrupted", false);
  if (Has(json, "error"))
    report.error = ReportedError{Text(json.at("error"), "kind"), Text(json.at("error"), "message")};
  report.verdict = VerdictOf(report);
  return report;
}

ReportedCall Call(const Json& json) {
  ReportedCall call{.report = ReportOf(json.at("report")), .count = json.value("count", std::int64_t{1})};
  for (const Json& size : List(json, "grid")) call.grid.push_back(size.get<std::int64_t>());
  const Json& replay = List(json, "replay");
  if (replay.size() == 2) {
    call.replay_before = replay.at(0).get<std::string>();
    call.replay_after = replay.at(1).get<std::string>();
  }
  return call;
}

ReportDocument Document(const Json& json) {
  ReportDocument document{.calls = {}, .dropped = json.value("dropped", std::int64_t{0})};
  document.difference = Text(json, "difference");
  for (const Json& call : List(json, "calls")) document.calls.push_back(Call(call));
  return document;
}

SarifLog Sarif(const Json& request) {
  SarifLog log{.tests = {}, .root = Text(request, "root")};
  for (const Json& json : List(request, "tests")) {
    SarifTest test{.name = Text(json, "test"), .path = Text(json, "path")};
    for (const Json& code : List(json, "allow")) test.allowed.insert(code.get<std::string>());
    test.document = Document(json);
    log.tests.push_back(std::move(test));
  }
  return log;
}

// Lines of what is on no disk (a notebook's cells) come with the request.
class Lines {
 public:
  explicit Lines(const Json& request) : given_(Has(request, "lines") ? request.at("lines") : Json::object()) {}
  std::optional<std::string> Line(const std::string& file, int line) {
    const auto found = given_.find(file);
    if (found == given_.end()) return files_.Line(file, line);
    const std::string text = Text(*found, std::to_string(line).c_str());
    return text.empty() ? std::nullopt : std::optional<std::string>(text);
  }

 private:
  Json given_;
  SourceFiles files_;
};

absl::StatusOr<std::string> Form(const Json& request) {
  Lines lines(request);
  RenderOptions options{.python = true};
  options.source_line = [&lines](const std::string& file, int line) { return lines.Line(file, line); };
  const std::string kernel_text = Text(request, "text");
  options.kernel_text = kernel_text;
  options.kernel_path = Text(request, "path");
  for (const Json& code : List(request, "allow")) options.allowed.insert(code.get<std::string>());
  const std::string form = Text(request, "form");
  const ReportDocument document = Document(request);
  if (form == "sarif") return ToSarif(Sarif(request));
  if (form == "parts") return ReportViewJson(document, options);
  if (form != "text" && form != "findings" && form != "end")
    return absl::InvalidArgumentError(Cat("form must be text, findings, end, parts or sarif; found '", form, "'"));
  return ToText(document, options,
                {.color = request.value("color", false),
                 .width = request.value("width", TextLayout().width),
                 .findings = form != "end",
                 .end = form != "findings",
                 .details = request.value("details", false)});
}

}  // namespace

absl::StatusOr<std::string> RenderJson(std::string_view request) {
  try {
    return Form(Json::parse(request.begin(), request.end()));
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(Cat("not a report that can be rendered: ", error.what()));
  }
}

}  // namespace palladion::reports
