#include "semantics/program/frame_shadow.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/builder.h"
#include "semantics/program/strips.h"

namespace palladion {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kMaxInlineOperands = 8;

std::byte* Allocate(std::size_t bytes) {
  return static_cast<std::byte*>(::operator new[](bytes + kAlignment, std::align_val_t{kAlignment}));
}

absl::StatusOr<ShadowKernel> RuleOf(const Instr& op, const Program& program, const Kernel& kernel) {
  ValueTypes types{.in = {}, .out = op.types, .target = program.target};
  for (const Arg& arg : op.args) types.in.push_back(TypeOf(kernel, arg));
  return PrepareShadow(op, types);
}

}  // namespace

bool AnyMark(const std::uint8_t* marks, std::size_t n) {
  std::uint64_t any = 0;
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, marks + i, sizeof(eight));
    any |= eight;
  }
  for (; i < n; ++i) any |= marks[i];
  return any != 0;
}

absl::StatusOr<std::shared_ptr<const ShadowRules>> ShadowRules::Prepare(const Program& program, const Kernel& kernel) {
  auto rules = std::make_shared<ShadowRules>();
  const auto add = [&](const Instr& op) -> absl::Status {
    PALLADION_ASSIGN_OR_RETURN(ShadowKernel rule, RuleOf(op, program, kernel));
    rules->scratch_bytes_ = std::max(rules->scratch_bytes_, rule.scratch_bytes);
    rules->rules_.push_back(std::move(rule));
    return absl::OkStatus();
  };
  for (const Step& step : program.steps) {
    rules->first_.push_back(rules->rules_.size());
    if (step.kind == StepKind::kStrips) {
      for (const StripOp& op : static_cast<const StripParams*>(step.params)->ops)
        PALLADION_RETURN_IF_ERROR(add(*op.op));
    } else if (step.value != nullptr && step.op != nullptr) {
      PALLADION_RETURN_IF_ERROR(add(*step.op));
    }
  }
  return std::shared_ptr<const ShadowRules>(std::move(rules));
}

void FrameShadow::Free::operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{kAlignment}); }

// The marks' memory is not touched before a slot has an undefined element.
FrameShadow::FrameShadow(const Program& program, const ShadowRules& rules)
    : program_(&program),
      rules_(&rules),
      marks_(Allocate(program.arena_bytes)),
      scratch_(Allocate(rules.scratch_bytes())),
      entries_(program.slots.size()) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const SlotInfo& slot = program.slots[i];
    if (slot.constant == nullptr) entries_[i].marks = reinterpret_cast<Mark*>(marks_.get() + slot.offset);
  }
}

void FrameShadow::CopyFrom(const FrameShadow& other) {
  const auto* base = reinterpret_cast<const Mark*>(other.marks_.get());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& theirs = other.entries_[i];
    if (theirs.marks == nullptr) continue;
    entries_[i] = {reinterpret_cast<Mark*>(marks_.get()) + (theirs.marks - base), theirs.any};
    if (theirs.any) std::memcpy(entries_[i].marks, theirs.marks, program_->slots[i].elements);
  }
  undefined_slots_ = other.undefined_slots_;
}

void FrameShadow::Clear() {
  if (undefined_slots_ == 0) return;
  for (Entry& entry : entries_) entry.any = false;
  undefined_slots_ = 0;
}

void FrameShadow::Set(SlotId slot, const Definedness& defined) {
  if (defined.any) std::memcpy(Marks(slot), defined.undefined, Elements(slot));
  SetAny(slot, defined.any);
}

void FrameShadow::SetDefinedResults(const Step& step, const Frame& frame) {
  for (std::size_t i = 0; i < step.n_out; ++i) SetDefined(frame.out(step, i));
}

void FrameShadow::Merge(SlotId a, SlotId b, SlotId out) {
  const bool either = any(a) || any(b);
  for (std::size_t i = 0; either && i < Elements(out); ++i) {
    Marks(out)[i] = ComputedMark(MergeMarks(any(a) ? Marks(a)[i] : Mark{0}, any(b) ? Marks(b)[i] : Mark{0}));
  }
  SetAny(out, either);
}

void FrameShadow::ReadWindow(SlotId whole, SlotId part, std::size_t first, std::size_t n) {
  Mark* marks = Marks(whole);
  if (marks == nullptr) return;
  entries_[part.index()].marks = marks + first;
  SetAny(part, any(whole) && AnyMark(marks + first, n));
}

void FrameShadow::WriteWindow(SlotId whole, SlotId part, std::size_t first) {
  entries_[part.index()].marks = Marks(whole) + first;
  SetAny(part, false);
}

void FrameShadow::CloseWindow(SlotId whole, SlotId part, std::size_t first, std::size_t n) {
  Mark* marks = Marks(whole);
  if (any(part) && !any(whole)) {
    std::fill_n(marks, first, Mark{0});
    std::fill(marks + first + n, marks + Elements(whole), Mark{0});
    SetAny(whole, true);
  } else if (!any(part) && any(whole)) {
    std::fill_n(marks + first, n, Mark{0});
  }
  SetAny(part, false);
}

void FrameShadow::RunValue(std::size_t index, Frame& frame) {
  const Step& step = program_->steps[index];
  bool undefined = false;
  for (std::size_t i = 0; i < step.n_in; ++i) undefined |= any(frame.in(step, i));
  if (!undefined) return SetDefinedResults(step, frame);
  if (step.op != nullptr) return RunRule(rules_->OfStep(index), step, frame);
  if (step.shadow != nullptr) return RunRule(*step.shadow, step, frame);
  Set(frame.out(step, 0), Get(frame.in(step, 0)));
}

void FrameShadow::RunRule(const ShadowKernel& rule, const Step& step, Frame& frame) {
  const std::byte* few_values[kMaxInlineOperands];
  const Mark* few_in[kMaxInlineOperands];
  Mark* few_out[kMaxInlineOperands];
  std::vector<const std::byte*> many_values;
  std::vector<const Mark*> many_in;
  std::vector<Mark*> many_out;
  const std::byte** values = few_values;
  const Mark** in = few_in;
  Mark** out = few_out;
  if (step.n_in > kMaxInlineOperands || step.n_out > kMaxInlineOperands) {
    many_values.resize(step.n_in);
    many_in.resize(step.n_in);
    many_out.resize(step.n_out);
    values = many_values.data(), in = many_in.data(), out = many_out.data();
  }
  for (std::size_t i = 0; i < step.n_in; ++i) {
    values[i] = frame.slot(frame.in(step, i));
    in[i] = Of(frame.in(step, i));
  }
  for (std::size_t i = 0; i < step.n_out; ++i) out[i] = Marks(frame.out(step, i));
  rule.run(rule.params.get(), {values, in, out, scratch_.get()});
  for (std::size_t i = 0; i < step.n_out; ++i) {
    const SlotId slot = frame.out(step, i);
    SetAny(slot, AnyMark(out[i], Elements(slot)));
  }
}

FrameShadow::Mark FrameShadow::FirstMark(SlotId slot) const {
  const Mark* marks = Of(slot);
  return *std::find_if(marks, marks + Elements(slot), [](Mark mark) { return mark != 0; });
}

void FrameShadow::ReportUse(SlotId slot, std::string_view use, const Step& step, Frame& frame) {
  frame.machine().ReportUndefined(FirstMark(slot), use, frame.site(step));
}

void FrameShadow::UseIndices(const ViewPlan& view, const Mask& mask, const Step& step, Frame& frame) {
  ++uses_;
  if (!any()) return;
  const auto report = [&](Mark mark) {
    const std::string use = Cat("an index into '", program_->refs[view.ref.index()].name, "'");
    frame.machine().ReportUndefined(mark, use, frame.site(step));
  };
  for (const AxisPlan& axis : view.axes) {
    for (const AxisPlan::Term& term : axis.terms) {
      if (any(term.value.slot)) report(*Marks(term.value.slot));
    }
    if (axis.times.slot.valid() && any(axis.times.slot)) report(*Marks(axis.times.slot));
  }
  for (const PeerIndex& peer : view.peer) {
    if (peer.index.slot.valid() && any(peer.index.slot)) report(*Marks(peer.index.slot));
  }
  if (view.affine) return;
  for (const IndexValue& size : view.extents) {
    if (size.slot.valid() && any(size.slot)) report(*Marks(size.slot));
  }
  for (const WalkStep& at : view.walk) {
    for (const IndexValue& index : at.start) {
      if (!index.slot.valid() || !any(index.slot)) continue;
      const bool by_lane = mask.lanes != nullptr && !index.shape.empty() && view.walk.size() == 1;
      const Mark mark = by_lane ? IndexUnder(mask, index, at) : FirstMark(index.slot);
      if (mark != 0) report(mark);
    }
  }
}

// Lanes are the elements of `at.after`, in which the points' shape stands from at.point_position.
FrameShadow::Mark FrameShadow::IndexUnder(const Mask& mask, const IndexValue& index, const WalkStep& at) const {
  const Mark* marks = Of(index.slot);
  const std::size_t skip = at.point_shape.size() - index.shape.size();
  std::vector<std::int64_t> lane(at.after.size(), 0);
  for (std::size_t n = 0; n < static_cast<std::size_t>(NumElements(at.after)); ++n) {
    std::int64_t element = 0;
    for (std::size_t d = 0; d < index.shape.size(); ++d) {
      const std::int64_t i = lane[static_cast<std::size_t>(at.point_position) + skip + d];
      element = element * index.shape[d] + (index.shape[d] == 1 ? 0 : i);
    }
    if (mask.lanes[n] != 0 && marks[element] != 0) return marks[element];
    for (std::size_t d = lane.size(); d-- > 0 && ++lane[d] == at.after[d];) lane[d] = 0;
  }
  return 0;
}

}  // namespace palladion
