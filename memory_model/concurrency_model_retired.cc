// Retirement of state: ended agents, barriers and queues that no history refers to.
#include <algorithm>
#include <vector>

#include "memory_model/concurrency_model.h"

namespace palladion::memory_model {

void ConcurrencyModel::Retire(AgentId agent) {
  meetings_of_.erase(agent.value);
  agents_.Retire(agent);
  if (agents_.Crowded()) Sweep();
}

void ConcurrencyModel::Retire(BarrierId id) {
  const Barrier* const barrier = barriers_.Find(id);
  if (barrier == nullptr) return;
  arrivals_raced_ |= barrier->arrivals_race();
  barriers_.Retire(id);
}

void ConcurrencyModel::Retire(SemaphoreId id) {
  const Semaphore* const semaphore = semaphores_.Find(id);
  if (semaphore == nullptr) return;
  if (waits_raced_.empty() && semaphore->waits_race()) waits_raced_ = semaphore->spec().name;
  semaphores_.Retire(id);
}

std::string ConcurrencyModel::RacingWait() const {
  std::string name = waits_raced_;
  semaphores_.ForEach([&](SemaphoreId, const Semaphore& semaphore) {
    if (name.empty() && semaphore.waits_race()) name = semaphore.spec().name;
  });
  return name;
}

void ConcurrencyModel::Retire(QueueId id) {
  engine_.Retire(id);
  queue_clocks_.Retire(id);
  promises_.Retire(id);
}

ConcurrencyModel::Kept ConcurrencyModel::kept() const {
  return {.agents = agents_.agents(),
          .ended_agents = agents_.ended(),
          .operations = agents_.operations(),
          .barriers = barriers_.live(),
          .semaphores = semaphores_.live(),
          .meetings = meetings_.live(),
          .collectives = collectives_.live(),
          .queues = engine_.queues(),
          .buffers = memory_.known(),
          .arenas = memory_.arenas()};
}

// Agents that a finding may name: sorted, some more than once. Agents that live are known anyway.
std::vector<AgentId> ConcurrencyModel::Remembered(std::size_t* looked) const {
  std::vector<AgentId> remembered;
  const auto remember = [&](AgentId who) {
    ++*looked;
    if (!who.valid() || (!remembered.empty() && remembered.back() == who)) return;
    remembered.push_back(who);
  };
  memory_.ForEachEvent([&](const AccessEvent& event) { remember(event.who); });
  barriers_.ForEach([&](BarrierId, const Barrier& barrier) { barrier.ForEachAgent(remember); });
  semaphores_.ForEach([&](SemaphoreId, const Semaphore& semaphore) { semaphore.ForEachAgent(remember); });
  meetings_.ForEach([&](RendezvousId, const Rendezvous& meeting) { meeting.ForEachAgent(remember); });
  std::sort(remembered.begin(), remembered.end());
  return remembered;
}

// What no history holds and no wait can need is dropped from all clocks.
void ConcurrencyModel::Sweep() {
  std::size_t looked = memory_.ids();
  const std::vector<AgentId> remembered = Remembered(&looked);
  agents_.NoteKnown();
  const std::vector<AgentId> in_groups = engine_.InGroups();
  std::vector<AgentId> gone, live = remembered;
  for (const AsyncEngine::Record& record : engine_.finished()) {
    const bool kept = std::binary_search(remembered.begin(), remembered.end(), record.id) ||
                      !agents_.KnownNow(record.id, record.awaited_halves());
    (kept ? live : gone).push_back(record.id);
    if (!kept) continue;
    live.push_back(record.issuer);
    const bool needed =
        agents_.Lives(record.issuer) || std::binary_search(in_groups.begin(), in_groups.end(), record.id);
    if (!needed) agents_.DropFork(record.id);
  }
  for (const AsyncEngine::Record& record : engine_.Unfinished()) {
    live.push_back(record.id);
    live.push_back(record.issuer);
  }
  std::sort(gone.begin(), gone.end());
  std::sort(live.begin(), live.end());
  live.erase(std::unique(live.begin(), live.end()), live.end());
  engine_.Forget(gone);
  promises_.Forget(gone);
  Remaining remaining(live);
  agents_.Sweep(remaining, looked);
  queue_clocks_.Forget(remaining);
  pipelines_.Forget([&](AgentId owner) { return !agents_.Lives(owner); }, remaining);
  barriers_.ForEach([&](BarrierId, Barrier& barrier) { barrier.Forget(remaining); });
}

}  // namespace palladion::memory_model
