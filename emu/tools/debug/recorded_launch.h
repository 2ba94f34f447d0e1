// One plain launch that recorders watch, for a picture of it: its findings are not looked for.
#ifndef PALLADION_EMU_TOOLS_DEBUG_RECORDED_LAUNCH_H_
#define PALLADION_EMU_TOOLS_DEBUG_RECORDED_LAUNCH_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "emu/emulate.h"
#include "emu/run/events.h"

namespace palladion::debug {

// InvalidArgument: inputs that do not fit. ResourceExhausted: memory or the budget.
absl::Status RecordLaunch(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs, const RunOptions& run,
                          absl::Span<run::Watcher* const> recorders);

}  // namespace palladion::debug

#endif  // PALLADION_EMU_TOOLS_DEBUG_RECORDED_LAUNCH_H_
