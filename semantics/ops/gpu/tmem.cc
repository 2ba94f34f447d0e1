// Blackwell's tensor memory as values: reads and writes by a warpgroup, and what completes them. Spec:
// docs/spec/gpu-tmem.md. What a chip refuses (layouts, shapes, columns) is emu/check/legality's business.
// Based on: async_load_tmem, async_store_tmem, wait_load_tmem and commit_tmem of JAX's Mosaic GPU backend.
#include <string>
#include <utility>

#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/gpu/tensor_operands.h"
#include "semantics/ops/ref/ref_access.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

// An operation on tensor memory that the thread starts by itself, as one group of its queue.
absl::Status StartAlone(AsyncRequest request, AsyncQueue queue, const Step& step, Frame& frame) {
  request.queue = frame.machine().QueueOf(queue);
  request.At(frame.site(step));
  PALLADION_RETURN_IF_ERROR(frame.machine().Start(std::move(request)));
  return frame.machine().CommitGroup(queue, frame.site(step));
}

// ---- async_load_tmem

absl::Status VerifyLoad(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_ASSIGN_OR_RETURN(const Type src, ExpectNumbersIn(op, context, "src", {Space::kTmem}));
  if (HasAttr(op, "reduce"))
    return absl::UnimplementedError("async_load_tmem is not supported with reduce: take the reduction of the value");
  return ExpectType(op, 0, src);
}

// gpu-tmem.md#async_load_tmem: the value is there at once; that it has been read is known after wait_load_tmem only.
absl::Status RunLoad(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const AccessParams*>(params);
  UseIndices(p, step, frame);
  LoadInto(p, frame.out(step, 0), step, frame);
  AsyncRequest request{.name = "async_load_tmem", .await = "plgpu.wait_load_tmem()", .must_await = std::nullopt};
  request.sources.push_back(TensorOperandOf(p.view, Proxy::kTensorCore, step, frame));
  request.function = [](const std::vector<AsyncValue>&, std::vector<AsyncValue>*) {};
  return StartAlone(std::move(request), AsyncQueue::kTmemLoads, step, frame);
}

absl::Status LowerLoad(const Instr& op, Builder& builder) {
  AccessParams params;
  PALLADION_ASSIGN_OR_RETURN(params.view, builder.PlanView(*FindOperand(op, "src")));
  builder.Emit(RunLoad, std::move(params), {}, {builder.Result(op, 0)});
  return absl::OkStatus();
}

// ---- async_store_tmem

absl::Status VerifyStore(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 2));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  PALLADION_ASSIGN_OR_RETURN(const Type ref, ExpectNumbersIn(op, context, "ref", {Space::kTmem}));
  PALLADION_ASSIGN_OR_RETURN(const Type value, OperandType(op, context, "value"));
  return ExpectSameType(value, ref, "the value");
}

struct StoreParams {
  ViewPlan view;
  SlotId value;
};

// gpu-tmem.md#async_store_tmem: the elements become the value's some time later, known after commit_tmem.
absl::Status RunStore(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const StoreParams*>(params);
  UseIndices(p.view, step, frame);
  AsyncRequest request{.name = "async_store_tmem", .await = "plgpu.commit_tmem()"};
  request.destinations.push_back(TensorOperandOf(p.view, Proxy::kTensorCore, step, frame));
  request.function = [value = CaptureValue(p.value, p.view.type, frame)](
                         const std::vector<AsyncValue>&, std::vector<AsyncValue>* out) { out->front() = value; };
  return StartAlone(std::move(request), AsyncQueue::kTmemStores, step, frame);
}

absl::Status LowerStore(const Instr& op, Builder& builder) {
  StoreParams params;
  PALLADION_ASSIGN_OR_RETURN(params.view, builder.PlanView(*FindOperand(op, "ref")));
  PALLADION_ASSIGN_OR_RETURN(params.value, builder.In(*FindOperand(op, "value")));
  builder.Emit(RunStore, std::move(params));
  return absl::OkStatus();
}

// ---- wait_load_tmem, commit_tmem

absl::Status VerifyWait(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 0));
  return ExpectResults(op, 0);
}

struct WaitParams {
  AsyncQueue queue;
};

WaitTarget WaitsForAll(const void* params, const Step&, Frame&) {
  return {.kind = WaitTarget::Kind::kGroups, .queue = static_cast<const WaitParams*>(params)->queue};
}

// gpu-tmem.md#wait_load_tmem: until the thread's reads of tensor memory are complete.
// gpu-tmem.md#commit_tmem: until its writes are, which happen before what later synchronises with it.
absl::Status RunWait(const void* params, const Step& step, Frame& frame) {
  return frame.machine().Wait(WaitsForAll(params, step, frame), frame.site(step));
}

absl::Status LowerWait(AsyncQueue queue, Builder& builder) {
  builder.Emit(RunWait, WaitParams{queue});
  builder.program().steps.back().waits = WaitsForAll;
  return absl::OkStatus();
}

absl::Status LowerWaitLoad(const Instr&, Builder& builder) { return LowerWait(AsyncQueue::kTmemLoads, builder); }
absl::Status LowerCommit(const Instr&, Builder& builder) { return LowerWait(AsyncQueue::kTmemStores, builder); }

constexpr OpRow Access(std::string_view name, std::string_view spec, VerifyFn verify, LowerFn lower, Effect effect) {
  return {.dialect = "",
          .name = name,
          .spec = spec,
          .verify = verify,
          .lower = lower,
          .effect = effect,
          .asks_port = AsksPort::kAlways,
          .waits = Waits::kNever,
          .signals = Signals::kNever,
          .decides = Decides::kNever,
          .access = RefAccess::kAccumulator,
          .named_refs = true,
          .written = "ref",
          .backends = kGpu,
          .unit = Unit::kMatrix};
}

constexpr OpRow Await(std::string_view name, std::string_view spec, LowerFn lower) {
  return {.dialect = "",
          .name = name,
          .spec = spec,
          .verify = VerifyWait,
          .lower = lower,
          .effect = Effect::kSynchronises,
          .asks_port = AsksPort::kAlways,
          .waits = Waits::kEngine,
          .signals = Signals::kNever,
          .decides = Decides::kNever,
          .backends = kGpu,
          .unit = Unit::kMatrix};
}

constexpr OpRow kGpuTmemOps[] = {
    Access("async_load_tmem", "gpu-tmem.md#async_load_tmem", VerifyLoad, LowerLoad, Effect::kReads),
    Access("async_store_tmem", "gpu-tmem.md#async_store_tmem", VerifyStore, LowerStore, Effect::kWrites),
    Await("wait_load_tmem", "gpu-tmem.md#wait_load_tmem", LowerWaitLoad),
    Await("commit_tmem", "gpu-tmem.md#commit_tmem", LowerCommit),
};

}  // namespace

absl::Span<const OpRow> GpuTmemOps() { return kGpuTmemOps; }

}  // namespace palladion
