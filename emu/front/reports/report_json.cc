// A report as one line of JSON. Its schema is docs/reference/report.schema.json, against which the tests hold every
// shape of it: a field more is compatible, another meaning or a field less is not, and then schema_version changes.
#include <optional>
#include <string>
#include <vector>

#include "emu/check/evidence.h"
#include "emu/front/reports/causes.h"
#include "emu/front/reports/finding_link.h"
#include "emu/report.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"

namespace palladion::reports {
namespace {

constexpr int kSchemaVersion = 2;

void Write(const std::vector<SourceFrame>& frames, JsonWriter& json) {
  json.Open('[');
  for (const SourceFrame& frame : frames) {
    json.Open('{');
    json.Key("file").String(frame.file);
    json.Key("line").Number(frame.line);
    json.Key("column").Number(frame.column);
    json.Key("function").String(frame.function);
    json.Close('}');
  }
  json.Close(']');
}

void Write(const std::optional<ReportedAccess>& access, JsonWriter& json) {
  if (!access.has_value()) {
    json.Null();
    return;
  }
  json.Open('{');
  json.Key("kind").String(Name(access->kind));
  json.Key("agent").String(access->agent);
  json.Key("object").String(access->object);
  json.Key("box").String(access->box);
  json.Key("source").String(access->source);
  json.Key("text_line").Number(access->text_line);
  Write(access->frames, json.Key("frames"));
  json.Close('}');
}

void WriteStrings(const std::vector<std::string>& texts, JsonWriter& json) {
  json.Open('[');
  for (const std::string& text : texts) json.String(text);
  json.Close(']');
}

void Write(const std::vector<TextEdit>& edits, JsonWriter& json) {
  json.Open('[');
  for (const TextEdit& edit : edits) {
    json.Open('{');
    json.Key("where").String(std::string(Name(edit.where)));
    json.Key("line").Number(edit.line);
    if (edit.where == TextEdit::Where::kSet) {
      json.Key("name").String(edit.name).Key("value").String(edit.value).Key("of").String(edit.of);
    } else {
      WriteStrings(edit.insert, json.Key("insert"));
    }
    json.Close('}');
  }
  json.Close(']');
}

// By fingerprints; the cause's is null where the finding stands for itself.
struct Relations {
  const std::string* cause = nullptr;
  std::vector<std::string> symptoms = {};
};

void Write(const ReportedFinding& finding, const std::string& fingerprint, const Relations& relations,
           JsonWriter& json) {
  json.Open('{');
  json.Key("code").String(Code(finding.code));
  json.Key("severity").String(Name(finding.severity));
  json.Key("message").String(finding.message);
  json.Key("rule").String(RowOf(finding.code).rule);
  json.Key("link").String(LinkOf(finding.code));
  json.Key("source").String(finding.source);
  json.Key("text_line").Number(finding.text_line);
  Write(finding.frames, json.Key("frames"));
  json.Key("count").Number(finding.count);
  Write(finding.first, json.Key("first"));
  Write(finding.second, json.Key("second"));
  json.Key("why").String(finding.why);
  json.Key("fix").String(finding.fix);
  Write(finding.edits, json.Key("edits"));
  json.Key("confidence").String(Name(finding.confidence));
  json.Key("replay").String(finding.replay);
  json.Key("suppressed").String(finding.suppressed);
  json.Key("suppressed_in_source").Bool(finding.suppressed_in_source);
  json.Key("fingerprint").String(fingerprint);
  json.Key("cause");
  if (relations.cause == nullptr) {
    json.Null();
  } else {
    json.String(*relations.cause);
  }
  WriteStrings(relations.symptoms, json.Key("symptoms"));
  json.Close('}');
}

void Write(const std::vector<ReportedFact>& facts, JsonWriter& json) {
  json.Open('[');
  for (const ReportedFact& fact : facts) {
    json.Open('{');
    json.Key("name").String(check::RowOf(fact.fact).name);
    json.Key("shown").Bool(fact.shown);
    json.Key("words").String(fact.words);
    json.Close('}');
  }
  json.Close(']');
}

void Write(const std::vector<ReportedRemark>& remarks, JsonWriter& json) {
  json.Open('[');
  for (const ReportedRemark& remark : remarks) {
    json.Open('{');
    json.Key("name").String(remark.name);
    json.Key("words").String(remark.words);
    json.Key("source").String(remark.source);
    json.Key("text_line").Number(remark.text_line);
    Write(remark.frames, json.Key("frames"));
    json.Close('}');
  }
  json.Close(']');
}

void Write(const std::optional<ReportedFidelity>& fidelity, JsonWriter& json) {
  if (!fidelity.has_value()) {
    json.Null();
    return;
  }
  json.Open('{').Key("exact").Number(fidelity->exact).Key("approximate").Number(fidelity->approximate);
  json.Key("refused").Number(fidelity->refused).Key("operations").Open('[');
  for (const FidelityRow& row : fidelity->rows) {
    json.Open('{').Key("name").String(row.name).Key("kind").String(Name(row.kind)).Key("count").Number(row.count);
    json.Key("why").String(row.why).Close('}');
  }
  json.Close(']').Key("reached").Open('[');
  for (const FidelityReach& reach : fidelity->reached) {
    json.Open('{').Key("what").String(reach.what).Key("words").String(reach.words).Key("source").String(reach.source);
    json.Key("text_line").Number(reach.text_line);
    Write(reach.frames, json.Key("frames"));
    json.Close('}');
  }
  json.Close(']').Close('}');
}

void WriteCoverage(const Report& report, JsonWriter& json) {
  json.Key("checks").Open('[');
  for (const CheckTally& check : report.checks) {
    json.Open('{');
    json.Key("name").String(Name(check.kind));
    json.Key("times").Number(check.times);
    json.Close('}');
  }
  json.Close(']');
  json.Key("never_ran").Open('[');
  for (const NeverRan& part : report.never_ran) {
    json.Open('{');
    json.Key("what").String(part.what);
    json.Key("source").String(part.source);
    json.Key("text_line").Number(part.text_line);
    Write(part.frames, json.Key("frames"));
    json.Close('}');
  }
  json.Close(']');
}

std::string JsonOf(const Report& report) {
  JsonWriter json;
  json.Open('{');
  json.Key("verdict").String(Name(VerdictOf(report)));
  json.Key("kernel").String(report.kernel);
  json.Key("target").String(report.target);
  json.Key("programs").Number(report.programs);
  json.Key("steps").Number(report.steps);
  json.Key("findings").Open('[');
  const std::vector<std::string> fingerprints = Fingerprints(report);
  const std::vector<std::optional<std::size_t>> causes = CausesOf(report);
  std::vector<Relations> relations(report.findings.size());
  for (std::size_t i = 0; i < causes.size(); ++i) {
    if (!causes[i].has_value()) continue;
    relations[i].cause = &fingerprints[*causes[i]];
    relations[*causes[i]].symptoms.push_back(fingerprints[i]);
  }
  for (std::size_t i = 0; i < report.findings.size(); ++i)
    Write(report.findings[i], fingerprints[i], relations[i], json);
  json.Close(']');
  json.Key("checked").Bool(report.checked);
  json.Key("strict").Bool(report.strict);
  json.Key("schedules").Number(report.schedules);
  json.Key("argument").String(report.argument);
  Write(report.facts, json.Key("facts"));
  Write(report.remarks, json.Key("remarks"));
  Write(report.fidelity, json.Key("fidelity"));
  WriteCoverage(report, json);
  WriteStrings(report.unused_suppressions, json.Key("unused_suppressions"));
  json.Key("interrupted").Bool(report.interrupted);
  json.Key("error");
  if (report.error.has_value()) {
    json.Open('{');
    json.Key("kind").String(Name(report.error->kind));
    json.Key("message").String(report.error->message);
    json.Close('}');
  } else {
    json.Null();
  }
  json.Key("exit_code").Number(static_cast<int>(ExitCodeOf(report)));
  json.Key("schema_version").Number(kSchemaVersion);
  WriteStrings(report.printed, json.Key("printed"));
  json.Close('}');
  return json.Take();
}

}  // namespace
}  // namespace palladion::reports

namespace palladion {

std::string ToJson(const Report& report) { return reports::JsonOf(report); }

}  // namespace palladion
