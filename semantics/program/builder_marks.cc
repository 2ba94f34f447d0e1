// Builder: the marks of an observable program.
#include <utility>

#include "semantics/base/status.h"
#include "semantics/program/builder.h"
#include "semantics/program/mark.h"

namespace palladion {
namespace {

absl::Status RunMark(const void*, const Step&, Frame&) { return absl::OkStatus(); }

}  // namespace

const Mark* MarkOf(const Step& step) {
  return step.kind == StepKind::kMark ? static_cast<const Mark*>(step.params) : nullptr;
}

absl::Status Builder::MarkOperand(const Arg& arg, std::vector<MarkedValue>& marked) {
  MarkedValue operand;
  if (arg.kind == Arg::Kind::kValue) operand.value = arg.value;
  const bool is_ref = arg.kind == Arg::Kind::kValue && TypeOf(arg.value).is_ref();
  if (!is_ref && arg.kind != Arg::Kind::kNone && arg.kind != Arg::Kind::kSelect) {
    PALLADION_ASSIGN_OR_RETURN(operand.slot, In(arg));
  }
  marked.push_back(operand);
  return absl::OkStatus();
}

absl::Status Builder::MarkInstr(const Instr& op, bool finished) {
  if (!observable_) return absl::OkStatus();
  Mark mark{.kind = finished ? Mark::Kind::kFinish : Mark::Kind::kBegin, .instr = &op, .in = {}, .out = {}};
  if (finished) {
    for (const Arg& arg : op.args) PALLADION_RETURN_IF_ERROR(MarkOperand(arg, mark.in));
    for (const Arg& arg : op.args) {
      for (const Transform& transform : arg.transforms) {
        for (const Index& index : transform.indices) {
          if (index.start.kind == Arg::Kind::kValue) PALLADION_RETURN_IF_ERROR(MarkOperand(index.start, mark.in));
        }
      }
    }
    for (ValueId result : op.results) {
      mark.out.push_back({result, result.valid() ? slot_of_[result.index()] : SlotId{}});
    }
  }
  EmitAs(StepKind::kMark, RunMark, std::move(mark));
  return absl::OkStatus();
}

absl::Status Builder::MarkRegion(const Region& region, bool entered) {
  if (!observable_) return absl::OkStatus();
  Mark mark{.kind = entered ? Mark::Kind::kEnter : Mark::Kind::kLeave,
            .instr = current_,
            .region = &region,
            .in = {},
            .out = {}};
  if (entered) {
    for (const Param& param : region.params) mark.in.push_back({param.value, slot_of_[param.value.index()]});
  } else {
    for (const Arg& result : region.results) PALLADION_RETURN_IF_ERROR(MarkOperand(result, mark.in));
  }
  EmitAs(StepKind::kMark, RunMark, std::move(mark));
  return absl::OkStatus();
}

}  // namespace palladion
