// Whoever checks or records what a run does to memory: races, contracts, traces. Memory calls its observers at every
// request, after its bounds are known and before its bytes move, so a store's old contents can still be seen. What
// they do not see: values, and which element of a value comes from where.
#ifndef PALLADION_MEMORY_MODEL_BYTES_ACCESS_OBSERVER_H_
#define PALLADION_MEMORY_MODEL_BYTES_ACCESS_OBSERVER_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "memory_model/sets/box.h"
#include "semantics/base/finding.h"
#include "semantics/port/machine.h"

namespace palladion::memory_model {

class AccessObserver {
 public:
  virtual ~AccessObserver() = default;

  // Asked once, by Memory::Observe: are accesses that have a mask all that it wants to be called for?
  virtual bool only_masked() const { return false; }

  // Asked once too: the most elements of a box whose values it looks at. Engines may write those of larger ones after
  // it was told, and tell none.
  virtual std::int64_t most_values() const { return std::numeric_limits<std::int64_t>::max(); }

  // What follows is this agent's; before the first call, what a core's index maps read.
  virtual void Running(const RunningAgent& /*now*/) {}
  virtual void Alloc(BufferId) {}
  virtual void Free(BufferId) {}
  virtual void Poison(BufferId) {}  // what it held is gone; new memory is poisoned before it is allocated

  // The elements inside the array are those of `reach.copy`; none is touched where reach.empty or reach.none_copied.
  // `value` is what a store writes, row-major over the access's value; nullptr for a read, and where it has more
  // elements than most_values. An engine that fills a whole buffer says so when its bytes are there already.
  virtual void Box(AccessKind kind, const BoxAccess& access, const BoxReach& reach, const std::byte* value) = 0;

  // Offsets below zero touch nothing. `value` as above; of an atomic, its operand.
  virtual void Points(AccessKind kind, const PointAccess& access, const std::byte* value) = 0;

  // An agent asks for something that engines carry out. `kHere`: it is a copy of a box that the machine carries out at
  // once; its two accesses follow as calls of Box, the engine's own. `kLater`: they come as a schedule lets them,
  // between the steps of agents.
  enum class Halves : std::uint8_t { kHere, kLater };
  virtual void Issued(const AsyncRequest&, Halves) {}
  // The agent has waited for all that it started of a queue whose halves were carried out at once.
  virtual void Awaited(const WaitTarget&) {}

  // The lanes of whoever runs have come together: what each of them did so far is before what any does from here on.
  virtual void LanesMet() {}
  // The same of what they did up to the agent's own time (memory_model/order/agents.h), which a wait has told it of.
  virtual void LanesMetUntil(std::uint32_t /*time*/) {}
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_ACCESS_OBSERVER_H_
