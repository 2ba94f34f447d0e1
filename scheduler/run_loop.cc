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
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  Resident& resident = slots_[slot];
  const Candidate candidate{AgentOrdinal{static_cast<std::int32_t>(started_++)}, slot, agent->role(),
                            &resident.operation};
  resident = Resident{.agent = agent, .owned = std::move(owned), .candidate = candidate, .operation = {}, .live = true};
  if (options_.clock != nullptr) options_.clock->Enter(candidate.id, resident.owned != nullptr);
  return slot;
}

absl::Status RunLoop::Admit() {
  while (!source_empty_ && resident_ < options_.resident && source_.Ready()) {
    PALLADION_ASSIGN_OR_RETURN(Agent * agent, source_.Next());
    source_empty_ = agent == nullptr;
    if (source_empty_) break;
    if (started_ == std::numeric_limits<std::int32_t>::max())
      return absl::ResourceExhaustedError("more than 2^31 agents: run this grid in program order");
    const std::uint32_t slot = NewSlot(agent, nullptr);
    ++resident_;
    admitting_ = true;
    const absl::Status status = ResumeUntilHeld(slot);
    admitting_ = false;
    PALLADION_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

AgentOrdinal RunLoop::Spawn(std::shared_ptr<Agent> agent, const Operation& first) {
  Agent* const plain = agent.get();
  const std::uint32_t slot = NewSlot(plain, std::move(agent));
  SetOperation(slot, first);
  StartWaiting(slot);
  return slots_[slot].candidate.id;
}

void RunLoop::Retire(std::uint32_t slot) {
  Resident& resident = slots_[slot];
  if (options_.record) {
    result_.operations.resize(static_cast<std::size_t>(started_));
    result_.operations[resident.candidate.id.index()] = resident.operations;
  }
  SetReady(slot, false);
  look_for_deadlock_ = true;
  Agent* const agent = resident.agent;
  const bool spawned = resident.owned != nullptr;
  if (options_.clock != nullptr) options_.clock->Leave(resident.candidate.id);
  resident = Resident{};
  free_slots_.push_back(slot);
  if (spawned) return;
  since_end_ = 0;
  --resident_;
  if (policy_ != nullptr) source_.Retire(agent);  // else its state may be restored
}

// ---- who can go

void RunLoop::SetReady(std::uint32_t slot, bool ready) {
  Resident& resident = slots_[slot];
  if (resident.ready == ready) return;
  resident.ready = ready;
  if (ready) {
    runnable_.Insert(resident.candidate);
  } else {
    runnable_.Erase(resident.candidate.id);
  }
}

void RunLoop::SetOperation(std::uint32_t slot, const Operation& operation) {
  Resident& resident = slots_[slot];
  resident.operation = operation;
  const bool ready = operation.waits_for == nullptr || operation.waits_for->Ready();
  if (options_.clock != nullptr) options_.clock->Ask(resident.candidate.id);
  look_for_deadlock_ |= !ready;
  SetReady(slot, ready);
}

RunLoop::Slots& RunLoop::WaitingWith(const Operation& operation) {
  const bool indexed = changes_ != nullptr && operation.waits_on != Operation::kUnknown;
  return indexed ? waiting_on_[operation.waits_on] : waiting_;
}

void RunLoop::StartWaiting(std::uint32_t slot) {
  Resident& resident = slots_[slot];
  if (resident.operation.waits_for == nullptr) return;
  resident.waits = true;
  WaitingWith(resident.operation).push_back(slot);
}

void RunLoop::StopWaiting(std::uint32_t slot) {
  slots_[slot].waits = false;
  const Operation& operation = slots_[slot].operation;
  Slots& slots = WaitingWith(operation);
  slots.erase(std::find(slots.begin(), slots.end(), slot));
  if (slots.empty() && &slots != &waiting_) waiting_on_.erase(operation.waits_on);
}

// ---- one operation

void RunLoop::Begin(std::uint32_t slot) {
  Resident& resident = slots_[slot];
  if (running_ != resident.candidate.id) {
    if (running_.valid()) ++result_.switches;
    in_a_row_ = 0;
    running_ = resident.candidate.id;
    running_slot_ = slot;
  }
  ++in_a_row_;
  ++result_.steps;
  result_.work += resident.operation.work;
  since_end_ += resident.operation.work;
  running_operations_ = ++resident.operations;
  in_operation_ = true;
  if (options_.clock != nullptr) options_.clock->Begin(resident.candidate.id);
  if (resident.waits) StopWaiting(slot);
  if (policy_ == nullptr) touched_ = resident.operation.footprint;
}

void RunLoop::EndOperation() {
  if (!in_operation_) return;
  in_operation_ = false;
  const Footprint& done = slots_[running_slot_].operation.footprint;
  AskAgain(waiting_, done);
  if (changes_ != nullptr) AskAboutChanges(done);
}

// What has changed outside the footprint is asked about with the next operation that conflicts, as it is of waiting_.
void RunLoop::AskAboutChanges(const Footprint& done) {
  const auto are_asked = [&](std::int64_t object) {
    const auto on = waiting_on_.find(object);
    return on == waiting_on_.end() || AskAgain(on->second, done);
  };
  if (changes_->anything()) {
    owed_.clear();
    for (const auto& [object, slots] : waiting_on_) {
      if (!AskAgain(slots, done)) owed_.push_back(object);
    }
  } else {
    if (!owed_.empty()) owed_.erase(std::remove_if(owed_.begin(), owed_.end(), are_asked), owed_.end());
    for (const std::int64_t object : changes_->objects()) {
      if (!are_asked(object) && std::find(owed_.begin(), owed_.end(), object) == owed_.end()) owed_.push_back(object);
    }
  }
  changes_->Clear();
}

bool RunLoop::AskAgain(const Slots& slots, const Footprint& done) {
  bool all = true;
  for (const std::uint32_t slot : slots) {
    const Operation& waiting = slots_[slot].operation;
    const bool conflicts = waiting.footprint.Conflicts(done);
    all &= conflicts;
    if (!conflicts) continue;
    const bool was_ready = slots_[slot].ready;
    SetReady(slot, waiting.waits_for->Ready());
    if (options_.clock != nullptr && !was_ready && slots_[slot].ready)
      options_.clock->EndWait(slots_[slot].candidate.id);
  }
  return all;
}

bool RunLoop::TakeGrant() { return std::exchange(granted_, false); }

bool RunLoop::MayGo(const Operation& operation) {
  if (TakeGrant()) return true;
  held_ = true;
  if (!admitting_) EndOperation();
  SetOperation(active_slot_, operation);
  const bool stop = admitting_ || policy_ == nullptr || since_end_ >= options_.budget || TimeToLook() ||
                    Interrupted(options_.control);
  if (!stop && slots_[active_slot_].ready) chosen_ = Ask();
  if (chosen_ != active_slot_) {
    StartWaiting(active_slot_);
    return false;
  }
  chosen_.reset();
  Begin(active_slot_);
  held_ = false;
  return true;
}

Choice RunLoop::AllCandidates() const {
  if (!running_.valid()) return {.candidates = runnable_};
  const Resident& last = slots_[running_slot_];
  return {.candidates = runnable_, .current = last.ready && last.candidate.id == running_ ? &last.candidate : nullptr};
}

std::uint32_t RunLoop::Ask() {
  Choice choice = AllCandidates();
  if (choice.current != nullptr && in_a_row_ >= options_.patience && runnable_.size() > 1)
    choice = {.candidates = choice.candidates.Without(*choice.current), .tired = running_};
  const Candidate& pick = policy_->Choose(choice);
  Record(choice, pick);
  return pick.slot;
}

void RunLoop::Record(const Choice& choice, const Candidate& pick) {
  if (!options_.record || pick.id == DefaultChoice(choice).id) return;
  result_.moves.push_back({running_, running_operations_, pick.id});
}

absl::Status RunLoop::ResumeUntilHeld(std::uint32_t slot) {
  active_slot_ = slot;
  held_ = false;
  if (options_.clock != nullptr) options_.clock->Resume(slots_[slot].candidate.id);
  Agent& agent = *slots_[slot].agent;
  PALLADION_RETURN_IF_ERROR(agent.Resume(*this));
  if (agent.done()) {
    if (!admitting_) EndOperation();
    granted_ = false;
    Retire(slot);
  } else if (!held_ || granted_) {
    return absl::InternalError(Cat(agent.Name(), " returned from Resume without having asked to go on"));
  }
  return absl::OkStatus();
}

// ---- a run

absl::StatusOr<LoopResult> RunLoop::Run(Policy& policy) {
  policy_ = &policy;
  PALLADION_RETURN_IF_ERROR(Admit());
  while (!runnable_.empty()) {
    if (Interrupted(options_.control)) return InterruptedStatus();
    if (since_end_ >= options_.budget) return TakeResult(Outcome::kBudget);
    if (FoundPartialDeadlock()) return TakeResult(Outcome::kDeadlock);
    const std::uint32_t slot = chosen_.has_value() ? *chosen_ : Ask();
    chosen_.reset();
    Begin(slot);
    granted_ = true;
    PALLADION_RETURN_IF_ERROR(ResumeUntilHeld(slot));
    if (!source_empty_) PALLADION_RETURN_IF_ERROR(Admit());
  }
  return Finish();
}

absl::Status RunLoop::Start() {
  policy_ = nullptr;
  PALLADION_RETURN_IF_ERROR(Admit());
  if (source_empty_) return absl::OkStatus();
  PALLADION_ASSIGN_OR_RETURN(Agent * next, source_.Next());
  if (next == nullptr) return absl::OkStatus();
  if (resident_ < options_.resident)
    return absl::UnimplementedError(
        "some agents of this kernel begin only after others have ended (cores with several programs each), which an "
        "exhaustive search does not follow; check it with seeds");
  return absl::ResourceExhaustedError(Cat("more than ", options_.resident, " agents: too many for exhaustive search"));
}

absl::Status RunLoop::Step(const Candidate& candidate) {
  const std::uint32_t slot = candidate.slot;
  Record(AllCandidates(), candidate);
  Begin(slot);
  granted_ = true;
  return ResumeUntilHeld(slot);
}

absl::StatusOr<LoopResult> RunLoop::Finish() {
  const bool all_done = std::none_of(slots_.begin(), slots_.end(), [](const Resident& r) { return r.live; });
  return TakeResult(all_done ? Outcome::kFinished : Outcome::kDeadlock);
}

std::vector<LiveAgent> RunLoop::Live() const {
  std::vector<LiveAgent> live;
  for (const Resident& resident : slots_) {
    if (!resident.live) continue;
    live.push_back({resident.candidate.id, resident.agent->Name(), &resident.operation, !resident.ready});
  }
  std::sort(live.begin(), live.end(), [](const LiveAgent& a, const LiveAgent& b) { return a.id < b.id; });
  return live;
}

// A look asks each about each, so it is done the more rarely the more there are.
bool RunLoop::TimeToLook() const {
  const auto live = static_cast<std::int64_t>(slots_.size() - free_slots_.size());
  return look_for_deadlock_ && result_.steps >= looked_at_step_ + std::max(kDeadlockInterval, live * live);
}

bool RunLoop::FoundPartialDeadlock() {
  if (!TimeToLook()) return false;
  look_for_deadlock_ = false;
  looked_at_step_ = result_.steps;
  if (runnable_.size() == slots_.size() - free_slots_.size()) return false;
  result_.deadlock = FindDeadlock(Live(), started_);
  return !result_.deadlock.waits.empty();
}

absl::StatusOr<LoopResult> RunLoop::TakeResult(Outcome outcome) {
  LoopResult result = result_;
  result.outcome = outcome;
  result.agents = started_;
  if (options_.record) result.operations.resize(static_cast<std::size_t>(started_));
  for (const Resident& resident : slots_) {
    if (!resident.live) continue;
    if (options_.record) result.operations[resident.candidate.id.index()] = resident.operations;
    if (resident.ready || !resident.operation.waits_for->Ready()) continue;
    return absl::InternalError(Cat(resident.agent->Name(), " waits for ", resident.operation.waits_for->Describe(),
                                   ", which became true without an operation whose footprint conflicts"));
  }
  if (outcome == Outcome::kDeadlock) result.deadlock = FindDeadlock(Live(), started_);
  return result;
}

// ---- snapshots

struct RunLoop::Saved {
  std::deque<Resident> slots;
  std::vector<std::shared_ptr<const void>> agents;  // by slot
  std::vector<std::uint32_t> free_slots;
  absl::flat_hash_map<std::int64_t, Slots> waiting_on;
  Slots waiting;
  std::vector<std::int64_t> owed;
  std::size_t resident = 0;
  std::int64_t started = 0;
  AgentOrdinal running;
  std::uint32_t running_slot = 0;
  std::int64_t running_operations = 0, in_a_row = 0;
  LoopResult result;
};

absl::StatusOr<std::shared_ptr<const RunLoop::Saved>> RunLoop::Save() const {
  auto saved = std::make_shared<Saved>(Saved{.slots = slots_,
                                             .agents = {},
                                             .free_slots = free_slots_,
                                             .waiting_on = waiting_on_,
                                             .waiting = waiting_,
                                             .owed = owed_,
                                             .resident = resident_,
                                             .started = started_,
                                             .running = running_,
                                             .running_slot = running_slot_,
                                             .running_operations = running_operations_,
                                             .in_a_row = in_a_row_,
                                             .result = result_});
  for (const Resident& resident : slots_) {
    std::shared_ptr<const void> agent;
    if (resident.live) {
      PALLADION_ASSIGN_OR_RETURN(agent, resident.agent->Save());
    }
    saved->agents.push_back(std::move(agent));
  }
  return std::shared_ptr<const Saved>(std::move(saved));
}

void RunLoop::Restore(const Saved& saved) {
  slots_ = saved.slots;
  free_slots_ = saved.free_slots;
  runnable_ = {};
  for (Resident& resident : slots_) {
    resident.candidate.operation = &resident.operation;  // the saved one's was where that was
    if (resident.ready) runnable_.Insert(resident.candidate);
  }
  waiting_on_ = saved.waiting_on;
  waiting_ = saved.waiting;
  owed_ = saved.owed;
  resident_ = saved.resident;
  started_ = saved.started;
  running_ = saved.running;
  running_slot_ = saved.running_slot;
  running_operations_ = saved.running_operations;
  in_a_row_ = saved.in_a_row;
  result_ = saved.result;
  granted_ = in_operation_ = false;
  chosen_.reset();
  if (changes_ != nullptr) changes_->AddAnything();  // what was owed here is asked about with all else
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].live) slots_[i].agent->Restore(saved.agents[i].get());
}

}  // namespace palladion::scheduler
