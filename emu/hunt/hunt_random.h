// Random small kernels for the hunt: patterns of synchronisation that are right (a handoff, a ring, a load, a store, a
// counter), put together and then damaged now and then, so that right and wrong ones both come often.
#ifndef PALLADION_EMU_HUNT_HUNT_RANDOM_H_
#define PALLADION_EMU_HUNT_HUNT_RANDOM_H_

#include <cstdint>

#include "emu/hunt/hunt_kernel.h"

namespace palladion::hunt {

// kTensor: of Blackwell, with tensor memory and named barriers; kTpu: of TPUs; kLoops: as kAll, with loops that wait.
// kPipelines: of TPUs, with blocks that a pipeline fetches and sends back.
enum class Kernels : std::uint8_t { kAll, kTensor, kTpu, kLoops, kPipelines };

// The kernel with this number: the same on every host.
HuntKernel RandomKernel(std::uint64_t seed, Kernels which = Kernels::kAll);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_HUNT_HUNT_RANDOM_H_
