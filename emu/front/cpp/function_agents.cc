#include "emu/front/cpp/function_agents.h"

#include <algorithm>
#include <utility>

namespace palladion {

absl::Status FunctionAgent::Resume(scheduler::Gate& gate) {
  try {
    return coroutine_.Resume(gate);
  } catch (const FunctionFailed&) {
    return machine_.failed();
  }
}

FunctionAgents::FunctionAgents(FunctionMachine& machine)
    : AgentsInFlight(machine.gpu()), machine_(machine), threads_in_all_(machine.threads_in_all()) {
  machine.gpu().OnStart([this](AgentId operation) { Spawn(operation); });
}

void FunctionAgents::Spawn(AgentId operation) {
  std::shared_ptr<threads::EngineAgent> agent = NewEngine(operation);
  const scheduler::Operation first = agent->Next();
  running_.agent->Spawn(std::move(agent), first);
}

absl::StatusOr<scheduler::Agent*> FunctionAgents::Next() {
  if (next_ == threads_in_all_) return nullptr;
  const std::vector<std::int64_t>& grid = machine_.kernel().grid;
  std::vector<std::int64_t> index(grid.size() + 1);
  index.back() = next_ % machine_.threads();
  std::int64_t block = next_ / machine_.threads();
  for (std::size_t d = grid.size(); d-- > 0; block /= grid[d]) index[d] = block % grid[d];
  if (index.back() == 0) first_ = machine_.gpu().AddBlock(index, machine_.threads());
  const AgentId id{first_.value + static_cast<std::int32_t>(index.back())};
  Thread& thread = threads_[next_];
  AddThread(id, nullptr);
  thread.body = std::make_unique<FunctionThread>(machine_, running_, *this, id, std::move(index));
  thread.agent = std::make_unique<FunctionAgent>(machine_, *thread.body);
  numbers_[thread.agent.get()] = next_++;
  return thread.agent.get();
}

void FunctionAgents::Retire(scheduler::Agent* agent) {
  const auto number = numbers_.find(agent);
  const auto thread = threads_.find(number->second);
  Ends(thread->second.body->id());
  machine_.gpu().EndThread(thread->second.body->id());
  threads_.erase(thread);
  numbers_.erase(number);
}

bool FunctionAgents::ThreadMaySignal(AgentId waiter, const WaitTarget& target, const Signaller& other) const {
  if (!other.lives) return false;
  const std::vector<std::int64_t>& index = machine_.gpu().residents().Of(other.who).index;
  const std::optional<bool> known = machine_.gpu().waitables().Of(target).ThreadMaySignal(waiter, {.index = index});
  return known.has_value() ? *known : machine_.gpu().syncs().Sees(index, target.object.array);
}

}  // namespace palladion
