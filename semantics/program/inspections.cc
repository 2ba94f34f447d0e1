#include "semantics/program/inspections.h"

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/ops/value_text.h"
#include "semantics/program/frame_shadow.h"
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
              " at program (", absl::StrJoin(frame.grid_index, ", "), "); it ", inspector.rule),
          .loc = op.loc,
          .text_line = op.text_line};
}

}  // namespace

void Inspections::Look(const Step& step, Frame& frame) {
  for (const Inspector& inspector : step.inspected->inspectors) {
    const SlotId slot = frame.in(step, inspector.operand);
    const FrameShadow::Mark* marks = frame.shadow == nullptr ? nullptr : frame.shadow->Of(slot);
    Look(*step.inspected, inspector, frame.slot(slot), marks, 0,
         static_cast<std::size_t>(NumElements(inspector.type.shape)), frame);
  }
}

void Inspections::Look(const Inspected& op, const Inspector& inspector, const std::byte* x,
                       const std::uint8_t* undefined, std::size_t first, std::size_t n, const Frame& frame) {
  ++looks_;
  Scan scan;
  inspector.run(inspector.params.get(), x, undefined, n, scan);
  if (scan.count == 0) return;
  Record& record = records_[inspector.site];
  if (record.elements == 0) {
    const std::byte* at = x + static_cast<std::size_t>(scan.first) * StorageBytes(inspector.type.dtype);
    record.finding = FindingOf(op, inspector, at, scan.first + static_cast<std::int64_t>(first), frame);
  }
  record.elements += scan.count;
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
