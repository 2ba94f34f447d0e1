// What memory, and the machine over it, report of a run to checks and recorders: the part of its events
// (emu/run/events.h) that needs no program. Memory reports them at every request, after its bounds are known and before
// its bytes move, so a store's old contents can still be seen. Each watcher says which kinds of events it wants, and
// pays for no others. What it does not see: values, and which element of a value comes from where.
#ifndef PALLADION_MEMORY_MODEL_BYTES_EVENTS_H_
#define PALLADION_MEMORY_MODEL_BYTES_EVENTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "memory_model/sets/box.h"
#include "semantics/base/finding.h"
#include "semantics/port/machine.h"
#include "semantics/port/who.h"

namespace palladion::memory_model {

enum class EventKind : std::uint8_t {
  kStep,    // of an agent, before and after it (emu/run/events.h)
  kTurn,    // whose what follows is
  kAccess,  // every box and list of places
  kMasked,  // of those, what has a mask
  kAlloc,   // of memory, its end, and that it holds nothing any more
  kIssue,   // an operation
  kHalf,    // a half of an operation is done
  kWait,
  kArrive,  // of an agent, at whatever others may wait for
  kLanes,   // of an agent have come together
};
inline constexpr std::size_t kEventKinds = 10;

class EventSet {
 public:
  constexpr EventSet(std::initializer_list<EventKind> kinds) {
    for (const EventKind kind : kinds) bits_ |= 1u << static_cast<unsigned>(kind);
  }
  constexpr bool Has(EventKind kind) const { return (bits_ >> static_cast<unsigned>(kind) & 1u) != 0; }

 private:
  std::uint32_t bits_ = 0;
};

class MemoryWatcher {
 public:
  virtual ~MemoryWatcher() = default;

  // Asked once, when the run begins: it gets these, and nothing else.
  virtual EventSet wants() const = 0;

  // Asked once too, of who wants accesses: the most elements of a box whose values it looks at. Engines may write those
  // of larger ones after it was notified, and pass none.
  virtual std::int64_t most_values() const { return std::numeric_limits<std::int64_t>::max(); }

  // What follows is this agent's. Before its first turn it may do what its core's index maps read.
  virtual void Running(const RunningAgent& /*now*/) {}

  virtual void Alloc(const Who&, BufferId) {}
  virtual void Free(const Who&, BufferId) {}
  virtual void Poison(const Who&, BufferId) {}  // what it held is gone; new memory is poisoned before it is allocated

  // The elements inside the array are those of `reach.copy`; none is touched where reach.empty or reach.none_copied.
  // `value` is what a store writes, row-major over the access's value; nullptr for a read, and where it has more
  // elements than most_values. An engine that fills a whole buffer says so when its bytes are there already.
  virtual void Box(const Who&, AccessKind, const BoxAccess&, const BoxReach&, const std::byte* /*value*/) {}

  // Offsets below zero touch nothing. `value` as above; of an atomic, its operand.
  virtual void Points(const Who&, AccessKind, const PointAccess&, const std::byte* /*value*/) {}

  // An agent asks for something that engines carry out. With `at_once` it is a copy of a box that the machine carries
  // out here: the accesses of both halves follow. Otherwise they come as a schedule lets them.
  virtual void Issued(const Who&, const AsyncRequest&) {}
  // The accesses of the half are over, and what its end publishes has been published.
  virtual void HalfDone(const Who&) {}

  // The agent has what it waited for. Of a queue: all that it started there is complete.
  virtual void Awaited(const Who&, const WaitTarget&) {}
  // The agent's own; arrivals of operations come with the ends of their phases. No other agent is ordered after it yet.
  virtual void Arrives(const Who&, const Arrival&) {}

  // The lanes of the agent have come together: what each of them did so far is before what any does from here on.
  virtual void LanesMet(const Who&) {}
  // The same of what they did up to the agent's own time (memory_model/order/agents.h), which it learned by a wait.
  virtual void LanesMetUntil(const Who&, std::uint32_t /*time*/) {}
};

// The watchers of a run, by what they want, in the order in which they came.
class MemoryWatchers {
 public:
  void Add(MemoryWatcher* watcher) {
    const EventSet wants = watcher->wants();
    for (std::size_t kind = 0; kind < kEventKinds; ++kind) {
      if (wants.Has(static_cast<EventKind>(kind))) of_[kind].push_back(watcher);
    }
  }
  absl::Span<MemoryWatcher* const> Of(EventKind kind) const { return of_[static_cast<std::size_t>(kind)]; }

  template <class Visit>
  void Each(EventKind kind, const Visit& visit) const {
    for (MemoryWatcher* const watcher : Of(kind)) visit(*watcher);
  }

 private:
  std::array<std::vector<MemoryWatcher*>, kEventKinds> of_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_EVENTS_H_
