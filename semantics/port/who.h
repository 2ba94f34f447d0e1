// The actor of an event in a run (emu/run/events.h). An asynchronous operation has its id before its issue is an event;
// its accesses and the ends of its phases carry the same id, so two operations of one line of the text that are in
// flight together are distinguished.
#ifndef PALLADION_SEMANTICS_PORT_WHO_H_
#define PALLADION_SEMANTICS_PORT_WHO_H_

#include <cstdint>

#include "semantics/base/ids.h"
#include "semantics/port/async.h"

namespace palladion {

// Operations have their numbers after all agents, so that clocks keep them apart.
inline constexpr std::int32_t kFirstOperation = 1 << 28;

struct Who {
  AgentId agent;           // the agent that acts, or that has issued the operation; invalid before the first agent runs
  AgentId operation = {};  // whose issue or half it is; invalid: the agent's own access or request
  Half half = Half::kRead;
  // The operation is carried out where it is asked for, so its halves are in the order of the agent's own accesses.
  bool at_once = false;

  bool of_operation() const { return operation.valid(); }
  // An engine's, in an order of its own: between the steps of agents.
  bool of_engine() const { return operation.valid() && !at_once; }
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PORT_WHO_H_
