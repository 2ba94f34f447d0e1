// A timeline as one self-contained HTML page, which asks nothing of any network: lanes with what was on them, waits
// with an arrow from what ended them, the source beside them, findings at their place in time. The page is
// emu/timing/page, which holds all its code; here it is given its data. Limits: of a Python file it has the lines
// around those that the spans name; a finding is placed by its line and agent, at the first span of these, as findings
// have no time of their own.
#ifndef PALLADION_EMU_TIMING_TIMELINE_PAGE_H_
#define PALLADION_EMU_TIMING_TIMELINE_PAGE_H_

#include <string>

#include "emu/timing/timeline_shown.h"

namespace palladion::timing {

std::string TimelinePage(const TimelineShown& shown);

}  // namespace palladion::timing

#endif  // PALLADION_EMU_TIMING_TIMELINE_PAGE_H_
