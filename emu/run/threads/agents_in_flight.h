// The agents in flight in a launch over threads, by their place in the schedule: threads, and operations of engines,
// which are the same whatever the body of a thread is. Used by asking.h. Limits: what a thread may still do depends on
// its body, kernel text (started_agents.h) or a function in C++ (emu/front/cpp).
#ifndef PALLADION_EMU_RUN_THREADS_AGENTS_IN_FLIGHT_H_
#define PALLADION_EMU_RUN_THREADS_AGENTS_IN_FLIGHT_H_

#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "emu/run/agents/agent_ordinals.h"
#include "emu/run/threads/asking.h"
#include "emu/run/threads/thread_machine.h"
#include "semantics/program/program.h"

namespace palladion::threads {

class AgentsInFlight : public AgentsAround {
 public:
  // It outlives this.
  explicit AgentsInFlight(ThreadMachine& machine) : machine_(machine) {}
  AgentsInFlight(const AgentsInFlight&) = delete;
  AgentsInFlight& operator=(const AgentsInFlight&) = delete;

  // The agent of an operation that has just been started: for the running agent to spawn.
  std::shared_ptr<EngineAgent> NewEngine(AgentId operation);
  scheduler::AgentOrdinal AddOperation(AgentId operation);  // the same, of an agent of another kind
  void Ends(AgentId agent) { live_.erase(agent.value); }
  bool engines() const { return engines_; }  // has any asynchronous operation been started?

  bool MaySignal(AgentId waiter, const WaitTarget& target, scheduler::AgentOrdinal other) const final;
  const AsyncRequest* RequestOf(scheduler::AgentOrdinal engine) const override;
  void EngineEnds(scheduler::AgentOrdinal engine) override { Ends(ordinals_.Of(engine)); }

 protected:
  // A thread or warp; `frame`, where its body is kernel text, stays until it ends.
  scheduler::AgentOrdinal AddThread(AgentId thread, const Frame* frame);
  AgentId AgentOf(scheduler::AgentOrdinal ordinal) const { return ordinals_.Of(ordinal); }
  // The agents that may signal: a thread or a warp, or any that has ended.
  struct Signaller {
    AgentId who;
    bool lives = false;
    const Frame* frame = nullptr;
  };
  // The target is no queue's groups, which only operations end.
  virtual bool ThreadMaySignal(AgentId waiter, const WaitTarget& target, const Signaller& other) const = 0;
  const ThreadMachine& machine() const { return machine_; }

 private:
  struct Live {
    const Frame* frame = nullptr;
    AgentId operation;  // of an engine
  };
  const Live* Find(AgentId agent) const;  // nullptr: it has ended

  ThreadMachine& machine_;
  agents::AgentOrdinals ordinals_;
  absl::flat_hash_map<std::int32_t, Live> live_;  // by AgentId
  bool engines_ = false;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_AGENTS_IN_FLIGHT_H_
