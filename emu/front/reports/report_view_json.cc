// The layout of a report as JSON, for other renderers than text: the pages of notebooks.
#include "emu/front/reports/finding_link.h"
#include "emu/front/reports/report_view.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"
#include "semantics/base/printable.h"

namespace palladion::reports {
namespace {

void Write(const PlaceView& place, JsonWriter& json) {
  json.Open('{').Key("number").Number(place.number).Key("what").String(place.what);
  json.Key("same_place").Bool(place.same_place).Key("at").String(place.at);
  json.Key("text_place").String(place.text_place).Key("line");
  if (place.line.has_value()) {
    json.Open('{').Key("number").Number(place.line->number).Key("text").String(place.line->text);
    json.Key("caret").Number(static_cast<std::int64_t>(place.line->caret)).Close('}');
  } else {
    json.Null();
  }
  json.Key("folded").String(place.folded).Key("callers").Open('[');
  for (const std::string& caller : place.callers) json.String(caller);
  json.Close(']').Key("more_callers").Number(place.more_callers).Close('}');
}

void WriteSide(std::string_view name, const std::optional<ReportedAccess>& access, JsonWriter& json) {
  json.Key(name);
  if (!access.has_value()) {
    json.Null();
    return;
  }
  json.Open('{').Key("kind").String(Name(access->kind)).Key("agent").String(Printable(access->agent));
  json.Key("object").String(Printable(access->object)).Key("box").String(access->box).Close('}');
}

void Write(const FindingView& finding, JsonWriter& json) {
  json.Open('{').Key("symptoms").Open('[');
  for (const FindingView& symptom : finding.symptoms) Write(symptom, json);
  json.Close(']').Key("severity").String(WordOf(finding.severity)).Key("code").String(Code(finding.code));
  json.Key("message").String(finding.message).Key("repeated").String(finding.repeated);
  json.Key("times").Number(finding.times).Key("allowed").Bool(finding.allowed);
  json.Key("kernel").String(finding.kernel).Key("places").Open('[');
  for (const PlaceView& place : finding.places) Write(place, json);
  json.Close(']').Key("why").String(finding.why).Key("fix").String(finding.fix);
  json.Key("confidence").String(WordOf(finding.confidence)).Key("replay").String(finding.replay);
  json.Key("rule").String(RowOf(finding.code).rule).Key("link").String(LinkOf(finding.code));
  json.Key("suppressed").String(finding.suppressed);
  json.Key("call").Number(static_cast<std::int64_t>(finding.call));
  WriteSide("first", finding.of.first, json);
  WriteSide("second", finding.of.second, json);
  json.Close('}');
}

}  // namespace

std::string ReportViewJson(const ReportDocument& document, const RenderOptions& options) {
  const ReportView view = ViewOf(document, options);
  JsonWriter json;
  json.Open('{').Key("verdict").String(document.calls.empty() ? "none" : Name(view.verdict));
  json.Key("tally").String(view.tally).Key("calls").Number(view.calls).Key("findings").Open('[');
  for (const FindingView& finding : view.findings) Write(finding, json);
  json.Close(']').Key("kernels").Open('[');
  for (const KernelView& kernel : view.kernels) {
    json.Open('{').Key("kernel").String(kernel.kernel).Key("target").String(kernel.target);
    json.Key("verdict").String(Name(kernel.verdict)).Key("calls").Number(kernel.calls);
    json.Key("least_schedules").Number(kernel.least_schedules).Key("most_schedules").Number(kernel.most_schedules);
    json.Key("findings").String(kernel.findings).Close('}');
  }
  json.Close(']').Key("remarks").Open('[');
  for (const std::string& remark : view.remarks) json.String(remark);
  json.Close(']').Key("fidelity").Open('[');
  for (const std::string& line : view.fidelity) json.String(line);
  json.Close(']').Key("errors").Open('[');
  for (const ReportedError& error : view.errors) json.String(Cat(Name(error.kind), ": ", error.message));
  return json.Close(']').Close('}').Take();
}

}  // namespace palladion::reports
