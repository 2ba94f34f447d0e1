// Random small kernels for the hunt: patterns of synchronisation that are right (a handoff, a ring, a load, a store, a
// counter), put together and then damaged now and then, so that right and wrong ones both come often.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_RANDOM_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_RANDOM_H_

#include <cstdint>

#include "emu/tools/hunt/hunt_kernel.h"

namespace palladion::hunt {

// kTensor: of Blackwell, with tensor memory and named barriers; kTpu: of TPUs; kLoops: as kAll, with loops that wait.
// kPipelines: of TPUs, with blocks that a pipeline fetches and sends back. kClusters: of two blocks, which copy
// together. kWarps: of threads whose warps do something of their own. kCredits: of threads that take credits of
// semaphores and give them back. kCancel, kLanes: of cluster launch control, and of Triton's lanes, which hunt_cancel.h
// and hunt_lanes.h have.
enum class Kernels : std::uint8_t {
  kAll,
  kTensor,
  kTpu,
  kLoops,
  kPipelines,
  kClusters,
  kWarps,
  kCredits,
  kCancel,
  kLanes
};

// Where the generators begin. Up to a million they have what is drawn for the number before but for its beginning, so
// kernels in a row can be alike; after that they are drawn anew.
inline std::uint64_t StreamOf(std::uint64_t number) {
  return number <= 1'000'000 ? number : number * 0xd1342543de82ef95;
}

// The kernel with this number: the same on every host.
HuntKernel RandomKernel(std::uint64_t seed, Kernels which = Kernels::kAll);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_RANDOM_H_
