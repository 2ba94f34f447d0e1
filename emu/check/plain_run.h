// A plain run: one launch, with those checkers that are always on, as a report.
#ifndef PALLADION_EMU_CHECK_PLAIN_RUN_H_
#define PALLADION_EMU_CHECK_PLAIN_RUN_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/emulate.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/report.h"
#include "emu/run/agents/launch_options.h"

namespace palladion::check {

// As launch::Run. An error after something was found is Report::error; of an interrupted run there is always a
// report, and its outputs are not whole.
absl::StatusOr<Report> RunPlain(const agents::LaunchCall& call, const agents::LaunchOptions& options);

// The same of a prepared kernel: its operands and the memory it needs are checked first. Errors as palladion::RunInto.
absl::StatusOr<Report> RunInto(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                               absl::Span<const MutableArray> outputs, const agents::LaunchOptions& options);

// The same with observers, hooks and another order, into outputs of its own.
absl::StatusOr<RunResult> RunWatched(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                     const agents::LaunchOptions& options);

// The report of a run that found what the target refuses and has not begun.
Report ReportBeforeRun(const kernel::PreparedKernelState& kernel, LegalityMode legality);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_PLAIN_RUN_H_
