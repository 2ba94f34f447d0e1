// Random small kernels for the hunt: patterns of synchronisation that are right (a handoff, a ring, a load, a store, a
// counter), put together and then damaged now and then, so that right and wrong ones both come often.
#ifndef PALLADION_EMU_HUNT_HUNT_RANDOM_H_
#define PALLADION_EMU_HUNT_HUNT_RANDOM_H_

#include <cstdint>

#include "emu/hunt/hunt_kernel.h"

namespace palladion::hunt {

// kTensor: of Blackwell, with tensor memory and named barriers; kTpu: of TPUs; kLoops: as kAll, with loops that wait.
// kPipelines: of TPUs, with blocks that a pipeline fetches and sends back. kClusters: of two blocks, which copy
// together. kWarps: of threads whose warps do something of their own. kCredits: of threads that take credits of
// semaphores and give them back. kCancel: of cluster launch control, which hunt_cancel.h has.
enum class Kernels : std::uint8_t { kAll, kTensor, kTpu, kLoops, kPipelines, kClusters, kWarps, kCredits, kCancel };

// The kernel with this number: the same on every host.
HuntKernel RandomKernel(std::uint64_t seed, Kernels which = Kernels::kAll);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_HUNT_HUNT_RANDOM_H_
