#include "scheduler/run_loop.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "scheduler/virtual_clock.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::scheduler {
namespace {

constexpr std::int64_t kDeadlockInterval = 4096;  // operations between two looks for a partial deadlock

}  // namespace

RunLoop::RunLoop(AgentSource& source, const LoopOptions& options)
    : source_(source), changes_(source.changes()), options_(options) {}

// ---- agents come and go

std::uint32_t RunLoop::NewSlot(Agent* agent, std::shared_ptr<Agent> owned) {
  std::uint32_t slot;
  if (state_.free_slots.empty()) {
    slot = static_cast<std::uint32_t>(state_.slots.size());
    state_.slots.emplace_back();
  } else {
    slot = state_.free_slots.back();
    state_.free_slots.pop_back();
  }
  Resident& resident = state_.slots[slot];
  const Candidate candidate{AgentOrdinal{static_cast<std::int32_t>(state_.started++)}, slot, agent->role(),
                            &resident.operation};
  resident = Resident{.agent = agent, .owned = std::move(owned), .candidate = candidate, .operation = {}};
  if (options_.clock != nullptr) options_.clock->Enter(candidate.id, resident.owned != nullptr);
  return slot;
}

absl::Status RunLoop::Admit() {
  while (!state_.source_empty && state_.resident < options_.resident && source_.Ready()) {
    PALLADION_ASSIGN_OR_RETURN(Agent * agent, source_.Next());
    state_.source_empty = agent == nullptr;
    if (state_.source_empty) break;
    if (state_.started == std::numeric_limits<std::int32_t>::max())
      return absl::ResourceExhaustedError("more than 2^31 agents: run this grid in program order");
    const std::uint32_t slot = NewSlot(agent, nullptr);
    ++state_.resident;
    PALLADION_RETURN_IF_ERROR(ResumeUntilHeld(slot, Turn::kComes));
  }
  return absl::OkStatus();
}

AgentOrdinal RunLoop::Spawn(std::shared_ptr<Agent> agent, const Operation& first) {
  Agent* const plain = agent.get();
  const std::uint32_t slot = NewSlot(plain, std::move(agent));
  SetOperation(slot, first);
  StartWaiting(slot);
  return state_.slots[slot].candidate.id;
}

void RunLoop::Retire(std::uint32_t slot) {
  Resident& resident = state_.slots[slot];
  if (options_.record) {
    state_.result.operations.resize(static_cast<std::size_t>(state_.started));
    state_.result.operations[resident.candidate.id.index()] = resident.operations;
  }
  SetReady(slot, false);
  state_.look_for_deadlock = true;
  Agent* const agent = resident.agent;
  const bool spawned = resident.owned != nullptr;
  if (options_.clock != nullptr) options_.clock->Leave(resident.candidate.id);
  resident = Resident{};
  state_.free_slots.push_back(slot);
  if (spawned) return;
  state_.since_end = 0;
  --state_.resident;
  if (!keeps_agents()) source_.Retire(agent);
}

// ---- which agents can go

void RunLoop::SetReady(std::uint32_t slot, bool ready) {
  Resident& resident = state_.slots[slot];
  if (resident.ready == ready) return;
  resident.ready = ready;
  if (ready) {
    state_.runnable.Insert(resident.candidate);
  } else {
    state_.runnable.Erase(resident.candidate.id);
  }
}

void RunLoop::SetOperation(std::uint32_t slot, const Operation& operation) {
  Resident& resident = state_.slots[slot];
  resident.operation = operation;
  const bool ready = operation.waits_for == nullptr || operation.waits_for->Ready();
  if (options_.clock != nullptr) options_.clock->Ask(resident.candidate.id);
  state_.look_for_deadlock |= !ready;
  SetReady(slot, ready);
}

RunLoop::Slots& RunLoop::WaitingWith(const Operation& operation) {
  const bool indexed = changes_ != nullptr && operation.waits_on != Operation::kUnknown;
  return indexed ? state_.waiting_on[operation.waits_on] : state_.waiting;
}

void RunLoop::StartWaiting(std::uint32_t slot) {
  Resident& resident = state_.slots[slot];
  if (resident.operation.waits_for == nullptr) return;
  resident.waits = true;
  WaitingWith(resident.operation).push_back(slot);
}

void RunLoop::StopWaiting(std::uint32_t slot) {
  state_.slots[slot].waits = false;
  const Operation& operation = state_.slots[slot].operation;
  Slots& slots = WaitingWith(operation);
  slots.erase(std::find(slots.begin(), slots.end(), slot));
  if (slots.empty() && &slots != &state_.waiting) state_.waiting_on.erase(operation.waits_on);
}

// ---- one operation

void RunLoop::Begin(std::uint32_t slot) {
  Resident& resident = state_.slots[slot];
  if (state_.running != resident.candidate.id) {
    if (state_.running.valid()) ++state_.result.switches;
    state_.in_a_row = 0;
    state_.running = resident.candidate.id;
    state_.running_slot = slot;
  }
  ++state_.in_a_row;
  ++state_.result.steps;
  state_.result.work += resident.operation.work;
  state_.since_end += resident.operation.work;
  state_.running_operations = ++resident.operations;
  if (options_.clock != nullptr) options_.clock->Begin(resident.candidate.id);
  if (resident.waits) StopWaiting(slot);
}

void RunLoop::EndOperation() {
  if (state_.turn != Turn::kGranted && state_.turn != Turn::kTaken) return;
  state_.turn = Turn::kOver;
  const Footprint& done = state_.slots[state_.running_slot].operation.footprint;
  AskAgain(state_.waiting, done);
  if (changes_ != nullptr) AskAboutChanges(done);
}

// What has changed outside the footprint is asked about with the next operation that conflicts, as it is of
// state_.waiting.
void RunLoop::AskAboutChanges(const Footprint& done) {
  const auto queried = [&](std::int64_t object) {
    const auto on = state_.waiting_on.find(object);
    return on == state_.waiting_on.end() || AskAgain(on->second, done);
  };
  if (changes_->anything()) {
    state_.owed.clear();
    for (const auto& [object, slots] : state_.waiting_on) {
      if (!AskAgain(slots, done)) state_.owed.push_back(object);
    }
  } else {
    if (!state_.owed.empty())
      state_.owed.erase(std::remove_if(state_.owed.begin(), state_.owed.end(), queried), state_.owed.end());
    for (const std::int64_t object : changes_->objects()) {
      if (!queried(object) && std::find(state_.owed.begin(), state_.owed.end(), object) == state_.owed.end())
        state_.owed.push_back(object);
    }
  }
  changes_->Clear();
}

bool RunLoop::AskAgain(const Slots& slots, const Footprint& done) {
  bool all = true;
  for (const std::uint32_t slot : slots) {
    const Operation& waiting = state_.slots[slot].operation;
    const bool conflicts = waiting.footprint.Conflicts(done);
    all &= conflicts;
    if (!conflicts) continue;
    const bool was_ready = state_.slots[slot].ready;
    SetReady(slot, waiting.waits_for->Ready());
    if (options_.clock != nullptr && !was_ready && state_.slots[slot].ready)
      options_.clock->EndWait(state_.slots[slot].candidate.id);
  }
  return all;
}

bool RunLoop::TakeGrant() {
  if (state_.turn != Turn::kGranted) return false;
  state_.turn = Turn::kTaken;
  return true;
}

bool RunLoop::MayGo(const Operation& operation) {
  if (TakeGrant()) return true;
  const bool comes = state_.turn == Turn::kComes;
  EndOperation();
  state_.turn = Turn::kOver;
  SetOperation(state_.active_slot, operation);
  const bool stop = comes || std::holds_alternative<Search>(driver_) || state_.since_end >= options_.budget ||
                    TimeToLook() || Interrupted(options_.control);
  if (!stop && state_.slots[state_.active_slot].ready) state_.chosen = Ask();
  if (state_.chosen != state_.active_slot) {
    StartWaiting(state_.active_slot);
    return false;
  }
  state_.chosen.reset();
  Begin(state_.active_slot);
  state_.turn = Turn::kTaken;
  return true;
}

Choice RunLoop::AllCandidates() const {
  if (!state_.running.valid()) return {.candidates = state_.runnable};
  const Resident& last = state_.slots[state_.running_slot];
  return {.candidates = state_.runnable,
          .current = last.ready && last.candidate.id == state_.running ? &last.candidate : nullptr};
}

std::uint32_t RunLoop::Ask() {
  Choice choice = AllCandidates();
  if (choice.current != nullptr && state_.in_a_row >= options_.patience && state_.runnable.size() > 1)
    choice = {.candidates = choice.candidates.Without(*choice.current), .tired = state_.running};
  const Candidate& pick = std::get<Policy*>(driver_)->Choose(choice);
  Record(choice, pick);
  return pick.slot;
}

void RunLoop::Record(const Choice& choice, const Candidate& pick) {
  if (!options_.record || pick.id == DefaultChoice(choice).id) return;
  state_.result.moves.push_back({state_.running, state_.running_operations, pick.id});
}

absl::Status RunLoop::ResumeUntilHeld(std::uint32_t slot, Turn turn) {
  state_.active_slot = slot;
  state_.turn = turn;
  if (options_.clock != nullptr) options_.clock->Resume(state_.slots[slot].candidate.id);
  Agent& agent = *state_.slots[slot].agent;
  PALLADION_RETURN_IF_ERROR(agent.Resume(*this));
  if (agent.done()) {
    EndOperation();
    Retire(slot);
  } else if (state_.turn != Turn::kOver) {
    return absl::InternalError(Cat(agent.Name(), " returned from Resume without a request to go on"));
  }
  return absl::OkStatus();
}

// ---- a run

absl::StatusOr<LoopResult> RunLoop::Run(Policy& policy) {
  driver_ = &policy;
  PALLADION_RETURN_IF_ERROR(Admit());
  while (!state_.runnable.empty()) {
    if (Interrupted(options_.control)) return InterruptedStatus();
    if (state_.since_end >= options_.budget) return TakeResult(Outcome::kBudget);
    if (FoundPartialDeadlock()) return TakeResult(Outcome::kDeadlock);
    const std::uint32_t slot = state_.chosen.has_value() ? *state_.chosen : Ask();
    state_.chosen.reset();
    Begin(slot);
    PALLADION_RETURN_IF_ERROR(ResumeUntilHeld(slot, Turn::kGranted));
    if (!state_.source_empty) PALLADION_RETURN_IF_ERROR(Admit());
  }
  return Finish();
}

absl::Status RunLoop::Start(Search search) {
  driver_ = search;
  PALLADION_RETURN_IF_ERROR(Admit());
  if (!keeps_agents() || state_.source_empty) return absl::OkStatus();
  PALLADION_ASSIGN_OR_RETURN(Agent * next, source_.Next());
  if (next == nullptr) return absl::OkStatus();
  return absl::ResourceExhaustedError(Cat("more than ", options_.resident, " agents: too many for exhaustive search"));
}

absl::Status RunLoop::Step(const Candidate& candidate) {
  const std::uint32_t slot = candidate.slot;
  Record(AllCandidates(), candidate);
  Begin(slot);
  PALLADION_RETURN_IF_ERROR(ResumeUntilHeld(slot, Turn::kGranted));
  return keeps_agents() || state_.source_empty ? absl::OkStatus() : Admit();
}

absl::StatusOr<LoopResult> RunLoop::Finish() {
  const bool all_done =
      std::none_of(state_.slots.begin(), state_.slots.end(), [](const Resident& r) { return r.live(); });
  return TakeResult(all_done ? Outcome::kFinished : Outcome::kDeadlock);
}

std::vector<LiveAgent> RunLoop::Live() const {
  std::vector<LiveAgent> live;
  for (const Resident& resident : state_.slots) {
    if (!resident.live()) continue;
    live.push_back({resident.candidate.id, resident.agent->Name(), &resident.operation, !resident.ready});
  }
  std::sort(live.begin(), live.end(), [](const LiveAgent& a, const LiveAgent& b) { return a.id < b.id; });
  return live;
}

// A look asks each about each, so it is done the more rarely the more there are.
bool RunLoop::TimeToLook() const {
  const auto live = static_cast<std::int64_t>(state_.slots.size() - state_.free_slots.size());
  return state_.look_for_deadlock &&
         state_.result.steps >= state_.looked_at_step + std::max(kDeadlockInterval, live * live);
}

bool RunLoop::FoundPartialDeadlock() {
  if (!TimeToLook()) return false;
  state_.look_for_deadlock = false;
  state_.looked_at_step = state_.result.steps;
  if (state_.runnable.size() == state_.slots.size() - state_.free_slots.size()) return false;
  state_.result.deadlock = FindDeadlock(Live(), state_.started);
  return !state_.result.deadlock.waits.empty();
}

absl::StatusOr<LoopResult> RunLoop::TakeResult(Outcome outcome) {
  LoopResult result = state_.result;
  result.outcome = outcome;
  result.agents = state_.started;
  if (options_.record) result.operations.resize(static_cast<std::size_t>(state_.started));
  for (const Resident& resident : state_.slots) {
    if (!resident.live()) continue;
    if (options_.record) result.operations[resident.candidate.id.index()] = resident.operations;
    if (resident.ready || !resident.operation.waits_for->Ready()) continue;
    return absl::InternalError(Cat(resident.agent->Name(), " waits for ", resident.operation.waits_for->Describe(),
                                   ", which became true without an operation whose footprint conflicts"));
  }
  if (outcome == Outcome::kDeadlock) result.deadlock = FindDeadlock(Live(), state_.started);
  return result;
}

// ---- snapshots

struct RunLoop::Saved {
  State state;
  std::vector<std::shared_ptr<const void>> agents;  // by slot
};

absl::StatusOr<std::shared_ptr<const RunLoop::Saved>> RunLoop::Save() const {
  auto saved = std::make_shared<Saved>(Saved{.state = state_, .agents = {}});
  for (const Resident& resident : state_.slots) {
    std::shared_ptr<const void> agent;
    if (resident.live()) {
      PALLADION_ASSIGN_OR_RETURN(agent, resident.agent->Save());
    }
    saved->agents.push_back(std::move(agent));
  }
  return std::shared_ptr<const Saved>(std::move(saved));
}

void RunLoop::Relink() {
  state_.runnable = {};
  for (Resident& resident : state_.slots) {
    resident.candidate.operation = &resident.operation;
    if (resident.ready) state_.runnable.Insert(resident.candidate);
  }
}

void RunLoop::Restore(const Saved& saved) {
  state_ = saved.state;
  Relink();
  if (changes_ != nullptr) changes_->AddAnything();  // what was owed here is asked about with all else
  for (std::size_t i = 0; i < state_.slots.size(); ++i)
    if (state_.slots[i].live()) state_.slots[i].agent->Restore(saved.agents[i].get());
}

}  // namespace palladion::scheduler
