// The unit of scheduling. An agent runs by itself between two visible operations; before each it yields at the gate.
// Two kinds share this interface: plain data that is resumed (a frame and its program counter), and a C++ function on a
// stack of its own (coroutine_agent.h). An engine is an agent too: one operation for each phase of a copy.
#ifndef PALLADION_SCHEDULER_AGENT_H_
#define PALLADION_SCHEDULER_AGENT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/operation.h"

namespace palladion::scheduler {

class Agent;

// The run loop, as an agent sees it. Valid while Resume runs.
class Gate {
 public:
  virtual ~Gate() = default;

  // The agent is about to do `operation`. True: it does. False: another agent goes first, or the operation has to wait;
  // the agent returns from Resume with the operation not begun, and asks again when it is resumed: then it may go.
  virtual bool MayGo(const Operation& operation) = 0;

  // True once after the agent was resumed for the operation that it asked about: then MayGo need not be asked.
  virtual bool TakeGrant() = 0;

  // A new agent, numbered after all that are there: an engine's part of a copy, a spawned warp. It can go from the next
  // operation on, and `first` is what it does first: it is resumed for that.
  virtual AgentOrdinal Spawn(std::shared_ptr<Agent> agent, const Operation& first) = 0;
};

class Agent {
 public:
  virtual ~Agent() = default;

  // Goes on from where it stopped, until it is done or MayGo says false. An error ends the whole run.
  virtual absl::Status Resume(Gate& gate) = 0;
  virtual bool done() const = 0;

  virtual std::string Name() const = 0;  // "program (3, 0)"
  virtual AgentRole role() const { return AgentRole::kProgram; }

  // For exhaustive search on snapshots: a copy of all that changes while the agent runs. Unimplemented where the body
  // cannot be copied; then the search runs again from the start.
  virtual absl::StatusOr<std::shared_ptr<const void>> Save() const {
    return absl::UnimplementedError("this agent's body cannot be copied");
  }
  virtual void Restore(const void* /*saved*/) {}
};

// Makes agents one after another, so that a grid of a million programs needs as many frames as run at once.
class AgentSource {
 public:
  virtual ~AgentSource() = default;
  virtual absl::StatusOr<Agent*> Next() = 0;  // nullptr after the last
  // May the next one begin now? It may become true when an agent is retired.
  virtual bool Ready() const { return true; }
  virtual void Retire(Agent*) {}  // done: its memory may serve the next one
  // Where its agents' operations report what they have changed; nullptr: they do not.
  virtual Changes* changes() { return nullptr; }
};

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_AGENT_H_
