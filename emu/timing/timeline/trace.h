// A timeline as Chrome trace-event JSON, which Perfetto and chrome://tracing open: a process for each group of lanes, a
// track for each lane, and further ones where spans of a lane overlap; a flow from what ended a wait to the wait, and
// from the issuer of an operation to it; a counter for each strip. Based on: the Trace Event Format's published
// description. Times are microseconds to the nanosecond, which viewers do not go below; the cycles are in each event's
// arguments.
#ifndef PALLADION_EMU_TIMING_TIMELINE_TRACE_H_
#define PALLADION_EMU_TIMING_TIMELINE_TRACE_H_

#include <string>

#include "emu/timing/timeline/shown.h"

namespace palladion::timing::timeline {

std::string TimelineTrace(const TimelineShown& shown);

}  // namespace palladion::timing::timeline

#endif  // PALLADION_EMU_TIMING_TIMELINE_TRACE_H_
