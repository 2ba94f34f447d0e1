#include "semantics/program/inspections.h"

#include <algorithm>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/port/machine.h"
#include "semantics/program/agent_naming.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/value_text.h"
#include "semantics/tensor/element_index.h"

namespace palladion {
namespace {

Finding FindingOf(const Inspected& op, const Inspector& inspector, const std::byte* x, std::int64_t element,
                  const Frame& frame) {
  const Type scalar{.dtype = inspector.type.dtype};
  const bool is_scalar = inspector.type.shape.empty();
  return {.code = inspector.code,
          .severity = inspector.severity,
          .message = Cat(
              op.op, ": ", is_scalar ? "" : Cat("element ", IndexText(inspector.type.shape, element), " of "), "the ",
              inspector.name, is_scalar ? "" : Cat(", ", ToString(inspector.type), ","), " is ", ValueText(scalar, x),
              AtAgent(NamingOf(frame.program()), frame.grid_index()), "; it ", inspector.rule),
          .loc = op.loc,
          .text_line = op.text_line};
}

}  // namespace

void Inspections::Look(const Step& step, Frame& frame) {
  BeginPart();
  for (const Inspector& inspector : step.inspected->inspectors) {
    const SlotId slot = frame.in(step, inspector.operand);
    const FrameShadow::Mark* marks = frame.shadow() == nullptr ? nullptr : frame.shadow()->Of(slot);
    const auto n = static_cast<std::size_t>(NumElements(inspector.type.shape));
    Look(*step.inspected, inspector, {frame.slot(slot), marks, 0, n}, frame);
  }
}

void Inspections::MarkResults(const Step& step, Frame& frame) {
  if (!MarksResults()) return;
  const SlotId out = frame.out(step, 0);
  FrameShadow& shadow = *frame.shadow();
  const std::size_t n = frame.program().slots[out.index()].elements;
  if (!shadow.any(out)) std::fill_n(shadow.Marks(out), n, FrameShadow::Mark{0});
  MarkResults(shadow.Marks(out), n);
  shadow.SetAny(out, n != 0);
}

void Inspections::Look(const Inspected& op, const Inspector& inspector, const Part& part, Frame& frame) {
  ++looks_;
  const bool marks = inspector.undefines && frame.shadow() != nullptr;
  Broken broken{.mark = 0, .every = inspector.type.shape.empty(), .elements = {}};
  Scan scan;
  if (marks) scan.all = &broken.elements;
  inspector.run(inspector.params.get(), part.x, part.undefined, part.n, scan);
  if (scan.count == 0) return;
  const std::byte* at = part.x + static_cast<std::size_t>(scan.first) * StorageBytes(inspector.type.dtype);
  const std::int64_t element = scan.first + static_cast<std::int64_t>(part.first);
  if (marks) {
    const Finding finding = FindingOf(op, inspector, at, element, frame);
    broken.mark = frame.machine().MarkOfValue(finding, {op.loc, op.text_line, frame.grid_index()});
    broken_.push_back(std::move(broken));
    return;
  }
  Record& record = records_[inspector.site];
  if (record.elements == 0) record.finding = FindingOf(op, inspector, at, element, frame);
  record.elements += scan.count;
}

void Inspections::MarkResults(std::uint8_t* results, std::size_t n) const {
  for (const Broken& broken : broken_) {
    const std::size_t count = broken.every ? n : broken.elements.size();
    for (std::size_t i = 0; i < count; ++i) {
      std::uint8_t& mark = results[broken.every ? i : static_cast<std::size_t>(broken.elements[i])];
      mark = MergeMarks(mark, broken.mark);
    }
  }
}

std::vector<Finding> Inspections::Findings() const {
  std::vector<Finding> findings;
  for (const Record& record : records_) {
    if (record.elements == 0) continue;
    Finding& finding = findings.emplace_back(record.finding);
    finding.count = record.elements;
  }
  return findings;
}

}  // namespace palladion
