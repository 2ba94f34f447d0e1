#include "memory_model/concurrency_model.h"

#include <algorithm>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion::memory_model {

void ConcurrencyModel::Track(BufferId id, TrackedBuffer buffer) {
  if (id.index() >= buffers_.size()) buffers_.resize(id.index() + 1);
  AccessHistory history(buffer.shape, buffer.element_bytes);
  buffers_[id.index()].emplace(Tracked{std::move(buffer), std::move(history), std::nullopt});
}

void ConcurrencyModel::Adopt(BufferId id, TrackedBuffer buffer) {
  Track(id, std::move(buffer));
  Tracked& tracked = *Find(id);
  const TrackedBuffer& info = tracked.info;
  const auto arena = arenas_.find(info.arena);
  if (arena == arenas_.end()) return;
  for (ArenaPast::Use& use : arena->second.Take({info.shape, info.element_bytes, info.offset})) {
    tracked.history.Remember(use.event, use.set);
    tracked.past.emplace_back(use.event, std::move(use.object));
  }
}

// Of what its end is not ordered after, the end itself tells.
void ConcurrencyModel::KeepPast(const Tracked& buffer, const Vantage& vantage) {
  std::vector<ArenaPast::Use> uses;
  buffer.history.ForEachUse([&](const AccessEvent& event, const AccessSet& set) {
    if (vantage.Order(event) != Ordering::kOrdered) return;
    const std::string* past = PastName(buffer, event);
    uses.push_back({event, set, past == nullptr ? buffer.info.name : *past});
  });
  const TrackedBuffer& info = buffer.info;
  arenas_[info.arena].Add({info.shape, info.element_bytes, info.offset}, std::move(uses));
}

void ConcurrencyModel::Alloc(AgentId agent, BufferId id, TrackedBuffer buffer, const CodeSite& site) {
  if (!tracks_accesses_) return;
  Track(id, std::move(buffer));
  AllocatedAt(agents_.NowOf(agent), agent, id, site);
}

void ConcurrencyModel::AllocAtStart(AgentId agent, BufferId id, TrackedBuffer buffer, const CodeSite& site) {
  constexpr std::uint32_t kFirstTime = 1;
  if (!tracks_accesses_) return;
  Track(id, std::move(buffer));
  AllocatedAt(kFirstTime, agent, id, site);
}

void ConcurrencyModel::Reallocate(AgentId agent, BufferId id, const CodeSite& site) {
  if (tracks_accesses_ && Find(id) != nullptr) AllocatedAt(agents_.NowOf(agent), agent, id, site);
}

void ConcurrencyModel::AllocatedAt(std::uint32_t time, AgentId agent, BufferId id, const CodeSite& site) {
  Tracked& tracked = *Find(id);
  const AccessEvent event{
      .who = agent, .time = time, .kind = AccessKind::kAlloc, .loc = site.loc, .text_line = site.text_line};
  Access(&tracked, id, event, WholeOf(tracked), {agents_.ClockOf(agent), ClockPart::kGeneric, agent});
}

void ConcurrencyModel::Free(AgentId agent, BufferId id, const CodeSite& site) {
  Tracked* const buffer = tracks_accesses_ ? Find(id) : nullptr;
  if (buffer != nullptr) Free(buffer, agent, agents_.ClockOf(agent), id, site);
}

void ConcurrencyModel::FreeAfter(absl::Span<const AgentId> agents, std::string name, BufferId id,
                                 const CodeSite& site) {
  Tracked* const buffer = tracks_accesses_ ? Find(id) : nullptr;
  if (buffer == nullptr) return;
  ClockBundle clock;
  for (const AgentId agent : agents) clock.Join(agents_.ClockOf(agent));
  buffer->freed_by = std::move(name);
  Free(buffer, agents.front(), clock, id, site);
}

void ConcurrencyModel::Free(Tracked* buffer, AgentId by, const ClockBundle& clock, BufferId id, const CodeSite& site) {
  const AccessEvent event{
      .who = by, .time = agents_.NowOf(by), .kind = AccessKind::kFree, .loc = site.loc, .text_line = site.text_line};
  const Vantage vantage{clock, ClockPart::kGeneric, by};
  if (buffer->info.arena >= 0 && buffer->freed_by.empty()) KeepPast(*buffer, vantage);
  Access(buffer, id, event, WholeOf(*buffer), vantage);
  buffer->freed = event;
  buffer->history = AccessHistory(buffer->info.shape, buffer->info.element_bytes);
}

void ConcurrencyModel::Touch(AgentId agent, BufferId id, AccessKind kind, const AccessSet& set, const CodeSite& site) {
  Tracked* const buffer = set.empty() || !tracks_accesses_ ? nullptr : Find(id);
  if (buffer == nullptr) return;
  const AccessEvent event{
      .who = agent, .time = agents_.NowOf(agent), .kind = kind, .loc = site.loc, .text_line = site.text_line};
  Access(buffer, id, event, set, {agents_.ClockOf(agent), ClockPart::kGeneric, agent});
}

void ConcurrencyModel::Access(Tracked* buffer, BufferId id, const AccessEvent& event, const AccessSet& set,
                              const Vantage& vantage) {
  if (buffer->freed.has_value()) {
    Report(*buffer, id, event, vantage, {*buffer->freed, Ordering::kUnordered, ""});
    return;
  }
  conflicts_.clear();
  buffer->history.Apply(event, set, vantage, &conflicts_);
  for (const AccessConflict& conflict : conflicts_) Report(*buffer, id, event, vantage, conflict);
}

AccessSet ConcurrencyModel::WholeOf(const Tracked& buffer) {
  BoxAccess whole;
  whole.rank = whole.value_rank = static_cast<int>(buffer.info.shape.size());
  for (std::size_t d = 0; d < buffer.info.shape.size(); ++d) {
    whole.start[d] = whole.lower[d] = 0;
    whole.count[d] = whole.upper[d] = buffer.info.shape[d];
    whole.step[d] = 1;
    whole.order[d] = static_cast<std::uint8_t>(d);
  }
  return SetOf(buffer.info.shape, buffer.info.element_bytes, whole, ReachOf(buffer.info.shape, whole));
}

BarrierId ConcurrencyModel::MakeBarrier(BarrierSpec spec) {
  const BarrierId id = barriers_.Next();
  barriers_.Add(id, std::move(spec));
  return id;
}

void ConcurrencyModel::Arrive(AgentId agent, BarrierId id, const CodeSite& site, std::int64_t amount) {
  barriers_[id].Arrive(agent, agents_.ClockOf(agent), amount, site, agents_, &log_);
  agents_.Tick(agent, site);
}

void ConcurrencyModel::Wait(AgentId agent, BarrierId id, const CodeSite& site) {
  barriers_[id].Wait(agent, site, &agents_, &log_);
}

bool ConcurrencyModel::Test(AgentId agent, BarrierId id, const CodeSite& site) {
  if (!CanWait(agent, id)) return false;
  Wait(agent, id, site);
  return true;
}

void ConcurrencyModel::JoinWarps(AgentId thread, absl::Span<const AgentId> warps) {
  for (const AgentId warp : warps) agents_.Join(thread, warp);
  barriers_.ForEach([&](BarrierId, Barrier& barrier) {
    if (!barrier.ended()) barrier.Join(thread, warps, agents_);
  });
}

void ConcurrencyModel::End(BarrierId id, const CodeSite& site, Barrier::Ends ends) {
  Barrier* const barrier = barriers_.Find(id);
  if (barrier == nullptr || barrier->ended()) return;
  barrier->End(ends, site, agents_, &log_);
}

bool ConcurrencyModel::ArrivalsRace() const {
  bool race = arrivals_raced_;
  barriers_.ForEach([&](BarrierId, const Barrier& barrier) { race |= barrier.arrivals_race(); });
  return race;
}

SemaphoreId ConcurrencyModel::MakeSemaphore(SemaphoreSpec spec) {
  const SemaphoreId id = semaphores_.Next();
  semaphores_.Add(id, std::move(spec));
  return id;
}

void ConcurrencyModel::End(SemaphoreId id, const CodeSite& site) {
  Semaphore* const semaphore = semaphores_.Find(id);
  if (semaphore != nullptr && !semaphore->ended()) semaphore->End(site, agents_, &log_);
}

void ConcurrencyModel::Signal(AgentId agent, SemaphoreId id, const CodeSite& site, std::int64_t amount) {
  semaphores_[id].Signal(agent, agents_.ClockOf(agent), amount, site);
  agents_.Tick(agent, site);
}

void ConcurrencyModel::Wait(AgentId agent, SemaphoreId id, std::int64_t value, bool decrement) {
  semaphores_[id].Wait(agent, value, decrement, &agents_);
}

RendezvousId ConcurrencyModel::MakeRendezvous(std::string name, std::vector<AgentId> members) {
  const RendezvousId id = meetings_.Next();
  for (const AgentId member : members) meetings_of_[member.value].push_back(id);
  meetings_.Add(id, std::move(name), std::move(members));
  return id;
}

void ConcurrencyModel::Enter(AgentId agent, RendezvousId id, JointWork work, const CodeSite& site) {
  meetings_[id].Enter(agent, std::move(work), site, &agents_, &log_);
}

CollectiveId ConcurrencyModel::MakeCollective(std::string name, std::vector<std::string> members) {
  const CollectiveId id = collectives_.Next();
  collectives_.Add(id, std::move(name), std::move(members));
  return id;
}

QueueId ConcurrencyModel::MakeQueue(QueueOrder order) {
  queue_clocks_.Add();
  landed_clocks_.Add();
  return engine_.AddQueue(order);
}

void ConcurrencyModel::AgentEnds(AgentId agent) {
  const auto meetings = meetings_of_.find(agent.value);
  if (meetings == meetings_of_.end()) return;
  for (const RendezvousId id : meetings->second) {
    if (Rendezvous* meeting = meetings_.Find(id); meeting != nullptr) meeting->MemberEnds(agent, agents_, &log_);
  }
}

void ConcurrencyModel::End(const CodeSite& site) {
  barriers_.ForEach([&](BarrierId id, const Barrier&) { End(id, site); });
  semaphores_.ForEach([&](SemaphoreId id, const Semaphore&) { End(id, site); });
  agents_.NoteKnown();
  for (const auto& records : {engine_.finished(), engine_.Unfinished()}) {
    for (const AsyncEngine::Record& record : records) {
      if (handed_over_.contains(record.id)) continue;
      if (!agents_.KnownNow(record.id, static_cast<std::uint32_t>(record.must_await))) ReportNotAwaited(record);
    }
  }
}

// ---- what has ended

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

void ConcurrencyModel::Retire(QueueId id) {
  engine_.Retire(id);
  queue_clocks_.Retire(id);
  landed_clocks_.Retire(id);
}

ConcurrencyModel::Kept ConcurrencyModel::kept() const {
  const auto known = std::count_if(buffers_.begin(), buffers_.end(), [](const auto& b) { return b.has_value(); });
  return {.agents = agents_.agents(),
          .ended_agents = agents_.ended(),
          .operations = agents_.operations(),
          .barriers = barriers_.live(),
          .semaphores = semaphores_.live(),
          .meetings = meetings_.live(),
          .collectives = collectives_.live(),
          .queues = engine_.queues(),
          .buffers = static_cast<std::size_t>(known),
          .arenas = arenas_.size()};
}

// Whoever a finding may name: sorted, some more than once. Agents that live are known anyway.
std::vector<AgentId> ConcurrencyModel::Remembered(std::size_t* looked) const {
  std::vector<AgentId> remembered;
  const auto remember = [&](AgentId who) {
    ++*looked;
    if (!who.valid() || (!remembered.empty() && remembered.back() == who)) return;
    remembered.push_back(who);
  };
  for (const std::optional<Tracked>& buffer : buffers_) {
    if (!buffer.has_value()) continue;
    buffer->history.ForEachEvent([&](const AccessEvent& event) { remember(event.who); });
    if (buffer->freed.has_value()) remember(buffer->freed->who);
  }
  for (const auto& [arena, past] : arenas_) past.ForEachEvent([&](const AccessEvent& event) { remember(event.who); });
  barriers_.ForEach([&](BarrierId, const Barrier& barrier) { barrier.ForEachAgent(remember); });
  semaphores_.ForEach([&](SemaphoreId, const Semaphore& semaphore) { semaphore.ForEachAgent(remember); });
  meetings_.ForEach([&](RendezvousId, const Rendezvous& meeting) { meeting.ForEachAgent(remember); });
  std::sort(remembered.begin(), remembered.end());
  return remembered;
}

// What no history holds and nobody will wait for is forgotten by everybody.
void ConcurrencyModel::Sweep() {
  std::size_t looked = buffers_.size();
  const std::vector<AgentId> remembered = Remembered(&looked);
  agents_.NoteKnown();
  const std::vector<AgentId> in_groups = engine_.InGroups();
  std::vector<AgentId> gone, live = remembered;
  for (const AsyncEngine::Record& record : engine_.finished()) {
    const bool kept = std::binary_search(remembered.begin(), remembered.end(), record.id) ||
                      !agents_.KnownNow(record.id, static_cast<std::uint32_t>(record.must_await));
    (kept ? live : gone).push_back(record.id);
    if (!kept) continue;
    live.push_back(record.issuer);
    const bool asked =
        agents_.Lives(record.issuer) || std::binary_search(in_groups.begin(), in_groups.end(), record.id);
    if (!asked) agents_.DropFork(record.id);
  }
  for (const AsyncEngine::Record& record : engine_.Unfinished()) {
    live.push_back(record.id);
    live.push_back(record.issuer);
  }
  std::sort(gone.begin(), gone.end());
  std::sort(live.begin(), live.end());
  live.erase(std::unique(live.begin(), live.end()), live.end());
  engine_.Forget(gone);
  agents_.Sweep(live, looked);
  const auto forgotten = [&](AgentId who) {
    return AgentTable::IsOperation(who) && !std::binary_search(live.begin(), live.end(), who);
  };
  for (auto* clocks : {&queue_clocks_, &landed_clocks_})
    clocks->ForEach([&](QueueId, ClockBundle& clock) { clock.Forget(forgotten); });
  barriers_.ForEach([&](BarrierId, Barrier& barrier) { barrier.Forget(forgotten); });
}

}  // namespace palladion::memory_model
