#include <algorithm>
#include <cctype>

#include "emu/reports/json.h"
#include "emu/reports/report_formats.h"
#include "semantics/base/cat.h"
#include "semantics/base/finding.h"

namespace palladion {
namespace {

constexpr std::string_view kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

// A path as a URI reference (RFC 3986): absolute ones get the scheme.
std::string UriOf(std::string_view path) {
  std::string uri = !path.empty() && path[0] == '/' ? "file://" : "";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::string_view("-._~/").find(c) != std::string_view::npos) {
      uri += c;
    } else {
      constexpr std::string_view kDigits = "0123456789ABCDEF";
      uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return uri;
}

std::string_view LevelOf(std::string_view severity) { return severity == "defect" ? "error" : severity; }

class SarifWriter {
 public:
  SarifWriter(const Report& report, const std::string& kernel_path) : report_(report), kernel_path_(kernel_path) {}

  std::string Write() {
    json_.Open('{').Key("$schema").String(kSchema).Key("version").String("2.1.0").Key("runs").Open('[').Open('{');
    json_.Key("tool").Open('{').Key("driver").Open('{');
    json_.Key("name").String("palladion").Key("version").String(PALLADION_VERSION);
    json_.Key("rules").Open('[');
    for (const CodeRow& row : AllCodes()) Rule(row);
    json_.Close(']').Close('}').Close('}');
    json_.Key("columnKind").String("utf16CodeUnits");
    Invocation();
    json_.Key("results").Open('[');
    const std::vector<std::string> fingerprints = Fingerprints(report_);
    for (std::size_t i = 0; i < report_.findings.size(); ++i) Result(report_.findings[i], fingerprints[i]);
    json_.Close(']').Key("properties").Open('{');
    json_.Key("verdict").String(Name(VerdictOf(report_))).Key("kernel").String(report_.kernel);
    json_.Key("target").String(report_.target).Key("schedules").Number(report_.schedules);
    json_.Key("argument").String(report_.argument).Close('}');
    json_.Close('}').Close(']').Close('}');
    return json_.Take() + "\n";
  }

 private:
  void Message(std::string_view key, std::string_view text) {
    json_.Key(key).Open('{').Key("text").String(text).Close('}');
  }

  void Rule(const CodeRow& row) {
    json_.Open('{').Key("id").String(row.name);
    Message("shortDescription", row.rule);
    Message("help", Cat("palladion explain ", row.name));
    json_.Key("defaultConfiguration").Open('{').Key("level").String(LevelOf(Name(row.severity))).Close('}').Close('}');
  }

  void Notification(std::string_view level, std::string_view text) {
    json_.Open('{').Key("level").String(level);
    Message("message", text);
    json_.Close('}');
  }

  void Invocation() {
    json_.Key("invocations").Open('[').Open('{');
    json_.Key("executionSuccessful").Bool(!report_.error.has_value());
    json_.Key("exitCode").Number(static_cast<int>(ExitCodeOf(report_)));
    json_.Key("toolExecutionNotifications").Open('[');
    if (report_.error.has_value()) Notification("error", Cat(report_.error->kind, ": ", report_.error->message));
    if (report_.interrupted) Notification("warning", "stopped before the schedules were through");
    for (const NeverRan& part : report_.never_ran)
      Notification("note", Cat("never ran: ", part.what, part.source.empty() ? "" : " at ", part.source));
    for (const std::string& unused : report_.unused_suppressions)
      Notification("warning", Cat("unused suppression: ", unused));
    json_.Close(']').Close('}').Close(']');
  }

  void Result(const ReportedFinding& finding, const std::string& fingerprint) {
    json_.Open('{').Key("ruleId").String(finding.code);
    if (const std::optional<FindingCode> code = CodeFromName(finding.code))
      json_.Key("ruleIndex").Number(static_cast<std::int64_t>(*code));
    json_.Key("level").String(LevelOf(finding.severity));
    Message("message", finding.message + (finding.why.empty() ? "" : "\nWhy: " + finding.why) +
                           (finding.fix.empty() ? "" : "\nFix: " + finding.fix));
    json_.Key("locations").Open('[');
    Location(finding.frames, finding.text_line, -1, "");
    json_.Close(']');
    RelatedLocations(finding);
    json_.Key("occurrenceCount").Number(std::max<std::int64_t>(1, finding.count));
    json_.Key("partialFingerprints").Open('{').Key("palladion/v1").String(fingerprint).Close('}');
    if (!finding.suppressed.empty()) {
      json_.Key("suppressions").Open('[').Open('{').Key("kind").String("external");
      json_.Key("justification").String(finding.suppressed).Close('}').Close(']');
    }
    json_.Key("properties").Open('{').Key("confidence").String(finding.confidence);
    json_.Key("replay").String(finding.replay).Close('}').Close('}');
  }

  void RelatedLocations(const ReportedFinding& finding) {
    json_.Key("relatedLocations").Open('[');
    std::int64_t id = 0;
    for (const std::optional<ReportedAccess>* access : {&finding.first, &finding.second}) {
      ++id;
      if (!access->has_value()) continue;
      const ReportedAccess& a = **access;
      Location(a.frames, a.text_line, id,
               Cat("(", id, ") ", a.kind, a.object.empty() ? "" : " of ", a.object, a.box,
                   a.agent.empty() ? "" : " by ", a.agent));
    }
    for (std::size_t i = 1; i < finding.frames.size(); ++i)
      Location({finding.frames[i]}, 0, 2 + static_cast<std::int64_t>(i), "called from here");
    json_.Close(']');
  }

  // The innermost frame, else the line of the kernel text, else the kernel text. `id` below 0: none.
  void Location(const std::vector<SourceFrame>& frames, int text_line, std::int64_t id, std::string_view message) {
    json_.Open('{');
    if (id >= 0) json_.Key("id").Number(id);
    json_.Key("physicalLocation").Open('{').Key("artifactLocation").Open('{');
    json_.Key("uri").String(UriOf(frames.empty() ? kernel_path_ : frames[0].file)).Close('}');
    const int line = frames.empty() ? text_line : frames[0].line;
    if (line > 0) {
      json_.Key("region").Open('{').Key("startLine").Number(line);
      if (!frames.empty() && frames[0].column > 0) json_.Key("startColumn").Number(frames[0].column);
      json_.Close('}');
    }
    json_.Close('}');
    if (!frames.empty() && !frames[0].function.empty()) {
      json_.Key("logicalLocations").Open('[').Open('{').Key("name").String(frames[0].function);
      json_.Key("kind").String("function").Close('}').Close(']');
    }
    if (!message.empty()) Message("message", message);
    json_.Close('}');
  }

  const Report& report_;
  const std::string& kernel_path_;
  JsonWriter json_;
};

}  // namespace

std::string ToSarif(const Report& report, const std::string& kernel_path) {
  return SarifWriter(report, kernel_path).Write();
}

}  // namespace palladion
