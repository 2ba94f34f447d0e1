#include "scheduler/run_loop.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::scheduler {
namespace {

constexpr std::int64_t kDeadlockInterval = 4096;  // operations between two looks for a partial deadlock

}  // namespace

std::size_t DefaultChoice(const Choice& choice) {
  if (choice.current != Choice::kNone) return choice.current;
  if (!choice.tired.valid()) return 0;
  for (std::size_t i = 0; i < choice.candidates.size(); ++i) {
    if (choice.tired < choice.candidates[i].id) return i;
  }
  return 0;
}

RunLoop::RunLoop(AgentSource& source, const LoopOptions& options) : source_(source), options_(options) {}

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
  slots_[slot] = Resident{.agent = agent,
                          .owned = std::move(owned),
                          .id = AgentOrdinal{static_cast<std::int32_t>(started_++)},
                          .operation = {},
                          .live = true};
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
  return slots_[slot].id;
}

void RunLoop::Retire(std::uint32_t slot) {
  Resident& resident = slots_[slot];
  if (options_.record) {
    result_.operations.resize(static_cast<std::size_t>(started_));
    result_.operations[resident.id.index()] = resident.operations;
  }
  SetReady(slot, false);
  look_for_deadlock_ = true;
  Agent* const agent = resident.agent;
  const bool spawned = resident.owned != nullptr;
  resident = Resident{};
  free_slots_.push_back(slot);
  if (spawned) return;
  since_end_ = 0;
  --resident_;
  if (policy_ != nullptr) source_.Retire(agent);  // else its state may be restored
}

// ---- who can go

std::size_t RunLoop::PositionOf(AgentOrdinal id) const {
  const auto at =
      std::lower_bound(runnable_.begin(), runnable_.end(), id,
                       [](const Candidate& candidate, AgentOrdinal wanted) { return candidate.id < wanted; });
  return static_cast<std::size_t>(at - runnable_.begin());
}

void RunLoop::SetReady(std::uint32_t slot, bool ready) {
  Resident& resident = slots_[slot];
  if (resident.ready == ready) return;
  resident.ready = ready;
  const auto at = runnable_.begin() + static_cast<std::ptrdiff_t>(PositionOf(resident.id));
  if (ready) {
    runnable_.insert(at, Candidate{resident.id, slot, resident.agent->role(), &resident.operation});
  } else {
    runnable_.erase(at);
  }
}

void RunLoop::SetOperation(std::uint32_t slot, const Operation& operation) {
  Resident& resident = slots_[slot];
  resident.operation = operation;
  if (operation.waits_for != nullptr) waiting_.push_back(slot);
  const bool ready = operation.waits_for == nullptr || operation.waits_for->Ready();
  look_for_deadlock_ |= !ready;
  SetReady(slot, ready);
}

void RunLoop::StopWaiting(std::uint32_t slot) { waiting_.erase(std::find(waiting_.begin(), waiting_.end(), slot)); }

// ---- one operation

void RunLoop::Begin(std::size_t candidate) {
  const std::uint32_t slot = runnable_[candidate].slot;
  Resident& resident = slots_[slot];
  if (running_ != resident.id) {
    if (running_.valid()) ++result_.switches;
    in_a_row_ = 0;
    running_ = resident.id;
    running_slot_ = slot;
  }
  ++in_a_row_;
  ++result_.steps;
  result_.work += resident.operation.work;
  since_end_ += resident.operation.work;
  running_operations_ = ++resident.operations;
  in_operation_ = true;
  if (resident.operation.waits_for != nullptr) StopWaiting(slot);
  if (policy_ == nullptr) touched_ = resident.operation.footprint;
}

void RunLoop::EndOperation() {
  if (!in_operation_) return;
  in_operation_ = false;
  const Footprint& done = slots_[running_slot_].operation.footprint;
  for (std::uint32_t slot : waiting_) {
    const Operation& waiting = slots_[slot].operation;
    if (waiting.footprint.Conflicts(done)) SetReady(slot, waiting.waits_for->Ready());
  }
}

bool RunLoop::TakeGrant() { return std::exchange(granted_, false); }

bool RunLoop::MayGo(const Operation& operation) {
  if (TakeGrant()) return true;
  held_ = true;
  if (!admitting_) EndOperation();
  SetOperation(active_slot_, operation);
  const bool stop = admitting_ || policy_ == nullptr || since_end_ >= options_.budget || TimeToLook() ||
                    Interrupted(options_.control);
  if (stop || !slots_[active_slot_].ready) return false;
  chosen_ = Ask();
  if (runnable_[chosen_].slot != active_slot_) return false;
  Begin(std::exchange(chosen_, Choice::kNone));
  held_ = false;
  return true;
}

Choice RunLoop::AllCandidates() const {
  const std::size_t position = PositionOf(running_);
  const bool there = running_.valid() && position < runnable_.size() && runnable_[position].id == running_;
  return {.candidates = runnable_, .current = there ? position : Choice::kNone};
}

std::size_t RunLoop::Ask() {
  const Choice choice = AllCandidates();
  if (choice.current != Choice::kNone && in_a_row_ >= options_.patience && runnable_.size() > 1)
    return AskOthers(choice.current);
  const std::size_t pick = policy_->Choose(choice);
  Record(choice, pick);
  return pick;
}

std::size_t RunLoop::AskOthers(std::size_t tired) {
  others_ = runnable_;
  others_.erase(others_.begin() + static_cast<std::ptrdiff_t>(tired));
  const Choice choice{.candidates = others_, .tired = running_};
  const std::size_t pick = policy_->Choose(choice);
  Record(choice, pick);
  return pick < tired ? pick : pick + 1;
}

void RunLoop::Record(const Choice& choice, std::size_t pick) {
  if (!options_.record || pick == DefaultChoice(choice)) return;
  result_.moves.push_back({running_, running_operations_, choice.candidates[pick].id});
}

absl::Status RunLoop::ResumeUntilHeld(std::uint32_t slot) {
  active_slot_ = slot;
  held_ = false;
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
    if (chosen_ == Choice::kNone) chosen_ = Ask();
    const std::uint32_t slot = runnable_[chosen_].slot;
    Begin(std::exchange(chosen_, Choice::kNone));
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
  return absl::ResourceExhaustedError(Cat("more than ", options_.resident, " agents: too many for exhaustive search"));
}

absl::Status RunLoop::Step(std::size_t candidate) {
  const std::uint32_t slot = runnable_[candidate].slot;
  Record(AllCandidates(), candidate);
  Begin(candidate);
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
    live.push_back({resident.id, resident.agent->Name(), &resident.operation, !resident.ready});
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
    if (options_.record) result.operations[resident.id.index()] = resident.operations;
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
  std::vector<Candidate> runnable;
  std::vector<std::uint32_t> waiting;
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
                                             .runnable = runnable_,
                                             .waiting = waiting_,
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
  runnable_ = saved.runnable;
  for (Candidate& candidate : runnable_) candidate.operation = &slots_[candidate.slot].operation;
  waiting_ = saved.waiting;
  resident_ = saved.resident;
  started_ = saved.started;
  running_ = saved.running;
  running_slot_ = saved.running_slot;
  running_operations_ = saved.running_operations;
  in_a_row_ = saved.in_a_row;
  result_ = saved.result;
  granted_ = in_operation_ = false;
  chosen_ = Choice::kNone;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].live) slots_[i].agent->Restore(saved.agents[i].get());
  }
}

}  // namespace palladion::scheduler
