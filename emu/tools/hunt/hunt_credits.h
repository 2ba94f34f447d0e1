// Random kernels for the hunt whose threads take credits of several semaphores and give them back, mostly in one order
// and now and then in another: some of their orders deadlock, and few of them where many threads take part.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_CREDITS_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_CREDITS_H_

#include <cstdint>

#include "emu/tools/hunt/hunt_kernel.h"

namespace palladion::hunt {

HuntKernel RandomCredits(std::uint64_t seed);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_CREDITS_H_
