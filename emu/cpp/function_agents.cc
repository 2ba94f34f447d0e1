#include "emu/cpp/function_agents.h"

#include <algorithm>
#include <utility>

namespace palladion {

FunctionAgents::FunctionAgents(FunctionMachine& machine) : machine_(machine), threads_in_all_(machine.threads()) {
  for (const std::int64_t size : machine.kernel().grid) threads_in_all_ *= size;
  machine.gpu().OnStart([this](ClockId operation) { Spawn(operation); });
}

// Numbers are the run loop's, which counts agents in the order in which they come to be.
void FunctionAgents::Spawn(ClockId operation) {
  auto agent = std::make_shared<EngineAgent>(machine_.gpu(), operation, *this);
  engines_ = true;
  started_.push_back({.thread = {}, .engine = agent.get()});
  EngineAgent& engine = *agent;
  engine.SetId(running_.agent->Spawn(std::move(agent), engine.Next()));
}

absl::StatusOr<Agent*> FunctionAgents::Next() {
  if (next_ == threads_in_all_) return nullptr;
  const std::vector<std::int64_t>& grid = machine_.kernel().grid;
  std::vector<std::int64_t> index(grid.size() + 1);
  index.back() = next_ % machine_.threads();
  std::int64_t block = next_ / machine_.threads();
  for (std::size_t d = grid.size(); d-- > 0; block /= grid[d]) index[d] = block % grid[d];
  if (index.back() == 0) first_ = machine_.gpu().AddBlock(index, machine_.threads());
  const ThreadId id{first_.value + static_cast<std::int32_t>(index.back())};
  Thread& thread = threads_[next_];
  thread.id = AgentId{static_cast<std::int32_t>(started_.size())};
  started_.push_back({.thread = id});
  thread.body = std::make_unique<FunctionThread>(machine_, running_, *this, id, std::move(index));
  FunctionThread& body = *thread.body;
  thread.agent = std::make_unique<CoroutineAgent>(machine_.gpu().NameOf(id),
                                                  [&body](AgentContext& context) { body.Main(context); });
  numbers_[thread.agent.get()] = next_++;
  ++live_;
  return thread.agent.get();
}

void FunctionAgents::Retire(Agent* agent) {
  const auto number = numbers_.find(agent);
  const auto thread = threads_.find(number->second);
  machine_.gpu().EndThread(thread->second.body->id());
  started_[thread->second.id.index()].thread = {};
  threads_.erase(thread);
  numbers_.erase(number);
  --live_;
}

const AsyncRequest* FunctionAgents::RequestOf(AgentId engine) const {
  const EngineAgent* const agent = started_[engine.index()].engine;
  return agent == nullptr ? nullptr : &agent->request();
}

bool FunctionAgents::MaySignal(ThreadId waiter, const WaitTarget& target, AgentId other) const {
  const Started& started = started_[other.index()];
  if (started.engine != nullptr) return Tells(machine_.gpu(), started.engine->request(), waiter, target);
  if (target.kind == WaitTarget::Kind::kGroups || !started.thread.valid()) return false;
  const std::vector<std::int64_t>& index = machine_.gpu().IndexOf(started.thread);
  if (target.kind == WaitTarget::Kind::kMeeting) return machine_.gpu().SameBlock(waiter, index);
  return machine_.gpu().Sees(index, target.object.array);
}

}  // namespace palladion
