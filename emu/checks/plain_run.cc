#include "emu/checks/plain_run.h"

#include <memory>
#include <utility>

#include "emu/checks/checkers.h"
#include "emu/checks/contracts.h"
#include "emu/launch/launch.h"
#include "emu/launch/run.h"
#include "emu/launch/way.h"
#include "semantics/base/status.h"

namespace palladion::checks {

Report ReportBeforeRun(const agents::PreparedKernelState& kernel) {
  Report report{.kernel = kernel.program().kernel_name,
                .target = ToString(kernel.program().target),
                .steps = static_cast<std::int64_t>(kernel.program().steps.size()),
                .remarks = kernel.remarks()};
  for (const Finding& finding : kernel.static_report().findings)
    report.findings.push_back(launch::Reported(finding, kernel.module()));
  report.verdict = VerdictOf(report);
  return report;
}

absl::StatusOr<Report> RunPlain(const agents::LaunchCall& call, const agents::LaunchOptions& options) {
  const auto& [kernel, inputs, outputs] = call;
  agents::LaunchOptions asked = options;
  const launch::Way way = launch::WayOf(kernel.program(), {.one_program = options.only_program.has_value()});
  Checkers checkers = Checkers::Of({.program = kernel.program(), .kernel = &kernel, .inputs = inputs, .way = way});
  checkers.Attach(asked);
  agents::Ran result;
  std::vector<Finding>*& before_error = asked.found_before_error;
  if (before_error == nullptr) before_error = &result.findings;
  absl::StatusOr<agents::Ran> ran = launch::Run(call, asked);
  const bool interrupted = IsInterrupted(ran.status());
  const std::vector<Finding> before_run = KnownBefore(kernel, options.run.legality).findings;
  if (!ran.ok() && !interrupted && before_error->empty() && before_run.empty()) return ran.status();
  if (ran.ok()) {
    result = *std::move(ran);
    PALLADION_RETURN_IF_ERROR(checkers.Finish(result, /*rerun=*/nullptr));
    PALLADION_RETURN_IF_ERROR(launch::LeaveTo(options.run.session, {kernel, inputs, outputs, result.left}));
  }
  Report report{.kernel = kernel.program().kernel_name,
                .target = ToString(kernel.program().target),
                .programs = result.programs,
                .steps = static_cast<std::int64_t>(kernel.program().steps.size()),
                .remarks = kernel.remarks(),
                .printed = std::move(result.printed),
                .interrupted = interrupted};
  if (!ran.ok() && !interrupted) report.error = ErrorReport(ran.status(), "", "").error;
  const std::vector<Finding>& run_found = ran.ok() ? result.findings : *before_error;
  for (const std::vector<Finding>& found : {before_run, run_found}) {
    for (const Finding& finding : found) report.findings.push_back(launch::Reported(finding, kernel.module()));
  }
  report.verdict = VerdictOf(report);
  return report;
}

}  // namespace palladion::checks
