#include "semantics/program/marking.h"

#include <utility>
#include <vector>

#include "semantics/base/status.h"

namespace palladion {
namespace {

absl::Status RunMark(const void*, const Step&, Frame&) { return absl::OkStatus(); }

absl::StatusOr<MarkedValue> MarkOperand(const Arg& arg, Builder& builder) {
  MarkedValue operand;
  if (arg.kind == Arg::Kind::kValue) operand.value = arg.value;
  const bool is_ref = arg.kind == Arg::Kind::kValue && builder.TypeOf(arg.value).is_ref();
  if (!is_ref && arg.kind != Arg::Kind::kNone && arg.kind != Arg::Kind::kSelect) {
    PALLADION_ASSIGN_OR_RETURN(operand.slot, builder.In(arg));
  }
  return operand;
}

absl::Status AddOperand(const Arg& arg, Builder& builder, std::vector<MarkedValue>& marked) {
  PALLADION_ASSIGN_OR_RETURN(const MarkedValue operand, MarkOperand(arg, builder));
  marked.push_back(operand);
  return absl::OkStatus();
}

}  // namespace

const Mark* MarkOf(const Step& step) {
  return step.kind == StepKind::kMark ? static_cast<const Mark*>(step.params) : nullptr;
}

absl::Status EmitMark(const Instr& op, bool finished, Builder& builder) {
  Mark mark{.kind = finished ? Mark::Kind::kFinish : Mark::Kind::kBegin, .instr = &op, .in = {}, .out = {}};
  if (finished) {
    for (const Arg& arg : op.args) PALLADION_RETURN_IF_ERROR(AddOperand(arg, builder, mark.in));
    for (const Arg& arg : op.args) {
      for (const Transform& transform : arg.transforms) {
        for (const Index& index : transform.indices) {
          if (index.start.kind != Arg::Kind::kValue) continue;
          PALLADION_RETURN_IF_ERROR(AddOperand(index.start, builder, mark.in));
        }
      }
    }
    for (ValueId result : op.results) {
      mark.out.push_back({result, result.valid() ? builder.SlotOf(result) : SlotId{}});
    }
  }
  builder.EmitAs(StepKind::kMark, RunMark, std::move(mark));
  return absl::OkStatus();
}

absl::Status EmitMark(const Region& region, const Instr* of, bool entered, Builder& builder) {
  Mark mark{
      .kind = entered ? Mark::Kind::kEnter : Mark::Kind::kLeave, .instr = of, .region = &region, .in = {}, .out = {}};
  if (entered) {
    for (const Param& param : region.params) mark.in.push_back({param.value, builder.SlotOf(param.value)});
  } else {
    for (const Arg& result : region.results) PALLADION_RETURN_IF_ERROR(AddOperand(result, builder, mark.in));
  }
  builder.EmitAs(StepKind::kMark, RunMark, std::move(mark));
  return absl::OkStatus();
}

}  // namespace palladion
