#include <algorithm>
#include <cctype>
#include <map>

#include "emu/front/reports/causes.h"
#include "emu/front/reports/finding_link.h"
#include "emu/front/reports/report_formats.h"
#include "emu/front/reports/text_replacements.h"
#include "semantics/base/cat.h"
#include "semantics/base/escapes.h"
#include "semantics/base/finding.h"
#include "semantics/base/json.h"

namespace palladion::reports {
namespace {

constexpr std::string_view kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
constexpr std::string_view kSourceRoot = "%SRCROOT%";
constexpr std::int64_t kNoId = -1;

std::string AccessText(int number, const ReportedAccess& access) { return Cat("(", number, ") ", TextOf(access)); }

// A finding of one test or of several: the same one is one result.
struct Result {
  const SarifTest* test;
  const ReportedCall* call;
  const ReportedFinding* finding;
  std::string fingerprint;
  bool is_symptom = false;
  std::int64_t count = 0;
  std::vector<std::string> tests = {};
};

class SarifWriter {
 public:
  explicit SarifWriter(const SarifLog& log) : log_(log) {
    for (const SarifTest& test : log_.tests) {
      for (const ReportedCall& call : test.document.calls) Collect(test, call);
    }
  }

  std::string Write() {
    json_.Open('{').Key("$schema").String(kSchema).Key("version").String("2.1.0").Key("runs").Open('[').Open('{');
    json_.Key("tool").Open('{').Key("driver").Open('{');
    json_.Key("name").String("palladion").Key("version").String(PALLADION_VERSION);
    json_.Key("rules").Open('[');
    for (const CodeRow& row : AllCodes()) Rule(row);
    json_.Close(']').Close('}').Close('}');
    json_.Key("columnKind").String("utf16CodeUnits");
    json_.Key("originalUriBaseIds").Open('{').Key(kSourceRoot).Open('{');
    Message("description", "The folder that the check was started in; of tests, pytest's root folder.");
    json_.Close('}').Close('}');
    Invocation();
    json_.Key("results").Open('[');
    for (const Result& result : results_) Write(result);
    json_.Close(']');
    if (log_.tests.size() == 1 && log_.tests[0].name.empty() && log_.tests[0].document.calls.size() == 1)
      Properties(log_.tests[0].document.calls[0].report);
    json_.Close('}').Close(']').Close('}');
    return json_.Take() + "\n";
  }

 private:
  void Collect(const SarifTest& test, const ReportedCall& call) {
    const std::vector<std::string> prints = Fingerprints(call.report);
    const std::vector<std::optional<std::size_t>> causes = CausesOf(call.report);
    for (std::size_t i = 0; i < call.report.findings.size(); ++i) {
      const ReportedFinding& finding = call.report.findings[i];
      const bool suppressed = !finding.suppressed.empty() || test.allowed.count(finding.code) > 0;
      const auto [file, line] = PlaceOf(finding.frames, finding.text_line, test.path);
      const auto [place, is_new] =
          known_.try_emplace(Cat(prints[i], "\n", file, "\n", line, "\n", suppressed), results_.size());
      if (is_new) results_.push_back({&test, &call, &finding, prints[i], causes[i].has_value()});
      Result& result = results_[place->second];
      result.count += std::max<std::int64_t>(1, finding.count) * call.count;
      if (!test.name.empty() && (result.tests.empty() || result.tests.back() != test.name))
        result.tests.push_back(test.name);
    }
  }

  void Message(std::string_view key, std::string_view text) {
    json_.Key(key).Open('{').Key("text").String(text).Close('}');
  }

  void Rule(const CodeRow& row) {
    json_.Open('{').Key("id").String(row.name);
    Message("shortDescription", row.rule);
    Message("help", Cat("palladion explain ", row.name, ", or ", LinkOf(row.code)));
    json_.Key("helpUri").String(HelpUriOf(row.code));
    json_.Key("defaultConfiguration").Open('{').Key("level").String(WordOf(row.severity)).Close('}').Close('}');
  }

  void Properties(const Report& report) {
    json_.Key("properties").Open('{').Key("verdict").String(Name(VerdictOf(report)));
    json_.Key("kernel").String(report.kernel).Key("target").String(report.target);
    json_.Key("schedules").Number(report.schedules).Key("argument").String(report.argument).Close('}');
  }

  void Notification(std::string_view level, std::string_view text) {
    json_.Open('{').Key("level").String(level);
    Message("message", text);
    json_.Close('}');
  }

  void Invocation() {
    bool successful = true;
    for (const SarifTest& test : log_.tests) {
      for (const ReportedCall& call : test.document.calls) successful &= !call.report.error.has_value();
    }
    json_.Key("invocations").Open('[').Open('{').Key("executionSuccessful").Bool(successful);
    if (log_.exit_code.has_value()) json_.Key("exitCode").Number(*log_.exit_code);
    json_.Key("toolExecutionNotifications").Open('[');
    for (const SarifTest& test : log_.tests) {
      for (const ReportedCall& call : test.document.calls) Notifications(test, call.report);
      if (test.document.dropped > 0)
        Notification("warning",
                     Cat(test.name, ": ", test.document.dropped, " kernel calls had no room for their reports"));
    }
    json_.Close(']').Close('}').Close(']');
  }

  void Notifications(const SarifTest& test, const Report& report) {
    const std::string whose = test.name.empty() ? "" : Cat(test.name, ": kernel @", report.kernel, ": ");
    if (report.error.has_value())
      Notification("error", Cat(whose, Name(report.error->kind), ": ", report.error->message));
    if (report.interrupted) Notification("warning", whose + "stopped before all schedules had run");
    for (const ReportedRemark& remark : report.remarks)
      Notification("note", Cat(whose, LineOf(remark, {.kernel_path = test.name.empty() ? test.path : ""})));
    for (const NeverRan& part : report.never_ran)
      Notification("note", Cat(whose, "did not run in program order: ", part.what, part.source.empty() ? "" : " at ",
                               part.source));
    for (const std::string& unused : report.unused_suppressions)
      Notification("warning", Cat(whose, "unused suppression: ", unused));
  }

  void Write(const Result& result) {
    const ReportedFinding& finding = *result.finding;
    path_ = result.test->path;
    json_.Open('{').Key("ruleId").String(Code(finding.code));
    json_.Key("ruleIndex").Number(static_cast<std::int64_t>(finding.code));
    json_.Key("level").String(WordOf(finding.severity));
    Message("message", finding.message + (finding.why.empty() ? "" : "\nWhy: " + finding.why) +
                           (finding.fix.empty() ? "" : "\nFix: " + finding.fix));
    json_.Key("locations").Open('[');
    Location(finding.frames, finding.text_line, kNoId, "");
    json_.Close(']');
    RelatedLocations(finding);
    CodeFlows(finding);
    json_.Key("occurrenceCount").Number(result.count);
    json_.Key("partialFingerprints").Open('{').Key("palladion/v1").String(result.fingerprint).Close('}');
    Suppression(result);
    Fixes(result);
    json_.Key("properties").Open('{').Key("confidence").String(Name(finding.confidence));
    json_.Key("fix").String(finding.fix).Key("replay").String(finding.replay);
    json_.Key("kernel").String(result.call->report.kernel).Key("target").String(result.call->report.target);
    if (!result.tests.empty()) {
      json_.Key("tests").Open('[');
      for (const std::string& test : result.tests) json_.String(test);
      json_.Close(']');
    }
    json_.Close('}').Close('}');
  }

  // The change of the kernel text, where that is the user's file: a text that was exported from Python is not, and a
  // change in it would be lost. A symptom goes with its cause's.
  void Fixes(const Result& result) {
    const ReportedFinding& finding = *result.finding;
    if (result.test->text.empty() || !finding.frames.empty() || result.is_symptom) return;
    const std::vector<TextReplacement> replacements = ReplacementsOf(result.test->text, finding.edits);
    if (replacements.empty()) return;
    json_.Key("fixes").Open('[').Open('{');
    Message("description", finding.fix);
    json_.Key("artifactChanges").Open('[').Open('{').Key("artifactLocation").Open('{');
    Artifact(path_);
    json_.Close('}').Key("replacements").Open('[');
    for (const TextReplacement& one : replacements) {
      json_.Open('{').Key("deletedRegion").Open('{').Key("startLine").Number(one.first).Key("startColumn").Number(1);
      json_.Key("endLine").Number(one.past).Key("endColumn").Number(1).Close('}');
      if (!one.inserted.empty()) json_.Key("insertedContent").Open('{').Key("text").String(one.inserted).Close('}');
      json_.Close('}');
    }
    json_.Close(']').Close('}').Close(']').Close('}').Close(']');
  }

  void Suppression(const Result& result) {
    const bool allowed = result.test->allowed.count(result.finding->code) > 0;
    if (result.finding->suppressed.empty() && !allowed) return;
    json_.Key("suppressions").Open('[').Open('{').Key("kind");
    if (!result.finding->suppressed.empty()) {
      json_.String(result.finding->suppressed_in_source ? "inSource" : "external");
      json_.Key("justification").String(result.finding->suppressed);
    } else {
      json_.String("inSource").Key("justification");
      json_.String(Cat("the marker palladion of ", result.test->name, " allows it"));
    }
    json_.Close('}').Close(']');
  }

  void RelatedLocations(const ReportedFinding& finding) {
    json_.Key("relatedLocations").Open('[');
    std::int64_t id = 0;
    for (const std::optional<ReportedAccess>* access : {&finding.first, &finding.second}) {
      ++id;
      if (access->has_value())
        Location((*access)->frames, (*access)->text_line, id, AccessText(static_cast<int>(id), **access));
    }
    for (std::size_t i = 0; i < finding.frames.size(); ++i) {
      if (i != UserFrame(finding.frames))
        Location({finding.frames[i]}, 0, 3 + static_cast<std::int64_t>(i),
                 i < UserFrame(finding.frames) ? "called inside of it" : "called from here");
    }
    json_.Close(']');
  }

  // Who did what: each side is a thread that comes from its callers to its access.
  void CodeFlows(const ReportedFinding& finding) {
    if (!finding.first.has_value() && !finding.second.has_value()) return;
    json_.Key("codeFlows").Open('[').Open('{');
    Message("message", finding.message);
    json_.Key("threadFlows").Open('[');
    int number = 0;
    for (const std::optional<ReportedAccess>* side : {&finding.first, &finding.second}) {
      ++number;
      if (!side->has_value()) continue;
      const ReportedAccess& access = **side;
      json_.Open('{').Key("id").String(Cat(number));
      Message("message", access.agent.empty() ? AccessText(number, access) : access.agent);
      json_.Key("locations").Open('[');
      for (std::size_t i = access.frames.size(); i > 1; --i)
        FlowLocation({access.frames[i - 1]}, 0, access.frames.size() - i, "calls");
      FlowLocation(access.frames, access.text_line, access.frames.empty() ? 0 : access.frames.size() - 1,
                   AccessText(number, access), number);
      json_.Close(']').Close('}');
    }
    json_.Close(']').Close('}').Close(']');
  }

  void FlowLocation(const std::vector<SourceFrame>& frames, int text_line, std::size_t nesting,
                    std::string_view message, int order = 0) {
    json_.Open('{').Key("location");
    Location(frames, text_line, kNoId, message, /*innermost=*/true);
    json_.Key("nestingLevel").Number(static_cast<std::int64_t>(nesting));
    if (order > 0) json_.Key("executionOrder").Number(order).Key("importance").String("essential");
    json_.Close('}');
  }

  std::pair<std::string, int> PlaceOf(const std::vector<SourceFrame>& frames, int text_line,
                                      const std::string& path) const {
    if (frames.empty()) return {path, log_.tests[0].name.empty() ? text_line : 0};
    const SourceFrame& frame = frames[UserFrame(frames)];
    return {frame.file, frame.line};
  }

  // The user's frame, else the line of the kernel text, else the kernel text or the test's file.
  void Location(const std::vector<SourceFrame>& frames, int text_line, std::int64_t id, std::string_view message,
                bool innermost = false) {
    const SourceFrame* frame = frames.empty() ? nullptr : &frames[innermost ? 0 : UserFrame(frames)];
    json_.Open('{');
    if (id != kNoId) json_.Key("id").Number(id);
    json_.Key("physicalLocation").Open('{').Key("artifactLocation").Open('{');
    Artifact(frame == nullptr ? path_ : frame->file);
    json_.Close('}');
    const int line = frame == nullptr ? PlaceOf(frames, text_line, path_).second : frame->line;
    if (line > 0) {
      json_.Key("region").Open('{').Key("startLine").Number(line);
      if (frame != nullptr && frame->column > 0) json_.Key("startColumn").Number(frame->column);
      json_.Close('}');
    }
    json_.Close('}');
    if (frame != nullptr && !frame->function.empty()) {
      json_.Key("logicalLocations").Open('[').Open('{').Key("name").String(frame->function);
      json_.Key("kind").String("function").Close('}').Close(']');
    }
    if (!message.empty()) Message("message", message);
    json_.Close('}');
  }

  // What is below the root is named from there.
  void Artifact(std::string_view path) {
    const std::string root = log_.root.empty() || log_.root.back() == '/' ? log_.root : log_.root + "/";
    if (!root.empty() && path.substr(0, root.size()) == root) path.remove_prefix(root.size());
    while (path.substr(0, 2) == "./") path.remove_prefix(2);
    json_.Key("uri").String(UriOf(path));
    if (path.empty() || path[0] != '/') json_.Key("uriBaseId").String(kSourceRoot);
  }

  const SarifLog& log_;
  std::vector<Result> results_;
  std::map<std::string, std::size_t> known_;
  std::string path_;
  JsonWriter json_;
};

}  // namespace

std::string ToSarif(const SarifLog& log) { return SarifWriter(log).Write(); }

std::string ToSarif(const Report& report, const KernelTextFile& file, const std::string& root) {
  SarifLog log{.tests = {}, .root = root, .exit_code = static_cast<int>(ExitCodeOf(report))};
  log.tests.push_back({.name = "", .path = file.path});
  log.tests[0].text = file.text;
  log.tests[0].document.calls.push_back({.report = report});
  return ToSarif(log);
}

}  // namespace palladion::reports
