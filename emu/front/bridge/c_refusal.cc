// palladion_refusal of the C ABI: what the target of a kernel refuses where the kernel cannot be prepared.
#include <string>
#include <string_view>
#include <vector>

#include "emu/check/refusal.h"
#include "emu/front/bridge/c_arrays.h"
#include "emu/front/reports/report_view.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"
#include "semantics/base/source_lines.h"

namespace palladion::bridge {
namespace {

// The findings as a report renders them for a user of Python.
std::string FindingsText(const Report& report) {
  reports::ReportDocument document;
  document.calls.push_back({.report = report});
  document.calls[0].report.error.reset();
  SourceFiles sources;
  const reports::RenderOptions options{.python = true,
                                       .source_line = [&](const std::string& f, int n) { return sources.Line(f, n); }};
  return reports::ToText(document, options, {.end = false});
}

// Empty where the target refuses nothing of the kernel, or the kernel can be prepared.
std::string RefusalJson(std::string_view text, const PrepareOptions& options) {
  const absl::Status refused = PrepareText(text, options).status();
  if (refused.ok()) return "";
  Report report = check::RefusalReport(refused, text, options);
  std::erase_if(report.findings, [](const ReportedFinding& finding) { return finding.severity == "note"; });
  if (report.findings.empty()) return "";
  return Cat("{\"report\": ", ToJson(report), ", \"text\": ", JsonString(FindingsText(report)), "}");
}

}  // namespace
}  // namespace palladion::bridge

char* palladion_refusal(const char* text, size_t size, const char* kernel, const char* target, char** error) {
  namespace bridge = palladion::bridge;
  char* json = nullptr;
  const absl::Status status = bridge::Guarded([&] {
    const palladion::PrepareOptions options{.kernel = kernel == nullptr ? "" : kernel,
                                            .target = target == nullptr ? "" : target};
    json = bridge::CopyText(bridge::RefusalJson(bridge::TextOf(text, size), options));
    return absl::OkStatus();
  });
  if (!status.ok()) bridge::SetText(error, bridge::ErrorText(status));
  return json;
}
