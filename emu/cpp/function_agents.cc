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
  thread.body = std::make_unique<FunctionThread>(
      machine_, running_,
      [this](ThreadId waiter, const WaitTarget& target, AgentId other) { return MaySignal(waiter, target, other); }, id,
      std::move(index));
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

bool FunctionAgents::MaySignal(ThreadId waiter, const WaitTarget& target, AgentId other) const {
  const Started& started = started_[other.index()];
  if (target.kind == WaitTarget::Kind::kGroups)
    return started.engine != nullptr && machine_.gpu().Awaits(waiter, target.queue, started.engine->request().queue);
  if (target.kind == WaitTarget::Kind::kMeeting)
    return started.thread.valid() && machine_.gpu().SameBlock(waiter, machine_.gpu().IndexOf(started.thread));
  if (started.engine != nullptr) {
    const std::vector<Completion>& completions = started.engine->request().completions;
    return std::any_of(completions.begin(), completions.end(), [&](const Completion& completion) {
      return GpuMachine::ObjectOf(completion) == machine_.gpu().ObjectOf(target.object);
    });
  }
  return started.thread.valid() && machine_.gpu().Sees(machine_.gpu().IndexOf(started.thread), target.object.array);
}

}  // namespace palladion
