// Random kernels of TPUs for the hunt: copies that semaphores count, of devices and of cores. Limits: copies are of
// rows and halves of them, and never in loops.
#ifndef PALLADION_EMU_HUNT_HUNT_TPU_H_
#define PALLADION_EMU_HUNT_HUNT_TPU_H_

#include <cstdint>

#include "emu/hunt/hunt_kernel.h"

namespace palladion::hunt {

// The kernel with this number: the same on every host.
HuntKernel RandomTpuKernel(std::uint64_t seed);

Written WriteTpu(const HuntKernel& kernel);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_HUNT_HUNT_TPU_H_
