// Random kernels for the hunt, in which threads take credits from several semaphores and return them, mostly in one
// order and sometimes in another: some schedules deadlock, but few if the kernel has many threads.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_CREDITS_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_CREDITS_H_

#include <cstdint>

#include "emu/tools/hunt/hunt_kernel.h"

namespace palladion::hunt {

HuntKernel RandomCredits(std::uint64_t seed);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_CREDITS_H_
