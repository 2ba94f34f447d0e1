// Accesses as people read them.
#ifndef PALLADION_EMU_RUN_WATCH_ACCESS_TEXT_H_
#define PALLADION_EMU_RUN_WATCH_ACCESS_TEXT_H_

#include <string>

#include "semantics/port/machine.h"

namespace palladion::watch {

// "[0:8, 128:256:2, 3]": per buffer dimension start:end:step, or the one index. What lies outside the array is there
// too.
std::string BoxText(const BoxAccess& access);

}  // namespace palladion::watch

#endif  // PALLADION_EMU_RUN_WATCH_ACCESS_TEXT_H_
