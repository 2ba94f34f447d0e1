#include "memory_model/order/agents.h"

#include <algorithm>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion::memory_model {

AgentId AgentTable::Add(std::string name, const Place& place, AgentRole role) {
  const AgentId id = agents_.Next();
  AgentState& agent = agents_.Add();
  agent.name = std::move(name);
  agent.place = place;
  agent.role = role;
  clocks_.Add();
  RaiseOwn(id);
  return id;
}

void AgentTable::RaiseOwn(AgentId id) {
  const Epoch now{id, Agent(id).now};
  clocks_[id].RaiseGeneric(now);
  if (tensor_core_) clocks_[id].RaiseTensorCore(now);
}

void AgentTable::KeepTensorCore() {
  if (std::exchange(tensor_core_, true)) return;
  clocks_.ForEach([&](AgentId id, ClockBundle&) { RaiseOwn(id); });
}

AgentId AgentTable::Spawn(AgentId parent, std::string name, const Place& place, const CodeSite& site) {
  const AgentId child = Add(std::move(name), place, AgentRole::kWarp);
  Agent(child).parent = parent;
  Acquire(child, clocks_[parent]);
  Tick(parent, site);
  return child;
}

void AgentTable::Join(AgentId parent, AgentId child) { Acquire(parent, clocks_[child]); }

// What it knew of operations counts for NOT_AWAITED.
void AgentTable::Retire(AgentId id) {
  if (!clocks_.Has(id)) return;
  GatherKnown(clocks_[id], &ended_knew_);
  clocks_.Retire(id);
  kept_from_.erase(id.value);
  ended_.push_back(id);
}

void AgentTable::GatherKnown(const ClockBundle& clock, KnownOperations* known) {
  const VectorClock& generic = clock[ClockPart::kGeneric];
  const absl::Span<const Epoch> entries = generic.entries();
  for (auto entry = entries.rbegin(); entry != entries.rend() && IsOperation(entry->who); ++entry)  // they come last
    NoteKnown(FindOperation(entry->who), entry->time);
  known->Join(generic.operations());
}

// What all know is put together first: agents of many devices know of the same operations.
void AgentTable::NoteKnown() {
  KnownOperations known = std::exchange(ended_knew_, {});
  clocks_.ForEach([&](AgentId, const ClockBundle& clock) { GatherKnown(clock, &known); });
  known.ForEachRun([&](KnownOperations::Number first, KnownOperations::Number last, std::uint32_t halves) {
    const auto is_before = [](const OperationState& state, KnownOperations::Number number) {
      return NumberOf(state.id) < number;
    };
    auto at = std::lower_bound(operations_.begin(), operations_.end(), first, is_before);
    for (; at != operations_.end() && NumberOf(at->id) <= last; ++at) NoteKnown(&*at, halves);
  });
}

AgentId AgentTable::AddOperation(AgentId issuer, std::string name, const CodeSite& site, std::int64_t number) {
  const AgentId id{next_operation_++};
  operations_.push_back({.id = id,
                         .issuer = issuer,
                         .name = std::move(name),
                         .await = "",
                         .semaphores = {},
                         .number = number,
                         .fork = std::make_shared<ClockBundle>(clocks_[issuer]),
                         .block = nullptr});
  Tick(issuer, site);
  return id;
}

AgentId AgentTable::AddPart(AgentId operation) {
  OperationState part = Operation(operation);
  part.id = AgentId{next_operation_++};
  part.apart = Operation(operation).apart = true;
  operations_.push_back(std::move(part));
  return operations_.back().id;
}

// nullptr: it is forgotten. Those issued since the last sweep are in a row.
AgentTable::OperationState* AgentTable::FindOperation(AgentId id) {
  if (operations_.empty() || operations_.back().id < id) return nullptr;
  const auto from_last = static_cast<std::size_t>(operations_.back().id.value - id.value);
  if (from_last < operations_.size()) {
    OperationState& state = operations_[operations_.size() - 1 - from_last];
    if (state.id == id) return &state;
  }
  const auto at = std::lower_bound(operations_.begin(), operations_.end(), id,
                                   [](const OperationState& state, AgentId other) { return state.id < other; });
  return at != operations_.end() && at->id == id ? &*at : nullptr;
}

ClockBundle AgentTable::Completion(AgentId operation, std::uint32_t halves) const {
  ClockBundle released = Fork(operation);
  AddCompletionOf(operation, halves, &released);
  return released;
}

void AgentTable::AcquireCompletion(AgentId agent, AgentId operation, std::uint32_t halves) {
  Acquire(agent, Fork(operation));
  AddCompletionOf(operation, halves, &clocks_[agent]);
}

void AgentTable::Tick(AgentId id, const CodeSite& site) {
  AgentState& agent = Agent(id);
  Act(id);
  agent.published[agent.now % kRemembered] = site;
  ++agent.now;
  RaiseOwn(id);
}

void AgentTable::Acquire(AgentId id, const ClockBundle& released) {
  AgentState& agent = Agent(id);
  Act(id);
  agent.echoed = std::max(agent.echoed, released[ClockPart::kGeneric].TimeOf(id));
  clocks_[id].Join(released);
}

void AgentTable::Commit(AgentId id, ClockPart to, const CodeSite& site) {
  clocks_[id].Commit(to);
  Tick(id, site);
}

std::string AgentTable::NameOf(AgentId who) const {
  if (!IsOperation(who)) return Agent(who).name;
  if (!Has(who)) return OperationName(who);
  if (BlockOf(who) != nullptr) return Cat("the pipeline of ", Agent(Operation(who).issuer).name);
  return Cat(OperationName(who), " issued by ", Agent(Operation(who).issuer).name);
}

std::string AgentTable::OperationName(AgentId operation) const {
  if (!Has(operation)) return "an operation of before";
  const OperationState& state = Operation(operation);
  return state.number < 0 ? state.name : Cat(state.name, " #", state.number);
}

const Place& AgentTable::PlaceOf(AgentId who) const {
  return Agent(IsOperation(who) ? Operation(who).issuer : who).place;
}

AgentTable::Acquired AgentTable::LastAcquired(const ClockBundle& clock, AgentId other) const {
  Acquired acquired;
  acquired.time = clock[ClockPart::kGeneric].TimeOf(other);
  if (IsOperation(other) || acquired.time == 0) return acquired;
  const AgentState& agent = Agent(other);
  acquired.known = acquired.time < agent.now && acquired.time + kRemembered >= agent.now;
  if (acquired.known) acquired.site = agent.published[acquired.time % kRemembered];
  return acquired;
}

// What is left, or what was looked at, has to grow by a share of itself before it is time again.
void AgentTable::Sweep(Remaining& remaining, std::size_t looked) {
  constexpr std::size_t kLeast = 128, kLookedPerSweep = 16;
  operations_.erase(std::remove_if(operations_.begin(), operations_.end(),
                                   [&](const OperationState& state) { return remaining.Forgets(state.id); }),
                    operations_.end());
  clocks_.ForEach([&](AgentId, ClockBundle& clock) { clock.Forget(remaining); });
  const auto is_forgotten = [&](AgentId agent) {
    if (remaining.Has(agent)) return false;
    agents_.Retire(agent);
    return true;
  };
  ended_.erase(std::remove_if(ended_.begin(), ended_.end(), is_forgotten), ended_.end());
  const std::size_t left = operations_.size() + ended_.size();
  next_sweep_ = left + std::max({kLeast, left, looked / kLookedPerSweep});
}

}  // namespace palladion::memory_model
