#include "memory_model/order/agents.h"

#include <algorithm>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion {

ClockId AgentTable::Add(std::string name, const Place& place) {
  const ClockId id{static_cast<std::int32_t>(agents_.size())};
  AgentState& agent = agents_.emplace_back();
  agent.name = std::move(name);
  agent.place = place;
  agent.clock.RaiseGeneric({id, agent.now});
  return id;
}

ClockId AgentTable::Spawn(ClockId parent, std::string name, const Place& place, const CodeSite& site) {
  const ClockId child = Add(std::move(name), place);
  Agent(child).parent = parent;
  Acquire(child, Agent(parent).clock);
  Tick(parent, site);
  return child;
}

void AgentTable::Join(ClockId parent, ClockId child) { Acquire(parent, Agent(child).clock); }

ClockId AgentTable::AddOperation(ClockId issuer, std::string name, const CodeSite& site) {
  const ClockId id{next_operation_++};
  operations_.push_back(
      {.id = id, .issuer = issuer, .name = std::move(name), .await = "", .fork = Agent(issuer).clock});
  Tick(issuer, site);
  return id;
}

AgentTable::OperationState& AgentTable::Operation(ClockId id) {
  return *std::lower_bound(operations_.begin(), operations_.end(), id,
                           [](const OperationState& state, ClockId other) { return state.id < other; });
}

ClockBundle AgentTable::Completion(ClockId operation, std::uint32_t halves) const {
  ClockBundle told = Fork(operation);
  if (proxies_) {
    told.Raise({operation, halves});
  } else {
    told.RaiseGeneric({operation, halves});
  }
  return told;
}

void AgentTable::Tick(ClockId id, const CodeSite& site) {
  AgentState& agent = Agent(id);
  agent.published[agent.now % kRemembered] = site;
  ++agent.now;
  agent.clock.RaiseGeneric({id, agent.now});
}

void AgentTable::Acquire(ClockId id, const ClockBundle& told) {
  AgentState& agent = Agent(id);
  agent.echoed = std::max(agent.echoed, told[ClockPart::kGeneric].TimeOf(id));
  agent.clock.Join(told);
}

void AgentTable::Commit(ClockId id, ClockPart to, const CodeSite& site) {
  Agent(id).clock.Commit(to);
  Tick(id, site);
}

std::string AgentTable::NameOf(ClockId who) const {
  if (!IsOperation(who)) return Agent(who).name;
  if (!Has(who)) return "an operation of before";
  const OperationState& operation = Operation(who);
  return Cat(operation.name, " issued by ", Agent(operation.issuer).name);
}

bool AgentTable::Has(ClockId operation) const {
  const auto before = [](const OperationState& state, ClockId other) { return state.id < other; };
  const auto at = std::lower_bound(operations_.begin(), operations_.end(), operation, before);
  return at != operations_.end() && at->id == operation;
}

const Place& AgentTable::PlaceOf(ClockId who) const {
  return Agent(IsOperation(who) ? Operation(who).issuer : who).place;
}

AgentTable::Heard AgentTable::LastHeard(const ClockBundle& clock, ClockId other) const {
  Heard heard;
  heard.time = clock[ClockPart::kGeneric].TimeOf(other);
  if (IsOperation(other) || heard.time == 0) return heard;
  const AgentState& agent = Agent(other);
  heard.known = heard.time < agent.now && heard.time + kRemembered >= agent.now;
  if (heard.known) heard.site = agent.published[heard.time % kRemembered];
  return heard;
}

bool AgentTable::KnownToAny(ClockId operation, std::uint32_t halves) const {
  return std::any_of(agents_.begin(), agents_.end(), [&](const AgentState& agent) {
    return agent.clock[ClockPart::kGeneric].Covers(Epoch{operation, halves});
  });
}

void AgentTable::Sweep(const std::vector<ClockId>& live) {
  const auto gone = [&](ClockId who) { return IsOperation(who) && !std::binary_search(live.begin(), live.end(), who); };
  operations_.erase(std::remove_if(operations_.begin(), operations_.end(),
                                   [&](const OperationState& state) { return gone(state.id); }),
                    operations_.end());
  for (AgentState& agent : agents_) agent.clock.Forget(gone);
  next_sweep_ = std::max<std::size_t>(64, 2 * operations_.size());
}

}  // namespace palladion
