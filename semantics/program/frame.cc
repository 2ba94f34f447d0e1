// The step loop. Operands are fetched here once for every value operation, so no operation repeats it.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "absl/strings/cord.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/frame_shadow.h"
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
  step.value(step.params, {in, out, frame.scratch(), frame.parallel, frame.control});
}

// Most operations: the loops over operands, unrolled.
template <int kIn>
void RunOneResult(const Step& step, Frame& frame) {
  const std::byte* in[kIn];
  for (int i = 0; i < kIn; ++i) in[i] = frame.slot(frame.in(step, i));
  std::byte* out = frame.slot(frame.out(step, 0));
  step.value(step.params, {in, &out, frame.scratch(), frame.parallel, frame.control});
}

// concatenate, split and friends of many operands.
void RunWideValue(const Step& step, Frame& frame) {
  std::vector<const std::byte*> in(step.n_in);
  std::vector<std::byte*> out(step.n_out);
  for (std::size_t i = 0; i < step.n_in; ++i) in[i] = frame.slot(frame.in(step, i));
  for (std::size_t i = 0; i < step.n_out; ++i) out[i] = frame.slot(frame.out(step, i));
  step.value(step.params, {in.data(), out.data(), frame.scratch(), frame.parallel, frame.control});
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
  refs_.resize(program.refs.size());
  slots_.reserve(program.slots.size());
  for (const SlotInfo& slot : program.slots) {
    // Constants are never written: no step has one among its results.
    slots_.push_back(slot.constant != nullptr ? const_cast<std::byte*>(slot.constant) : arena_.get() + slot.offset);
  }
}

absl::Status Frame::Run() {
  if (hooks != nullptr) return RunHooked();
  if (shadow != nullptr || inspections != nullptr) return RunChecked();
  return ran == nullptr ? RunPlain<false>() : RunPlain<true>();
}

template <bool kMarksRan>
absl::Status Frame::RunPlain() {
  const std::vector<Step>& steps = program_->steps;
  while (pc < steps.size()) {
    if constexpr (kMarksRan) ran[pc] = 1;
    const Step& step = steps[pc++];
    if (step.value == nullptr) {
      PALLADION_RETURN_IF_ERROR(step.fn(step.params, step, *this));
    } else {
      RunAnyValue(step, *this);
      if (step.work != 0 && Interrupted(control)) return InterruptedStatus();
    }
  }
  return absl::OkStatus();
}

absl::Status Frame::Look() {
  constexpr std::int64_t kEvery = std::int64_t{1} << 12;
  const bool bounded = back_edge_budget > 0;
  if (bounded && spent > back_edge_budget)
    return BudgetStatus(Cat("the budget of ", back_edge_budget, " loop iterations is spent"));
  look_at = spent + kEvery;
  if (bounded) look_at = std::min(look_at, back_edge_budget + 1);
  if (control == nullptr) return absl::OkStatus();
  control->Spent(spent, back_edge_budget);
  return control->interrupted() ? InterruptedStatus() : absl::OkStatus();
}

// While nothing is undefined the shadow costs one test.
inline absl::Status Frame::RunCheckedStep(const Step& step) {
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
  return step.work != 0 && Interrupted(control) ? InterruptedStatus() : absl::OkStatus();
}

absl::Status PauseStatus() {
  absl::Status pause = absl::CancelledError("paused");
  pause.SetPayload(kPause, absl::Cord());
  return pause;
}

bool IsPause(const absl::Status& status) { return !status.ok() && status.GetPayload(kPause).has_value(); }

absl::Status Frame::RunChecked() {
  const std::vector<Step>& steps = program_->steps;
  while (pc < steps.size()) {
    if (ran != nullptr) ran[pc] = 1;
    PALLADION_RETURN_IF_ERROR(RunCheckedStep(steps[pc++]));
  }
  return absl::OkStatus();
}

absl::Status Frame::RunHooked() {
  const std::vector<Step>& steps = program_->steps;
  while (pc < steps.size()) {
    const Step& step = steps[pc];
    if ((step.visible || step.loop >= 0) && !hooks->MayGo(step, *this)) return absl::OkStatus();
    if (ran != nullptr) ran[pc] = 1;
    ++pc;
    hooks->Before(step, *this);
    PALLADION_RETURN_IF_ERROR(RunCheckedStep(step));
    hooks->After(step, *this);
  }
  return absl::OkStatus();
}

}  // namespace palladion
