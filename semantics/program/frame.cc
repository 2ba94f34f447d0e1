// The step loop. Operands are fetched here once for every value operation, so no operation repeats it.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "absl/strings/cord.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/program/generator_task.h"
#include "semantics/program/inspections.h"
#include "semantics/program/program.h"

namespace palladion {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kMaxInlineOperands = 8;
constexpr absl::string_view kPause = "palladion/pause";

void RunValue(const Step& step, Frame& frame) {
  const std::byte* in[kMaxInlineOperands];
  std::byte* out[kMaxInlineOperands];
  for (std::size_t i = 0; i < step.n_in; ++i) in[i] = frame.slot(frame.in(step, i));
  for (std::size_t i = 0; i < step.n_out; ++i) out[i] = frame.slot(frame.out(step, i));
  step.value(step.params, {in, out, frame.scratch(), frame.parallel(), frame.control()});
}

// Most operations: the loops over operands, unrolled.
template <int kIn>
void RunOneResult(const Step& step, Frame& frame) {
  const std::byte* in[kIn];
  for (int i = 0; i < kIn; ++i) in[i] = frame.slot(frame.in(step, i));
  std::byte* out = frame.slot(frame.out(step, 0));
  step.value(step.params, {in, &out, frame.scratch(), frame.parallel(), frame.control()});
}

// concatenate, split and friends of many operands.
void RunWideValue(const Step& step, Frame& frame) {
  std::vector<const std::byte*> in(step.n_in);
  std::vector<std::byte*> out(step.n_out);
  for (std::size_t i = 0; i < step.n_in; ++i) in[i] = frame.slot(frame.in(step, i));
  for (std::size_t i = 0; i < step.n_out; ++i) out[i] = frame.slot(frame.out(step, i));
  step.value(step.params, {in.data(), out.data(), frame.scratch(), frame.parallel(), frame.control()});
}

inline void RunAnyValue(const Step& step, Frame& frame) {
  if (step.n_out == 1 && step.n_in == 2) {
    RunOneResult<2>(step, frame);
  } else if (step.n_out == 1 && step.n_in == 1) {
    RunOneResult<1>(step, frame);
  } else if (step.n_in <= kMaxInlineOperands && step.n_out <= kMaxInlineOperands) {
    RunValue(step, frame);
  } else {
    RunWideValue(step, frame);
  }
}

std::byte* AllocateArena(std::size_t bytes) {
  return static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{kAlignment}));
}

}  // namespace

void Frame::Free::operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{kAlignment}); }

Frame::Frame(const Program& program, Machine& machine)
    : program_(&program),
      machine_(&machine),
      arena_(AllocateArena(program.arena_bytes + program.scratch_bytes + kAlignment)),
      scratch_(arena_.get() + program.arena_bytes) {
  state_.refs.resize(program.refs.size());
  state_.slots.reserve(program.slots.size());
  for (const SlotInfo& slot : program.slots) {
    // Constants are never written: no step has one among its results.
    state_.slots.push_back(slot.constant != nullptr ? const_cast<std::byte*>(slot.constant)
                                                    : arena_.get() + slot.offset);
  }
}

void Frame::SetGrid(std::vector<std::int64_t> size, const GridWalk& walk) {
  grid_size_ = std::move(size);
  state_.grid_index.assign(grid_size_.size(), 0);
  walk_ = &walk;
}

std::optional<std::int64_t> Frame::NextOfTask() const {
  const std::int64_t next = state_.program_number + 1;
  if (!has_next_program() || (equipment_.tasks_apart && walk_->NewTask(next, state_.grid_index))) return std::nullopt;
  return next;
}

void Frame::BeginPrograms(std::int64_t first, std::int64_t end) {
  state_.pc = 0;
  state_.turn = ProgramTurn::kFirst;
  CountAnew();
  if (equipment_.shadow != nullptr) equipment_.shadow->Clear();
  state_.program_number = first;
  state_.agent = AgentOfProgram(first);
  state_.end_program = end;
  StandAt(first);
}

void Frame::EndProgram() {
  if (first_program()) state_.turn = ProgramTurn::kNext;
  CountAnew();
}

bool Frame::NextProgram() {
  if (!has_next_program()) return false;
  const std::int64_t next = ++state_.program_number;
  if (equipment_.tasks_apart) {
    const bool new_task = walk_->NewTask(next, state_.grid_index);
    state_.turn = new_task ? ProgramTurn::kNewTask : ProgramTurn::kNext;
    if (new_task) BeginTask(state_.generator);
  }
  StandAt(next);
  // Where agents are threads to the machine, the core is one through all its programs.
  if (!program_->uses_port) state_.agent = AgentOfProgram(next);
  if (equipment_.shadow != nullptr) equipment_.shadow->Clear();
  return true;
}

absl::Status Frame::Run() {
  if (equipment_.hooks != nullptr) return RunHooked();
  if (equipment_.shadow != nullptr || equipment_.inspections != nullptr) return RunChecked();
  return equipment_.ran == nullptr ? RunPlain<false>() : RunPlain<true>();
}

template <bool kMarksRan>
absl::Status Frame::RunPlain() {
  const std::vector<Step>& steps = program_->steps;
  while (state_.pc < steps.size()) {
    if constexpr (kMarksRan) equipment_.ran[state_.pc] = 1;
    const Step& step = steps[state_.pc++];
    if (step.value == nullptr) {
      PALLADION_RETURN_IF_ERROR(step.fn(step.params, step, *this));
    } else {
      RunAnyValue(step, *this);
      if (step.work != 0 && Interrupted(equipment_.control)) return InterruptedStatus();
    }
  }
  return absl::OkStatus();
}

absl::Status Frame::Look() {
  constexpr std::int64_t kEvery = std::int64_t{1} << 12;
  const std::int64_t budget = equipment_.loop_budget;
  if (budget > 0 && state_.spent > budget)
    return BudgetStatus(Cat("the budget of ", budget, " loop iterations is spent"));
  look_at_ = state_.spent + kEvery;
  if (budget > 0) look_at_ = std::min(look_at_, budget + 1);
  RunControl* const control = equipment_.control;
  if (control == nullptr) return absl::OkStatus();
  control->Spent(state_.spent, budget);
  return control->interrupted() ? InterruptedStatus() : absl::OkStatus();
}

// While nothing is undefined the shadow costs one test.
inline absl::Status Frame::RunCheckedStep(const Step& step) {
  FrameShadow* const shadow = equipment_.shadow;
  Inspections* const inspections = equipment_.inspections;
  if (step.value == nullptr) {
    if (shadow != nullptr && shadow->any()) shadow->SetDefinedResults(step, *this);  // a load may say otherwise
    return step.fn(step.params, step, *this);
  }
  const bool inspects = inspections != nullptr && step.inspected != nullptr;
  if (inspects) inspections->Look(step, *this);
  RunAnyValue(step, *this);
  if (shadow != nullptr && shadow->any())
    shadow->RunValue(static_cast<std::size_t>(&step - program_->steps.data()), *this);
  if (inspects) inspections->MarkResults(step, *this);
  return step.work != 0 && Interrupted(equipment_.control) ? InterruptedStatus() : absl::OkStatus();
}

absl::Status PauseStatus() {
  absl::Status pause = absl::CancelledError("paused");
  pause.SetPayload(kPause, absl::Cord());
  return pause;
}

bool IsPause(const absl::Status& status) { return !status.ok() && status.GetPayload(kPause).has_value(); }

absl::Status Frame::RunChecked() {
  const std::vector<Step>& steps = program_->steps;
  while (state_.pc < steps.size()) {
    if (equipment_.ran != nullptr) equipment_.ran[state_.pc] = 1;
    PALLADION_RETURN_IF_ERROR(RunCheckedStep(steps[state_.pc++]));
  }
  return absl::OkStatus();
}

absl::Status Frame::RunHooked() {
  const std::vector<Step>& steps = program_->steps;
  while (state_.pc < steps.size()) {
    const Step& step = steps[state_.pc];
    if ((step.visible || step.loop >= 0) && !equipment_.hooks->MayGo(step, *this)) return absl::OkStatus();
    if (equipment_.ran != nullptr) equipment_.ran[state_.pc] = 1;
    ++state_.pc;
    equipment_.hooks->Before(step, *this);
    PALLADION_RETURN_IF_ERROR(RunCheckedStep(step));
    equipment_.hooks->After(step, *this);
  }
  return absl::OkStatus();
}

}  // namespace palladion
