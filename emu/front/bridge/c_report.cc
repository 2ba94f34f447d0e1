// The part of the C ABI that renders reports: from handles, as text, JSON, the parts of a page, or SARIF.
#include "emu/front/bridge/c_report.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emu/front/bridge/c_arrays.h"
#include "emu/front/bridge/c_lines.h"
#include "emu/front/reports/report_formats.h"
#include "emu/front/reports/report_reader.h"
#include "emu/front/reports/report_view.h"
#include "semantics/base/finding.h"
#include "semantics/base/status.h"

namespace palladion::bridge {
namespace {

// Those that a finding may have: others let nothing pass.
std::set<FindingCode> CodesOf(const char* const* names, std::size_t n) {
  std::set<FindingCode> codes;
  for (std::size_t i = 0; i < n; ++i) {
    if (const std::optional<FindingCode> code = CodeFromName(TextOf(names[i]))) codes.insert(*code);
  }
  return codes;
}

absl::StatusOr<std::vector<reports::ReportedCall>> CallsOf(const palladion_rendered_call* calls, std::size_t n) {
  std::vector<reports::ReportedCall> list;
  for (std::size_t i = 0; i < n; ++i) {
    if (calls[i].report == nullptr) return absl::InvalidArgumentError(Cat("the call ", i, " has no report"));
    list.push_back({.report = *calls[i].report->report,
                    .count = calls[i].count,
                    .replay_before = std::string(TextOf(calls[i].replay_before)),
                    .replay_after = std::string(TextOf(calls[i].replay_after))});
  }
  return list;
}

absl::StatusOr<std::string> Rendered(const palladion_render_request& request) {
  reports::ReportDocument document;
  PALLADION_ASSIGN_OR_RETURN(document.calls, CallsOf(request.calls, request.n_calls));
  document.dropped = request.dropped;
  document.difference = std::string(TextOf(request.difference));
  SourceLines lines(request.lines, request.n_lines);
  const reports::RenderOptions options{
      .python = true,
      .allowed = CodesOf(request.allowed, request.n_allowed),
      .kernel_text = TextOf(request.text),
      .kernel_path = std::string(TextOf(request.path)),
      .source_line = [&lines](const std::string& file, int line) { return lines.Line(file, line); }};
  if (request.form == PALLADION_FORM_PARTS) return ReportViewJson(document, options);
  return ToText(document, options,
                {.color = request.color != 0,
                 .findings = request.form != PALLADION_FORM_END,
                 .end = request.form != PALLADION_FORM_FINDINGS,
                 .details = request.details != 0});
}

absl::StatusOr<std::string> SarifOf(const palladion_sarif_test* tests, std::size_t n, const char* root) {
  reports::SarifLog log{.tests = {}, .root = std::string(TextOf(root))};
  for (std::size_t i = 0; i < n; ++i) {
    reports::SarifTest test{.name = std::string(TextOf(tests[i].name)),
                            .path = std::string(TextOf(tests[i].path)),
                            .allowed = CodesOf(tests[i].allowed, tests[i].n_allowed)};
    PALLADION_ASSIGN_OR_RETURN(test.document.calls, CallsOf(tests[i].calls, tests[i].n_calls));
    test.document.dropped = tests[i].dropped;
    log.tests.push_back(std::move(test));
  }
  return ToSarif(log);
}

// The findings as a report of no kernel: what is said of them is said without it.
absl::StatusOr<Report> OfFindings(const Report& report, const std::size_t* numbers, std::size_t n) {
  Report alone{.checked = true};
  for (std::size_t i = 0; i < n; ++i) {
    if (numbers[i] >= report.findings.size())
      return absl::InvalidArgumentError(
          Cat("the report has ", report.findings.size(), " findings; found the number ", numbers[i]));
    alone.findings.push_back(report.findings[numbers[i]]);
  }
  alone.verdict = VerdictOf(alone);
  return alone;
}

// The handle to what `make` gives, or NULL and its error.
template <class Make>
palladion_report* Handle(const Make& make, palladion_error* error) {
  palladion_report* handle = nullptr;
  const absl::Status status = Guarded([&]() -> absl::Status {
    PALLADION_ASSIGN_OR_RETURN(Report report, make());
    handle = HandleOf(std::move(report));
    return absl::OkStatus();
  });
  SetError(status, error);
  return handle;
}

}  // namespace
}  // namespace palladion::bridge

namespace bridge = palladion::bridge;

char* palladion_report_json(const palladion_report* report) {
  return bridge::CopyText(report == nullptr ? "" : palladion::ToJson(*report->report));
}

palladion_report* palladion_report_read(const char* json, size_t size, palladion_error* error) {
  return bridge::Handle([&] { return palladion::reports::ReadReport(bridge::TextOf(json, size)); }, error);
}

palladion_report* palladion_report_of_findings(const palladion_report* report, const size_t* numbers, size_t n,
                                               palladion_error* error) {
  return bridge::Handle(
      [&]() -> absl::StatusOr<palladion::Report> {
        if (report == nullptr) return absl::InvalidArgumentError("no report");
        return bridge::OfFindings(*report->report, numbers, n);
      },
      error);
}

char* palladion_render(const palladion_render_request* request, palladion_error* error) {
  return bridge::Printed(
      [&]() -> absl::StatusOr<std::string> {
        if (request == nullptr) return absl::InvalidArgumentError("no request");
        return bridge::Rendered(*request);
      },
      error);
}

char* palladion_sarif(const palladion_sarif_test* tests, size_t n, const char* root, palladion_error* error) {
  return bridge::Printed([&] { return bridge::SarifOf(tests, n, root); }, error);
}

void palladion_free_report(palladion_report* report) { delete report; }
