// The data of a timeline's page, as JSON. Spans are columns, one list for each member, so that 200,000 of them are
// parsed quickly; texts, places and files are stored once and referred to by number. Times are cycles, to a hundredth.
#ifndef PALLADION_EMU_TIMING_TIMELINE_DATA_H_
#define PALLADION_EMU_TIMING_TIMELINE_DATA_H_

#include <string>

#include "emu/timing/timeline/shown.h"

namespace palladion::timing::timeline {

std::string TimelineData(const TimelineShown& shown);

}  // namespace palladion::timing::timeline

#endif  // PALLADION_EMU_TIMING_TIMELINE_DATA_H_
