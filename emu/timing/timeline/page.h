// A timeline as one self-contained HTML page, which loads nothing from the network: lanes with their spans, waits with
// an arrow from what ended them, the source beside them, findings at their place in time. The page is
// emu/timing/timeline/page, which holds all its code; here its data is inserted. Limits: it has only the lines of a
// Python file around those that the spans name; a finding is placed at the first span of its line and agent, as
// findings have no time of their own.
#ifndef PALLADION_EMU_TIMING_TIMELINE_PAGE_H_
#define PALLADION_EMU_TIMING_TIMELINE_PAGE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "emu/timing/timeline/shown.h"

namespace palladion::timing::timeline {

std::string TimelinePage(const TimelineShown& shown);

// The data within a page, for TimelineShown::compared. InvalidArgument: it is no such page.
absl::StatusOr<std::string> DataOfPage(std::string_view page);

}  // namespace palladion::timing::timeline

#endif  // PALLADION_EMU_TIMING_TIMELINE_PAGE_H_
