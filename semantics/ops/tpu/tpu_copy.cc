// Asynchronous copies of a TPU (DMA). Spec: docs/spec/tpu-copies.md. Here a copy is described; when its halves take
// place, and what is wrong with that, is the machine's business. Based on: make_async_copy, async_copy and sync_copy of
// JAX's Mosaic TPU backend (dma_start, dma_wait). Limits: copies to other devices, `add`, gathers and scatters by a ref
// of indices are refused.
#include <algorithm>
#include <string>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/ref/async_access.h"
#include "semantics/program/builder.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

absl::Status ExpectRef(const Instr& op, const VerifyContext& context, std::string_view name) {
  const Arg* arg = FindOperand(op, name);
  const bool is_ref =
      arg != nullptr && arg->kind == Arg::Kind::kValue && context.kernel.values[arg->value.index()].type.is_ref();
  if (is_ref) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat(name, "= must be a view of a ref"));
}

absl::Status VerifyCopy(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  for (const std::string_view name : {"src", "dst", "dst_sem"}) {
    PALLADION_RETURN_IF_ERROR(ExpectRef(op, context, name));
  }
  PALLADION_ASSIGN_OR_RETURN(const Type src, OperandType(op, context, "src"));
  PALLADION_ASSIGN_OR_RETURN(const Type dst, OperandType(op, context, "dst"));
  PALLADION_RETURN_IF_ERROR(ExpectSameType(dst, src, "the destination"));
  PALLADION_ASSIGN_OR_RETURN(const Type semaphore, OperandType(op, context, "dst_sem"));
  return ExpectSync(semaphore, {ElementKind::kDmaSem}, "one DMA semaphore");
}

struct CopyParams {
  ViewPlan src, dst, semaphore;
};

// What is not modelled is said before anything runs.
absl::StatusOr<CopyParams> PlanCopy(const Instr& op, Builder& builder) {
  if (builder.target().backend != TargetBackend::kMosaicTpu) {
    return absl::UnimplementedError(
        Cat("copies by a TPU's DMA engines need a target mosaic_tpu/CHIP; the target is ", ToString(builder.target())));
  }
  if (FindOperand(op, "device_id") != nullptr || FindOperand(op, "src_sem") != nullptr) {
    return absl::UnimplementedError("copies to another device are not modelled yet");
  }
  if (BoolAttrOr(op, "add", false)) {
    return absl::UnimplementedError("add=True is of SparseCores, which are not modelled yet");
  }
  CopyParams params;
  PALLADION_ASSIGN_OR_RETURN(params.src, builder.PlanView(*FindOperand(op, "src")));
  PALLADION_ASSIGN_OR_RETURN(params.dst, builder.PlanView(*FindOperand(op, "dst")));
  PALLADION_ASSIGN_OR_RETURN(params.semaphore, builder.PlanView(*FindOperand(op, "dst_sem")));
  return params;
}

// What the semaphore counts of the whole copy.
std::int64_t CountedBytes(const CopyParams& p, Frame& frame) {
  return static_cast<std::int64_t>(BytesOf(p.dst, frame));
}

// A size that is known only at run time may be larger than the refs, and another on each side; then nothing is copied.
bool Fits(const CopyParams& p, const Step& step, Frame& frame) {
  const std::int64_t from = ElementsOf(p.src, frame), to = ElementsOf(p.dst, frame);
  for (const ViewPlan* view : {&p.src, &p.dst}) {
    const RefInfo& info = frame.program().refs[view->ref.index()];
    const bool larger = ElementsOf(*view, frame) > NumElements(info.buffer_shape);
    if (!larger && (from == to || view == &p.src)) continue;
    frame.machine().Report(
        {.code = FindingCode::kOutOfBounds,
         .message = larger ? Cat("a copy of ", std::max(from, to), " elements of '", info.name, "', which has ",
                                 NumElements(info.buffer_shape), "; nothing is copied")
                           : Cat("a copy of ", from, " elements to ", to, " of '", info.name, "'; nothing is copied"),
         .loc = step.loc,
         .text_line = step.text_line,
         .fix = "correct the size of the slice"});
    return false;
  }
  return true;
}

// tpu-copies.md#dma_start: an engine reads the source and writes the destination some time later, whole; then the
// semaphore grows by the bytes. No copy has an order with another.
absl::Status RunStart(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const CopyParams*>(params);
  for (const ViewPlan* view : {&p.src, &p.dst, &p.semaphore}) UseIndices(*view, step, frame);
  if (ElementsOf(p.src, frame) == 0 && ElementsOf(p.dst, frame) == 0) return absl::OkStatus();  // nothing to wait for
  AsyncRequest request{.name = "DMA", .await = "copy.wait()"};
  request.At(frame.site(step));
  if (Fits(p, step, frame)) {
    request.sources.push_back(OperandOf(p.src, Outside::kError, step, frame));
    request.destinations.push_back(OperandOf(p.dst, Outside::kError, step, frame));
    request.sources[0].proxy = request.destinations[0].proxy = Proxy::kGeneric;  // a TPU's memory is one for all
  }
  const SyncElement semaphore = ElementOf(p.semaphore, step, frame);
  if (semaphore.array.valid()) {
    request.completions.push_back(frame.machine().SignalAt(semaphore, CountedBytes(p, frame), CompletionUnit::kBytes));
  }
  return frame.machine().Start(std::move(request));
}

absl::Status LowerStart(const Instr& op, Builder& builder) {
  PALLADION_ASSIGN_OR_RETURN(CopyParams params, PlanCopy(op, builder));
  builder.Emit(RunStart, std::move(params));
  return absl::OkStatus();
}

WaitTarget WaitsForBytes(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const CopyParams*>(params);
  const SyncElement semaphore = ElementOf(p.semaphore, step, frame);
  if (!semaphore.array.valid()) return {};
  return {.kind = WaitTarget::Kind::kSemaphore, .object = semaphore, .value = CountedBytes(p, frame)};
}

// tpu-copies.md#dma_wait: until the semaphore holds as many bytes as the destination has, which are then subtracted. Of
// the refs only the size counts.
absl::Status RunWait(const void* params, const Step& step, Frame& frame) {
  UseIndices(static_cast<const CopyParams*>(params)->semaphore, step, frame);
  return frame.machine().Wait(WaitsForBytes(params, step, frame), frame.site(step));
}

absl::Status LowerWait(const Instr& op, Builder& builder) {
  PALLADION_ASSIGN_OR_RETURN(CopyParams params, PlanCopy(op, builder));
  builder.Emit(RunWait, std::move(params));
  builder.program().steps.back().waits = WaitsForBytes;
  return absl::OkStatus();
}

constexpr OpRow kRows[] = {
    {.name = "dma_start",
     .spec = "tpu-copies.md#dma_start",
     .verify = VerifyCopy,
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
     .verify = VerifyCopy,
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

absl::Span<const OpRow> TpuCopyOps() { return kRows; }

}  // namespace palladion
