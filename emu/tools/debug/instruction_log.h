// The instruction log: one line for each instruction that a program runs, with hashes of its results and operands. Two
// logs of one kernel, for example ours and a backend's, show where the two diverge. Format: docs/guides/log.md.
#ifndef PALLADION_EMU_TOOLS_DEBUG_INSTRUCTION_LOG_H_
#define PALLADION_EMU_TOOLS_DEBUG_INSTRUCTION_LOG_H_

#include <ostream>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/check/replayed_run.h"
#include "emu/emulate.h"
#include "emu/run/agents/launch_options.h"

namespace palladion::debug {

// Runs the kernel, which must have been prepared as observable, and writes its log as it goes. Errors as
// palladion::Run; the caller looks at the stream's state. `replayed`: the run that is logged, of this kernel; nullptr:
// a plain one.
absl::StatusOr<RunResult> WriteLog(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                   const agents::LaunchOptions& options, std::ostream& out,
                                   const check::ReplayedRun* replayed = nullptr);

}  // namespace palladion::debug

#endif  // PALLADION_EMU_TOOLS_DEBUG_INSTRUCTION_LOG_H_
