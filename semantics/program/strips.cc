#include "semantics/program/strips.h"

#include <algorithm>

#include "semantics/program/frame_shadow.h"
#include "semantics/program/inspections.h"
#include "semantics/simd/parallel.h"

namespace palladion {
namespace {

std::byte* At(const StripOperand& operand, std::size_t first, std::size_t inside, Frame& frame) {
  return frame.slot(operand.slot) + (operand.advances ? first * operand.element_bytes : inside);
}

// Where a strip's marks lie beside their value: one byte for each element.
std::size_t MarksAt(const StripOperand& operand, std::size_t first) {
  return operand.advances && operand.element_bytes != 0 ? first : 0;
}

// A scalar operand is looked at once, or for each strip of results that it leaves undefined.
void Look(const StripOp& op, const std::byte* const* in, std::size_t first, std::size_t n, Frame& frame) {
  frame.inspections()->BeginPart();
  for (const Inspector& inspector : op.inspected->inspectors) {
    const StripOperand& operand = op.in[inspector.operand];
    const bool scalar = operand.element_bytes == 0;
    if (scalar && first > 0 && !(inspector.undefines && frame.shadow() != nullptr)) continue;
    const FrameShadow::Mark* marks = frame.shadow() == nullptr ? nullptr : frame.shadow()->Of(operand.slot);
    if (marks != nullptr) marks += MarksAt(operand, first);
    const Inspections::Part part{in[inspector.operand], marks, first, scalar ? 1 : n};
    frame.inspections()->Look(*op.inspected, inspector, part, frame);
  }
}

// Elements [first, last), with the part's own strips at `inside`.
void RunRange(const StripParams& p, std::size_t first, std::size_t last, std::size_t inside, Frame& frame) {
  for (; first < last && !Interrupted(frame.control()); first += kStripElements) {
    const std::size_t n = std::min(kStripElements, last - first);
    for (const StripOp& op : p.ops) {
      const std::byte* in[kMaxStripOperands];
      for (std::size_t i = 0; i < op.in.size(); ++i) in[i] = At(op.in[i], first, inside, frame);
      std::byte* out[] = {At(op.out, first, inside, frame)};
      if (frame.inspections() != nullptr && op.inspected != nullptr) Look(op, in, first, n, frame);
      op.kernel.strip(op.kernel.params.get(), {in, out, nullptr}, n);
    }
  }
}

struct StripPart {
  std::size_t first, n;
};

// One operation's marks of these elements, after it has run.
void RunStripRule(const StripOp& op, const ShadowKernel& rule, const std::byte* const* in, StripPart of,
                  FrameShadow& shadow) {
  const auto [first, n] = of;
  const FrameShadow::Mark* marks[kMaxStripOperands];
  bool any = false;
  for (std::size_t i = 0; i < op.in.size(); ++i) {
    const FrameShadow::Mark* all = shadow.Of(op.in[i].slot);
    marks[i] = all == nullptr ? nullptr : all + MarksAt(op.in[i], first);
    any |= marks[i] != nullptr;
  }
  FrameShadow::Mark* out = shadow.Marks(op.out.slot) + MarksAt(op.out, first);
  if (any) {
    rule.strip(rule.params.get(), {in, marks, &out, shadow.scratch()}, n);
    any = AnyMark(out, n);
  }
  if (!op.out.advances) return shadow.SetAny(op.out.slot, any);
  if (any && !shadow.any(op.out.slot)) {  // what is before was defined so far
    std::fill_n(shadow.Marks(op.out.slot), first, FrameShadow::Mark{0});
    shadow.SetAny(op.out.slot, true);
  } else if (!any && shadow.any(op.out.slot)) {
    std::fill_n(out, n, FrameShadow::Mark{0});
  }
}

// The results of a strip that the operation's inspectors found to be undefined.
void MarkStrip(const StripOp& op, std::size_t first, std::size_t n, Frame& frame) {
  if (!frame.inspections()->MarksResults()) return;
  FrameShadow& shadow = *frame.shadow();
  const std::size_t at = MarksAt(op.out, first);
  if (!shadow.any(op.out.slot)) {
    std::fill_n(shadow.Marks(op.out.slot), at + n, FrameShadow::Mark{0});
    shadow.SetAny(op.out.slot, true);
  }
  frame.inspections()->MarkResults(shadow.Marks(op.out.slot) + at, n);
}

// As RunRange, with each operation's rule after it: a select needs its predicate's strip while it is there.
void RunShadowed(const StripParams& p, std::size_t step, Frame& frame) {
  FrameShadow& shadow = *frame.shadow();
  for (std::size_t first = 0; first < p.elements && !Interrupted(frame.control()); first += kStripElements) {
    const std::size_t n = std::min(kStripElements, p.elements - first);
    for (std::size_t k = 0; k < p.ops.size(); ++k) {
      const StripOp& op = p.ops[k];
      const std::byte* in[kMaxStripOperands];
      for (std::size_t i = 0; i < op.in.size(); ++i) in[i] = At(op.in[i], first, 0, frame);
      std::byte* out[] = {At(op.out, first, 0, frame)};
      const bool inspects = frame.inspections() != nullptr && op.inspected != nullptr;
      if (inspects) Look(op, in, first, n, frame);
      op.kernel.strip(op.kernel.params.get(), {in, out, nullptr}, n);
      RunStripRule(op, shadow.rules().OfStrip(step, k), in, {first, n}, shadow);
      if (inspects) MarkStrip(op, first, n, frame);
    }
  }
  for (const StripOp& op : p.ops) {
    if (!op.out.advances) shadow.SetDefined(op.out.slot);
  }
}

bool AnyUndefined(const StripParams& p, const FrameShadow& shadow) {
  return std::any_of(p.ops.begin(), p.ops.end(), [&](const StripOp& op) {
    return std::any_of(op.in.begin(), op.in.end(), [&](const StripOperand& in) { return shadow.any(in.slot); });
  });
}

// Strips that were left out are unused.
absl::Status EndOf(const Frame& frame) { return Interrupted(frame.control()) ? InterruptedStatus() : absl::OkStatus(); }

}  // namespace

absl::Status RunStrips(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const StripParams*>(params);
  // What is found is counted in order, and may leave results undefined.
  const bool inspects =
      frame.inspections() != nullptr &&
      std::any_of(p.ops.begin(), p.ops.end(), [](const StripOp& op) { return op.inspected != nullptr; });
  if (frame.shadow() != nullptr && (inspects || frame.shadow()->any())) {
    for (const StripOp& op : p.ops) frame.shadow()->SetDefined(op.out.slot);  // the values of an earlier turn
    if (inspects || AnyUndefined(p, *frame.shadow())) {
      RunShadowed(p, static_cast<std::size_t>(&step - frame.program().steps.data()), frame);
      return EndOf(frame);
    }
  }
  const std::size_t parts =
      frame.parallel() == nullptr || inspects ? 1 : std::min(p.parts, frame.parallel()->threads());
  if (parts == 1) {
    RunRange(p, 0, p.elements, 0, frame);
    return EndOf(frame);
  }
  const std::size_t strips = (p.elements + kStripElements - 1) / kStripElements;
  frame.parallel()->For(parts, [&](std::size_t part) {
    const std::size_t first = strips * part / parts * kStripElements;
    const std::size_t last = std::min(p.elements, strips * (part + 1) / parts * kStripElements);
    RunRange(p, first, last, part * p.inside.size(), frame);
  });
  return EndOf(frame);
}

}  // namespace palladion
