// Asynchronous copies of a TPU (DMA). Spec: docs/spec/tpu-copies.md. Here a copy is described; when its halves take
// place, and what is wrong with that, is the machine's business. Based on: make_async_copy, async_copy and sync_copy of
// JAX's Mosaic TPU backend (dma_start, dma_wait). Limits: `add`, gathers and scatters by a ref of indices are refused.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/view_layout.h"
#include "semantics/ops/families.h"
#include "semantics/ops/ref/async_access.h"
#include "semantics/ops/ref/peer_device.h"
#include "semantics/ops/tpu/packed_copy.h"
#include "semantics/program/builder.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/program/view_planner.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

absl::Status ExpectRef(const Instr& op, const VerifyContext& context, std::string_view name) {
  const Arg* arg = FindOperand(op, name);
  if (arg != nullptr && arg->kind == Arg::Kind::kSelect) return absl::OkStatus();  // the verifier looked at it
  const bool is_ref =
      arg != nullptr && arg->kind == Arg::Kind::kValue && context.kernel.values[arg->value.index()].type.is_ref();
  if (is_ref) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat(name, "= must be a view of a ref"));
}

bool HasSourceSemaphore(const Instr& op) {
  const Arg* arg = FindOperand(op, "src_sem");
  return arg != nullptr && arg->kind != Arg::Kind::kNone;
}

absl::Status VerifyRefs(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  for (const std::string_view name : {"src", "dst", "dst_sem"}) {
    PALLADION_RETURN_IF_ERROR(ExpectRef(op, context, name));
  }
  PALLADION_ASSIGN_OR_RETURN(const Type src, OperandType(op, context, "src"));
  PALLADION_ASSIGN_OR_RETURN(const Type dst, OperandType(op, context, "dst"));
  PALLADION_RETURN_IF_ERROR(VerifyDevice(op, context));
  return ExpectSameType(dst, src, "the destination");
}

absl::Status VerifyWait(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(VerifyRefs(op, context));
  PALLADION_ASSIGN_OR_RETURN(const Type semaphore, OperandType(op, context, "dst_sem"));
  return ExpectSync(semaphore, {ElementKind::kDmaSem},
                    "one DMA semaphore (of a copy that signals a regular one wait with pl.semaphore_wait)");
}

absl::Status VerifyStart(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(VerifyRefs(op, context));
  PALLADION_ASSIGN_OR_RETURN(const Type semaphore, OperandType(op, context, "dst_sem"));
  // A regular semaphore counts copies.
  PALLADION_RETURN_IF_ERROR(ExpectSync(semaphore, {ElementKind::kDmaSem, ElementKind::kSem}, "one semaphore"));
  if (!HasSourceSemaphore(op)) return absl::OkStatus();
  PALLADION_RETURN_IF_ERROR(ExpectRef(op, context, "src_sem"));
  PALLADION_ASSIGN_OR_RETURN(const Type source, OperandType(op, context, "src_sem"));
  return ExpectSync(source, {ElementKind::kDmaSem}, "one DMA semaphore");
}

// One view, or several choices among which an index chooses when the operation begins.
struct Side {
  ViewPlan view;
  std::vector<Side> choices;  // empty: `view` is meant
  SlotId which;
  DType dtype = DType::kI32;
};

struct CopyParams {
  Side src, dst;
  Side semaphore;
  std::optional<Side> sent;                      // of a copy to another device: the sender's own semaphore
  CompletionUnit unit = CompletionUnit::kBytes;  // of `semaphore`
};

absl::StatusOr<Side> PlanSide(const Arg& arg, Builder& builder) {
  Side side;
  if (arg.kind != Arg::Kind::kSelect) {
    PALLADION_ASSIGN_OR_RETURN(side.view, ViewPlanner(builder).Packed(arg));
    return side;
  }
  PALLADION_ASSIGN_OR_RETURN(side.which, builder.In(arg.select[0]));
  side.dtype = builder.TypeOf(arg.select[0]).dtype;
  for (std::size_t i = 1; i < arg.select.size(); ++i) {
    PALLADION_ASSIGN_OR_RETURN(side.choices.emplace_back(), PlanSide(arg.select[i], builder));
  }
  return side;
}

void PlaceAt(const std::vector<PeerIndex>& device, Side& side) {
  side.view.peer = device;
  for (Side& choice : side.choices) PlaceAt(device, choice);
}

// An index outside is the nearest inside, as in JAX.
const Side& Choice(const Side& side, Frame& frame) {
  const auto last = static_cast<std::int64_t>(side.choices.size()) - 1;
  const std::int64_t which = ReadIndex(frame.slot(side.which), side.dtype, 0);
  return side.choices[static_cast<std::size_t>(std::clamp<std::int64_t>(which, 0, last))];
}

const ViewPlan& Chosen(const Side& side, Frame& frame) {
  const Side* chosen = &side;
  while (!chosen->choices.empty()) chosen = &Choice(*chosen, frame);
  return chosen->view;
}

void UseSide(const Side& side, const Step& step, Frame& frame) {
  const Side* chosen = &side;
  while (!chosen->choices.empty()) {
    if (frame.shadow() != nullptr) frame.shadow()->Use(chosen->which, "a choice among refs", step, frame);
    chosen = &Choice(*chosen, frame);
  }
  UseIndices(chosen->view, step, frame);
}

// What is not modelled is said before anything runs.
absl::StatusOr<CopyParams> PlanCopy(const Instr& op, Builder& builder) {
  if (builder.target().backend != TargetBackend::kMosaicTpu) {
    return absl::UnimplementedError(
        Cat("copies by a TPU's DMA engines need a target mosaic_tpu/CHIP; the target is ", ToString(builder.target())));
  }
  if (BoolAttrOr(op, "add", false)) {
    return absl::UnimplementedError(
        "add=True needs SparseCore: JAX refuses it on a TensorCore; SparseCore is not modelled "
        "(docs/reference/sparsecore.md). "
        "Copy, "
        "and add what has arrived");
  }
  CopyParams params;
  PALLADION_ASSIGN_OR_RETURN(params.src, PlanSide(*FindOperand(op, "src"), builder));
  PALLADION_ASSIGN_OR_RETURN(params.dst, PlanSide(*FindOperand(op, "dst"), builder));
  PALLADION_ASSIGN_OR_RETURN(params.semaphore, PlanSide(*FindOperand(op, "dst_sem"), builder));
  return params;
}

// Of a view as a chip stores it: elements of less than a byte lie side by side.
std::int64_t BitsOf(const ViewPlan& view, Frame& frame) {
  if (IsPacked(view.type.dtype)) return ElementsOf(view, frame) * Info(view.type.dtype).bits;
  return static_cast<std::int64_t>(BytesOf(view, frame)) * 8;
}

// What the semaphore counts of the whole copy.
std::int64_t CountedBytes(const CopyParams& p, Frame& frame) { return (BitsOf(Chosen(p.dst, frame), frame) + 7) / 8; }

// Bits of the array with its last two dimensions in whole tiles, of 32 rows at the most: a copy that JAX's pipeline
// rounds up reaches so far. What leaves the array, or its tiles, is found where memory is touched.
std::int64_t BitsInTiles(const RefInfo& info) {
  Shape padded = info.buffer_shape;
  const auto round_up = [](std::int64_t size, std::int64_t to) { return (size + to - 1) / to * to; };
  if (padded.size() >= 2) {
    padded[padded.size() - 2] = round_up(padded[padded.size() - 2], 32);
    padded.back() = round_up(padded.back(), 128);
  }
  const std::int64_t bits =
      IsPacked(info.dtype) ? Info(info.dtype).bits : static_cast<std::int64_t>(StorageBytes(info.dtype)) * 8;
  return NumElements(padded) * bits * static_cast<std::int64_t>(info.words_per_element);
}

// What is wrong with sizes that are known only at run time; "" where nothing is.
std::string WrongSize(const CopyParams& p, Frame& frame) {
  const ViewPlan &src = Chosen(p.src, frame), &dst = Chosen(p.dst, frame);
  const std::int64_t from = ElementsOf(src, frame), to = ElementsOf(dst, frame);
  for (const ViewPlan* view : {&src, &dst}) {
    const RefInfo& info = frame.program().refs[view->ref.index()];
    const auto elements = view == &src ? from : to;
    if (HasNegativeSize(*view, frame)) return Cat("a copy with a slice of '", info.name, "' whose size is negative");
    if (BitsOf(*view, frame) > BitsInTiles(info))
      return Cat("a copy of ", elements, " elements of '", info.name, "', which has fewer");
    if (to != from && view == &dst) return Cat("a copy of ", from, " elements to ", to, " of '", info.name, "'");
  }
  return "";
}

// Is there anything to copy? Sizes that are wrong are reported, and then there is not.
bool Fits(const CopyParams& p, const Step& step, Frame& frame) {
  const std::string wrong = WrongSize(p, frame);
  if (wrong.empty()) return CountedBytes(p, frame) > 0;
  frame.machine().Report({.code = FindingCode::kOutOfBounds,
                          .message = Cat(wrong, "; nothing is copied"),
                          .loc = step.loc,
                          .text_line = step.text_line,
                          .fix = "correct the size of the slice"});
  return false;
}

// What the user writes to wait for it: no descriptor waits on a regular semaphore.
std::string AwaitOf(const CopyParams& p, Frame& frame) {
  if (p.unit == CompletionUnit::kBytes) return p.sent.has_value() ? "copy.wait_recv()" : "copy.wait()";
  return Cat("pl.semaphore_wait(", frame.program().refs[Chosen(p.semaphore, frame).ref.index()].name, ")");
}

// The places that the copy reads and writes.
absl::Status AddSides(const CopyParams& p, const Step& step, Frame& frame, AsyncRequest* request) {
  std::shared_ptr<const PackedPlaces> packed[2];
  for (const bool is_destination : {false, true}) {
    const ViewPlan& view = Chosen(is_destination ? p.dst : p.src, frame);
    AsyncOperand operand;
    if (view.unit_bits == 0) {
      operand = OperandOf(view, Outside::kError, step, frame);
    } else {
      PALLADION_ASSIGN_OR_RETURN(PackedOperand side, PackedOperandOf(view, is_destination, step, frame));
      operand = std::move(side.operand);
      packed[is_destination ? 1 : 0] = std::move(side.places);
    }
    operand.proxy = Proxy::kGeneric;  // a TPU's memory is one for all
    (is_destination ? request->destinations : request->sources).push_back(std::move(operand));
  }
  if (packed[0] != nullptr || packed[1] != nullptr)
    request->function = PackedFunction(std::move(packed[0]), std::move(packed[1]));
  return absl::OkStatus();
}

// Once the operation has written, the semaphore grows.
void AddSignal(SyncElement semaphore, std::int64_t amount, CompletionUnit unit, Frame& frame, AsyncRequest* request) {
  Completion& signal = request->completions.emplace_back(frame.machine().CompletionAt(semaphore));
  signal.amount = amount, signal.unit = unit;
}

// tpu-copies.md#dma_start: an engine reads the source and writes the destination some time later, whole; then the
// semaphore grows by the bytes. No copy has an order with another. Of a copy to another device, destination and
// semaphore are that device's, and the sender's own semaphore grows once the source has been read.
absl::Status RunStart(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const CopyParams*>(params);
  UseSide(p.src, step, frame);
  UseSide(p.dst, step, frame);
  UseSide(p.semaphore, step, frame);
  AsyncRequest request{.name = p.sent.has_value() ? "remote DMA" : "DMA", .await = AwaitOf(p, frame)};
  request.At(frame.site(step));
  const bool fits = Fits(p, step, frame);
  if (CountedBytes(p, frame) == 0) return absl::OkStatus();  // nothing to wait for
  if (fits) PALLADION_RETURN_IF_ERROR(AddSides(p, step, frame, &request));
  const SyncElement semaphore = ElementOf(Chosen(p.semaphore, frame), step, frame);
  if (semaphore.array.valid()) {
    const std::int64_t amount = p.unit == CompletionUnit::kBytes ? CountedBytes(p, frame) : 1;
    AddSignal(semaphore, amount, p.unit, frame, &request);
  }
  if (p.sent.has_value()) {
    UseSide(*p.sent, step, frame);
    const SyncElement sent = ElementOf(Chosen(*p.sent, frame), step, frame);
    if (sent.array.valid()) {
      AddSignal(sent, CountedBytes(p, frame), CompletionUnit::kBytes, frame, &request);
      request.completions.back().after = Half::kRead;
    }
  }
  return frame.machine().Start(std::move(request));
}

absl::Status LowerStart(const Instr& op, Builder& builder) {
  PALLADION_ASSIGN_OR_RETURN(CopyParams params, PlanCopy(op, builder));
  if (HasSourceSemaphore(op)) {
    PALLADION_ASSIGN_OR_RETURN(params.sent, PlanSide(*FindOperand(op, "src_sem"), builder));
    PALLADION_ASSIGN_OR_RETURN(const std::vector<PeerIndex> device, PlanDevice(op, builder));
    PlaceAt(device, params.semaphore);
    PlaceAt(device, params.dst);
  }
  const Arg* signalled = FindOperand(op, "dst_sem");
  while (signalled->kind == Arg::Kind::kSelect) signalled = &signalled->select[1];  // all are of one type
  const Type& semaphore = builder.kernel().values[signalled->value.index()].type;
  if (semaphore.element == ElementKind::kSem) params.unit = CompletionUnit::kCount;
  builder.Emit(RunStart, std::move(params));
  return absl::OkStatus();
}

WaitTarget WaitsForBytes(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const CopyParams*>(params);
  const SyncElement semaphore = ElementOf(Chosen(p.semaphore, frame), step, frame);
  if (!semaphore.array.valid()) return {};
  return {.kind = WaitTarget::Kind::kSemaphore, .object = semaphore, .value = CountedBytes(p, frame)};
}

// tpu-copies.md#dma_wait: until the semaphore holds as many bytes as the destination has, which are then subtracted. Of
// the refs only the size counts.
absl::Status RunWait(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const CopyParams*>(params);
  UseSide(p.dst, step, frame);
  UseSide(p.semaphore, step, frame);
  return frame.machine().Wait(WaitsForBytes(params, step, frame), frame.site(step));
}

absl::Status LowerWait(const Instr& op, Builder& builder) {
  PALLADION_ASSIGN_OR_RETURN(CopyParams params, PlanCopy(op, builder));
  builder.Emit(RunWait, std::move(params));
  builder.program().steps.back().waits = WaitsForBytes;
  return absl::OkStatus();
}

constexpr OpRow kTpuCopyOps[] = {
    {.name = "dma_start",
     .spec = "tpu-copies.md#dma_start",
     .verify = VerifyStart,
     .lower = LowerStart,
     .effect = Effect::kReadsWrites,
     .asks_port = AsksPort::kAlways,
     .waits = Waits::kNever,
     .signals = Signals::kMay,
     .decides = Decides::kNever,
     .access = RefAccess::kCopy,
     .named_refs = true,
     .written = "dst",
     .backends = kTpu,
     .unit = Unit::kMemory},
    // Where several copies signal one semaphore, which of them have been waited for is the schedule's choice.
    {.name = "dma_wait",
     .spec = "tpu-copies.md#dma_wait",
     .verify = VerifyWait,
     .lower = LowerWait,
     .effect = Effect::kSynchronises,
     .asks_port = AsksPort::kAlways,
     .waits = Waits::kSignal,
     .signals = Signals::kNever,
     .decides = Decides::kAlways,
     .named_refs = true,
     .backends = kTpu,
     .unit = Unit::kMemory},
};

}  // namespace

absl::Span<const OpRow> TpuCopyOps() { return kTpuCopyOps; }

}  // namespace palladion
