// A recorded launch as Chrome trace-event JSON, which Perfetto and chrome://tracing open: programs (or the cores that
// walk them) as tracks, an engine's copies as tracks of their own, stores that a load saw and copies that a wait saw as
// flows. Based on: the Trace Event Format's published description. One tick is shown as one microsecond.
#ifndef PALLADION_EMU_TOOLS_DEBUG_TRACE_JSON_H_
#define PALLADION_EMU_TOOLS_DEBUG_TRACE_JSON_H_

#include <string>

#include "emu/tools/debug/trace_recorder.h"

namespace palladion::debug {

std::string TraceJson(const TraceRecorder& trace, const kernel::PreparedKernelState& kernel);

}  // namespace palladion::debug

#endif  // PALLADION_EMU_TOOLS_DEBUG_TRACE_JSON_H_
