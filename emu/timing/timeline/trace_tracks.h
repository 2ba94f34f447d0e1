// Which row of a trace each slice is drawn in. Viewers nest the slices of one row by their times, and draw those that
// overlap without nesting wrongly; here no row has such slices. In a row of independent slices, such as copies, no two
// overlap at all: one inside another would look like a part of it.
#ifndef PALLADION_EMU_TIMING_TIMELINE_TRACE_TRACKS_H_
#define PALLADION_EMU_TIMING_TIMELINE_TRACE_TRACKS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace palladion::timing::timeline {

struct TraceSlice {
  std::int64_t begin = 0, ticks = 1;
};

struct TraceRows {
  std::vector<int> row;  // of each slice, from 0
  int count = 0;
};

// Slices that may lie within each other.
TraceRows NestedRows(absl::Span<const TraceSlice> slices);

// Slices that may not.
TraceRows SeparateRows(absl::Span<const TraceSlice> slices);

}  // namespace palladion::timing::timeline

#endif  // PALLADION_EMU_TIMING_TIMELINE_TRACE_TRACKS_H_
