#include "semantics/ops/gpu_access.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/frame_shadow.h"

namespace palladion {

const Arg* FindOperand(const Instr& op, std::string_view name) {
  for (const Arg& arg : op.args) {
    if (arg.name == name && arg.kind != Arg::Kind::kNone) return &arg;
  }
  return nullptr;
}

absl::StatusOr<Type> OperandType(const Instr& op, const VerifyContext& context, std::string_view name) {
  const Arg* arg = FindOperand(op, name);
  if (arg == nullptr) return absl::InvalidArgumentError(Cat("expected an operand ", name, "="));
  return context.in[static_cast<std::size_t>(arg - op.args.data())];
}

absl::Status ExpectSync(const Type& type, std::initializer_list<ElementKind> kinds, std::string_view what) {
  const bool known = type.is_ref() && std::find(kinds.begin(), kinds.end(), type.element) != kinds.end();
  if (!known) return absl::InvalidArgumentError(Cat("expected ", what, "; found ", ToString(type)));
  if (NumElements(type.shape) == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("expected one of the ", NumElements(type.shape), " that the ref holds; index it with .at[...]"));
}

SyncElement ElementOf(const ViewPlan& view, const Step& step, Frame& frame) {
  BoxAccess box;
  ResolveBox(view, step, frame, box);
  const RefInfo& info = frame.program().refs[view.ref.index()];
  std::int64_t element = 0;
  for (std::size_t d = 0; d < info.buffer_shape.size(); ++d) {
    if (box.start[d] < 0 || box.start[d] >= info.buffer_shape[d]) {
      frame.machine().Report(
          {.code = FindingCode::kOutOfBounds,
           .message = Cat("index ", box.start[d], " of '", info.name, "', which has ", info.buffer_shape[d],
                          " along dimension ", d, "; what the operation would do there is not done"),
           .loc = step.loc,
           .text_line = step.text_line});
      return {};
    }
    element = element * info.buffer_shape[d] + box.start[d];
  }
  const SyncElement own = {frame.ref(view.ref).sync, element};
  return view.peer.empty() ? own : frame.port->PeerSync(own, PeerOf(view, frame), frame.site(step));
}

void UseIndices(const ViewPlan& view, const Step& step, Frame& frame) {
  if (frame.shadow != nullptr) frame.shadow->UseIndices(view, {}, step, frame);
}

AsyncPart PartOf(const ViewPlan& view, Outside outside, const Step& step, Frame& frame) {
  AsyncPart part;
  part.bytes = ByteSize(view.type);
  const bool marks_differ = view.unit != 1 && frame.shadow != nullptr;  // marks are per element, not per byte
  if (!view.affine || marks_differ) {
    PointAccess points;
    ResolvePoints(view, step, frame, points);
    part.where = AsyncPoints{
        points.buffer, {points.offset.begin(), points.offset.end()}, points.piece_bytes, points.pieces_per_element};
    return part;
  }
  BoxAccess box;
  ResolveBox(view, step, frame, box);
  if (outside != Outside::kError) {
    box.outside = outside;
    for (std::size_t d = 0; d < static_cast<std::size_t>(box.rank); ++d) {
      box.lower[d] = std::numeric_limits<std::int64_t>::min();
      box.upper[d] = std::numeric_limits<std::int64_t>::max();
    }
  }
  part.where = box;
  return part;
}

std::string DescribeBox(const BoxAccess& box) {
  std::string text = "[";
  for (std::size_t d = 0; d < static_cast<std::size_t>(box.rank); ++d) {
    Append(&text, d == 0 ? "" : ", ", box.start[d], ":", box.start[d] + (box.count[d] - 1) * box.step[d] + 1,
           box.step[d] == 1 ? "" : Cat(":", box.step[d]));
  }
  return text + "]";
}

}  // namespace palladion
