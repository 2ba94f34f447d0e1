#include "emu/run/threads/agents_in_flight.h"

namespace palladion::threads {

scheduler::AgentOrdinal AgentsInFlight::AddThread(AgentId thread, const Frame* frame) {
  live_[thread.value] = {.frame = frame};
  return ordinals_.Add(thread);
}

scheduler::AgentOrdinal AgentsInFlight::AddOperation(AgentId operation) {
  engines_ = true;
  live_[operation.value] = {.operation = operation};
  return ordinals_.Add(operation);
}

std::shared_ptr<EngineAgent> AgentsInFlight::NewEngine(AgentId operation) {
  auto agent = std::make_shared<EngineAgent>(machine_, operation, *this);
  agent->SetOrdinal(AddOperation(operation));
  return agent;
}

const AgentsInFlight::Live* AgentsInFlight::Find(AgentId agent) const {
  const auto live = live_.find(agent.value);
  return live == live_.end() ? nullptr : &live->second;
}

const AsyncRequest* AgentsInFlight::RequestOf(scheduler::AgentOrdinal engine) const {
  const Live* const live = Find(ordinals_.Of(engine));
  return live == nullptr || !live->operation.valid() ? nullptr : &machine_.model().RequestOf(live->operation);
}

bool AgentsInFlight::MaySignal(AgentId waiter, const WaitTarget& target, scheduler::AgentOrdinal other) const {
  const AgentId who = ordinals_.Of(other);
  const Live* const live = Find(who);
  if (live != nullptr && live->operation.valid())
    return machine_.waitables().Of(target).EngineMaySignal(waiter, target, machine_.model().RequestOf(live->operation));
  return ThreadMaySignal(waiter, target, {who, live != nullptr, live == nullptr ? nullptr : live->frame});
}

}  // namespace palladion::threads
