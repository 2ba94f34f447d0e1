#include "semantics/ops/ref/async_access.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/view_type.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/attrs.h"

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

absl::StatusOr<Type> ExpectNumbersIn(const Instr& op, const VerifyContext& context, std::string_view name,
                                     std::initializer_list<Space> spaces) {
  PALLADION_ASSIGN_OR_RETURN(const Type viewed, OperandType(op, context, name));
  const Type given = TypeOfArg(context.kernel, *FindOperand(op, name));
  std::string allowed;
  for (const Space space : spaces) Append(&allowed, allowed.empty() ? "" : " or ", Name(space));
  if (!given.is_ref()) {
    return absl::InvalidArgumentError(
        Cat(name, "= must be a view of a ref in ", allowed, "; found the value ", ToString(given)));
  }
  if (!viewed.is_array()) {
    return absl::InvalidArgumentError(Cat(name, "= must hold numbers; found ", ToString(viewed)));
  }
  if (std::find(spaces.begin(), spaces.end(), given.space) != spaces.end()) return viewed;
  return absl::InvalidArgumentError(Cat(name, "= must be in ", allowed, "; found a ref in ", Name(given.space)));
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
           .message = Cat("index ", box.start[d], " is out of bounds of '", info.name, "', which has ",
                          info.buffer_shape[d], " elements along dimension ", d, "; the operation does nothing there"),
           .loc = step.loc,
           .text_line = step.text_line,
           .fix = "correct the index"});
      return {};
    }
    element = element * info.buffer_shape[d] + box.start[d];
  }
  const SyncElement own = {frame.ref(view.ref).sync, element};
  return view.peer.empty() ? own : frame.machine().PeerSync(own, PeerOf(view, frame), frame.site(step));
}

void UseIndices(const ViewPlan& view, const Step& step, Frame& frame) {
  if (frame.shadow() != nullptr) frame.shadow()->UseIndices(view, {}, step, frame);
}

absl::Status ExpectPredicate(const Instr& op, const VerifyContext& context) {
  PALLADION_ASSIGN_OR_RETURN(const Type predicate, OperandType(op, context, "predicate"));
  return ExpectSameType(predicate, Type{.dtype = DType::kBool}, "the predicate");
}

bool IsTrue(SlotId predicate, std::string_view what, const Step& step, Frame& frame) {
  if (!predicate.valid()) return true;
  if (frame.shadow() != nullptr) frame.shadow()->Use(predicate, what, step, frame);
  return ReadIndex(frame.slot(predicate), DType::kBool, 0) != 0;
}

std::size_t BytesOf(const ViewPlan& view, Frame& frame) {
  const RefInfo& info = frame.program().refs[view.ref.index()];
  return static_cast<std::size_t>(ElementsOf(view, frame)) * StorageBytes(view.type.dtype) * info.words_per_element;
}

AsyncValue CaptureValue(SlotId slot, const Type& type, Frame& frame) {
  AsyncValue value;
  const std::byte* bytes = frame.slot(slot);
  value.bytes.assign(bytes, bytes + ByteSize(type));
  if (frame.shadow() == nullptr) return value;
  const Definedness defined = frame.shadow()->Get(slot);
  if (defined.any) value.marks.assign(defined.undefined, defined.undefined + NumElements(type.shape));
  return value;
}

AsyncOperand OperandOf(const ViewPlan& view, Outside outside, const Step& step, Frame& frame) {
  AsyncOperand operand;
  operand.bytes = ByteCount(static_cast<std::int64_t>(BytesOf(view, frame)));
  if (!view.affine) {
    PointAccess points;
    ResolvePoints(view, step, frame, points);
    operand.where = AsyncPoints{.buffer = points.buffer,
                                .offset = {points.offset.begin(), points.offset.end()},
                                .piece_bytes = ByteCount(static_cast<std::int64_t>(points.piece_bytes)),
                                .pieces_per_element = points.pieces_per_element};
    return operand;
  }
  if (view.unit != 1) operand.elements = ElementCount(NumElements(view.type.shape));
  auto& box = std::get<BoxAccess>(operand.where);
  ResolveBox(view, step, frame, box);
  if (outside != Outside::kError) {
    box.outside = outside;
    for (std::size_t d = 0; d < static_cast<std::size_t>(box.rank); ++d) {
      box.lower[d] = std::numeric_limits<std::int64_t>::min();
      box.upper[d] = std::numeric_limits<std::int64_t>::max();
    }
  }
  return operand;
}

namespace {

// Does the operand have elements, and none of them in an array of this shape?
bool IsWhollyOutside(const AsyncOperand& operand, const Shape& shape) {
  if (const auto* points = std::get_if<AsyncPoints>(&operand.where)) {
    const auto is_outside = [](std::int64_t offset) { return offset < 0; };
    return !points->offset.empty() && std::all_of(points->offset.begin(), points->offset.end(), is_outside);
  }
  const auto& box = std::get<BoxAccess>(operand.where);
  bool outside = false;
  for (std::size_t d = 0; d < static_cast<std::size_t>(box.rank); ++d) {
    if (box.count[d] == 0) return false;
    const std::int64_t step = std::max<std::int64_t>(1, box.step[d]);
    const std::int64_t skipped = box.start[d] >= 0 ? 0 : (step - 1 - box.start[d]) / step;
    outside |= skipped >= box.count[d] || box.start[d] + skipped * step >= shape[d];
  }
  return outside;
}

}  // namespace

void NoteWhollyOutside(const AsyncOperand& operand, const ViewPlan& view, std::string_view what, const Step& step,
                       Frame& frame) {
  const RefInfo& info = frame.program().refs[view.ref.index()];
  if (!IsWhollyOutside(operand, info.buffer_shape)) return;
  const auto* box = std::get_if<BoxAccess>(&operand.where);
  frame.machine().Report(
      {.code = FindingCode::kOutOfBounds,
       .severity = Severity::kWarning,
       .message =
           Cat("the copy is of '", info.name, "'", box == nullptr ? " at an array of indices" : DescribeBox(*box),
               ", which lies wholly outside the array of shape ", ToString(info.buffer_shape), ": ", what),
       .loc = step.loc,
       .text_line = step.text_line,
       .why = "what of a copy lies outside the array is no error on hardware; a whole one is often a wrong index",
       .fix = "check the index, or give the copy a predicate"});
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
