#include "emu/check/plain_run.h"

#include <memory>
#include <new>
#include <utility>

#include "emu/check/checkers.h"
#include "emu/check/contracts.h"
#include "emu/kernel/arrays.h"
#include "emu/kernel/float_environment.h"
#include "emu/kernel/operand_check.h"
#include "emu/kernel/out_of_memory.h"
#include "emu/run/agents/host_memory.h"
#include "emu/run/launch/execution_mode.h"
#include "emu/run/launch/launch.h"
#include "emu/run/launch/run.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::check {

Report ReportBeforeRun(const kernel::PreparedKernelState& kernel, LegalityMode legality) {
  Report report{.kernel = kernel.program().kernel_name,
                .target = ToString(kernel.program().target),
                .steps = static_cast<std::int64_t>(kernel.program().steps.size()),
                .remarks = kernel.remarks(),
                .fidelity = StaticReportOf(kernel).fidelity};
  for (const Finding& finding : KnownBefore(kernel, legality).findings)
    report.findings.push_back(launch::Reported(finding, kernel.module()));
  report.verdict = VerdictOf(report);
  return report;
}

absl::StatusOr<Report> RunPlain(const agents::LaunchCall& call, const agents::LaunchOptions& options) {
  const auto& [kernel, inputs, outputs] = call;
  agents::LaunchOptions checked = options;
  const launch::ExecutionMode mode =
      launch::ExecutionModeOf(kernel.program(), {.one_program = options.only_program.has_value()});
  Checkers checkers = Checkers::Of({.program = kernel.program(), .kernel = &kernel, .inputs = inputs, .mode = mode});
  checkers.Attach(checked);
  agents::Ran result;
  std::vector<Finding>*& before_error = checked.found_before_error;
  if (before_error == nullptr) before_error = &result.findings;
  absl::StatusOr<agents::Ran> ran = launch::Run(call, checked);
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
                .fidelity = StaticReportOf(kernel).fidelity,
                .interrupted = interrupted};
  if (!ran.ok() && !interrupted) report.error = ErrorReport(ran.status(), "", "").error;
  const std::vector<Finding>& run_found = ran.ok() ? result.findings : *before_error;
  for (const std::vector<Finding>& found : {before_run, run_found}) {
    for (const Finding& finding : found) report.findings.push_back(launch::Reported(finding, kernel.module()));
  }
  report.verdict = VerdictOf(report);
  return report;
}

absl::StatusOr<Report> RunInto(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                               absl::Span<const MutableArray> outputs, const agents::LaunchOptions& options) {
  const kernel::FloatEnvironment environment;
  PALLADION_RETURN_IF_ERROR(kernel::CheckInputs(kernel, inputs));
  PALLADION_RETURN_IF_ERROR(kernel::CheckOutputs(kernel, outputs));
  PALLADION_RETURN_IF_ERROR(agents::CheckMemory(kernel.state(), agents::MemoryLimitOf(options.run)));
  try {
    return RunPlain({kernel.state(), inputs, outputs}, options);
  } catch (const std::bad_alloc&) {
    return kernel::OutOfMemory(Cat("kernel @", kernel.name(), ": out of memory; use smaller shapes or a larger host"));
  }
}

absl::StatusOr<RunResult> RunWatched(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                     const agents::LaunchOptions& options) {
  PALLADION_RETURN_IF_ERROR(agents::CheckMemory(kernel.state(), agents::MemoryLimitOf(options.run)));
  RunResult result;
  PALLADION_ASSIGN_OR_RETURN(result.outputs, kernel::NewOutputs(kernel));
  PALLADION_ASSIGN_OR_RETURN(
      result.report, RunInto(kernel, kernel::ArraysOf(inputs), kernel::MutableArraysOf(result.outputs), options));
  return result;
}

}  // namespace palladion::check
