// What each request of a launch over threads touches, for a scheduler: requests of steps of kernel text, of functions
// in C++ and of engines. For accesses to memory emu/run/agents/footprints.h determines it, and asking.h when a request
// may run. Limits: several signals at once, and signals to other blocks or devices, count as touching everything.
#ifndef PALLADION_EMU_RUN_THREADS_FOOTPRINTS_H_
#define PALLADION_EMU_RUN_THREADS_FOOTPRINTS_H_

#include <cstdint>

#include "emu/run/agents/footprints.h"
#include "emu/run/threads/thread_machine.h"
#include "scheduler/operation.h"
#include "semantics/port/async.h"
#include "semantics/port/sync.h"

namespace palladion::threads {

using agents::FootprintOf;
using agents::MemoryRequest;

// An arrival, a signal, a test, a read of a count.
struct SyncObjectRequest {
  SyncElement object;
};

// A phase of an engine's operation in flight.
struct HalfRequest {
  AgentId operation;
  Half half = Half::kWrite;
};

// One of the answers to a request for work, which is in flight as an operation.
struct AnswerRequest {
  AgentId operation;
};

// That a thread begins whose work others may take.
struct BeginRequest {};

// Requests that may change what any other one finds: which buffer comes next, which number an operation has, what its
// queue holds, which agents are resident. They are few in a run, so that no finer footprint is needed.
enum class OtherRequest : std::uint8_t { kAlloc, kFree, kStart, kCommitGroup, kFence, kMeet, kFork };

// A wait, and a look that goes on in any case: of kNothing, nothing.
scheduler::Footprint FootprintOf(const ThreadMachine& machine, AgentId thread, const WaitTarget& target);
scheduler::Footprint FootprintOf(const ThreadMachine& machine, const SyncObjectRequest& request);
scheduler::Footprint FootprintOf(const ThreadMachine& machine, const HalfRequest& request);
scheduler::Footprint FootprintOf(const ThreadMachine& machine, const AnswerRequest& request);
scheduler::Footprint FootprintOf(BeginRequest request);
scheduler::Footprint FootprintOf(OtherRequest request);

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_FOOTPRINTS_H_
