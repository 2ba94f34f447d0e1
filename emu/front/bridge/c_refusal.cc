// palladion_refusal of the C ABI: what the target of a kernel refuses where the kernel cannot be prepared.
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "emu/check/inline_suppressions.h"
#include "emu/check/refusal.h"
#include "emu/front/bridge/c_arrays.h"
#include "emu/front/bridge/c_report.h"

namespace palladion::bridge {
namespace {

// Nothing where the target refuses nothing of the kernel, or the kernel can be prepared.
std::optional<Report> RefusalOf(std::string_view text, const PrepareOptions& options) {
  const absl::Status refused = PrepareText(text, options).status();
  if (refused.ok()) return std::nullopt;
  Report report = check::RefusalReport(refused, text, options);
  std::erase_if(report.findings, [](const ReportedFinding& finding) { return finding.severity == Severity::kNote; });
  check::ApplyInlineSuppressions(nullptr, report);
  return report.findings.empty() ? std::nullopt : std::optional(std::move(report));
}

}  // namespace
}  // namespace palladion::bridge

palladion_report* palladion_refusal(const char* text, size_t size, const char* kernel, const char* target,
                                    palladion_error* error) {
  namespace bridge = palladion::bridge;
  palladion_report* report = nullptr;
  const absl::Status status = bridge::Guarded([&] {
    const palladion::PrepareOptions options{.kernel = kernel == nullptr ? "" : kernel,
                                            .target = target == nullptr ? "" : target};
    std::optional<palladion::Report> found = bridge::RefusalOf(bridge::TextOf(text, size), options);
    if (found.has_value()) report = bridge::HandleOf(*std::move(found));
    return absl::OkStatus();
  });
  bridge::SetError(status, error);
  return report;
}
