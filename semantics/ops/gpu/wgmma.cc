// Hopper's matrix products: asynchronous, into an accumulator in registers. Spec: docs/spec/gpu-wgmma.md. What a chip
// refuses (shapes, swizzles, types) is emu/check' business; here any matrix product has its meaning.
// Based on: wgmma of JAX's Mosaic GPU backend, whose documentation promises that at most the last product issued is
// in flight when a call returns; DESIGN's fence policies say which promise is relied on.
#include "semantics/ops/gpu/wgmma.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/matrix/mma.h"
#include "semantics/ops/ref/async_access.h"
#include "semantics/ops/ref/ref_access.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/attrs.h"
#include "semantics/simd/dot.h"

namespace palladion {
namespace {

bool IsRef(const Instr& op, const VerifyContext& context, std::string_view name) {
  const Arg* arg = FindOperand(op, name);
  return arg != nullptr && arg->kind == Arg::Kind::kValue && context.kernel.values[arg->value.index()].type.is_ref();
}

// ---- wgmma_ref

absl::Status VerifyWgmma(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 3));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  PALLADION_ASSIGN_OR_RETURN(const Type acc, OperandType(op, context, "acc"));
  PALLADION_ASSIGN_OR_RETURN(const Type a, OperandType(op, context, "a"));
  PALLADION_ASSIGN_OR_RETURN(const Type b, OperandType(op, context, "b"));
  if (!IsRef(op, context, "acc") || !IsRef(op, context, "b")) {
    return absl::InvalidArgumentError("acc= and b= must be views of refs; a= may be a value");
  }
  const bool fits = acc.rank() == 2 && a.rank() == 2 && b.rank() == 2 && a.shape[0] == acc.shape[0] &&
                    b.shape[1] == acc.shape[1] && a.shape[1] == b.shape[0];
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("expected acc[m,n], a[m,k] and b[k,n]; found ", ToString(acc), ", ", ToString(a), " and ", ToString(b)));
}

struct WgmmaParams {
  ViewPlan acc, a, b;
  SlotId value;  // of a, where that is no view
  std::shared_ptr<const Mma> mma;
};

WaitTarget WaitsForMma(std::int64_t may_remain) {
  return {.kind = WaitTarget::Kind::kGroups, .value = may_remain, .queue = AsyncQueue::kMma};
}

WaitTarget WaitsToIssue(const void*, const Step&, Frame& frame) {
  if (!frame.machine().CompletesEarlier(AsyncQueue::kMma)) return {};
  WaitTarget target = WaitsForMma(0);
  target.promised = true;
  return target;
}

// gpu-wgmma.md#wgmma_ref: acc becomes acc + a b some time later. The products of a warpgroup take place one after
// another, and each is a group of its own.
absl::Status RunWgmma(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const WgmmaParams*>(params);
  UseIndices(p.acc, step, frame);
  UseIndices(p.b, step, frame);
  const Site site = frame.site(step);
  PALLADION_RETURN_IF_ERROR(frame.machine().Wait(WaitsToIssue(params, step, frame), site));
  AsyncRequest request = frame.machine().NewRequest();
  request.name = "wgmma", request.await = "plgpu.wgmma_wait(0)";
  request.queue = frame.machine().QueueOf(AsyncQueue::kMma);
  request.views = FunctionViews::kReplaces;
  request.At(site);
  request.sources.reserve(3);
  request.sources.push_back(OperandOf(p.acc, Outside::kError, step, frame));
  request.sources[0].proxy = Proxy::kGeneric;
  request.destinations.push_back(request.sources[0]);
  request.sources.push_back(OperandOf(p.b, Outside::kError, step, frame));
  if (p.value.valid()) {
    request.function = [mma = p.mma.get(), a = CaptureValue(p.value, p.a.type, frame)](
                           const std::vector<AsyncValue>& in, std::vector<AsyncValue>* out) {
      const AsyncValue* const right = &in[1];
      mma->Run({.a = a, .b = {&right, 1}, .acc = &in[0]}, &out->front());
    };
  } else {
    UseIndices(p.a, step, frame);
    request.sources.push_back(OperandOf(p.a, Outside::kError, step, frame));
    request.function = [mma = p.mma.get()](const std::vector<AsyncValue>& in, std::vector<AsyncValue>* out) {
      const AsyncValue* const right = &in[1];
      mma->Run({.a = in[2], .b = {&right, 1}, .acc = &in[0]}, &out->front());
    };
  }
  PALLADION_RETURN_IF_ERROR(frame.machine().Start(std::move(request)));
  return frame.machine().CommitGroup(AsyncQueue::kMma, site);
}

absl::Status LowerWgmma(const Instr& op, Builder& builder) {
  WgmmaParams params;
  PALLADION_ASSIGN_OR_RETURN(params.acc, builder.PlanView(*FindOperand(op, "acc")));
  PALLADION_ASSIGN_OR_RETURN(params.b, builder.PlanView(*FindOperand(op, "b")));
  const Arg& a = *FindOperand(op, "a");
  if (a.kind == Arg::Kind::kValue && builder.RefOf(a.value).valid()) {
    PALLADION_ASSIGN_OR_RETURN(params.a, builder.PlanView(a));
  } else {
    PALLADION_ASSIGN_OR_RETURN(params.value, builder.In(a));
    params.a.type = builder.TypeOf(a);
  }
  const Type &acc = params.acc.type, &left = params.a.type, &right = params.b.type;
  params.mma = std::make_shared<const Mma>(
      Mma::Form{acc.shape[0], acc.shape[1], left.shape[1], Multiplied(left.dtype), Multiplied(right.dtype), acc.dtype});
  const double products = static_cast<double>(NumElements(acc.shape)) * static_cast<double>(left.shape[1]);
  builder.Emit(RunWgmma, std::move(params));
  builder.SetWork(products / simd::kMultiplyAddsOfElement);
  builder.program().steps.back().waits = WaitsToIssue;
  return absl::OkStatus();
}

// ---- wgmma_wait

absl::Status VerifyWgmmaWait(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  if (context.in[0].is_array() && context.in[0].shape.empty() && IsInteger(context.in[0].dtype)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(Cat("the number of groups must be an integer; found ", ToString(context.in[0])));
}

struct WgmmaWaitParams {
  SlotId count;  // invalid: none may remain
  DType dtype = DType::kI32;
};

WaitTarget WaitsForWgmma(const void* params, const Step&, Frame& frame) {
  const auto& p = *static_cast<const WgmmaWaitParams*>(params);
  const std::int64_t remain = p.count.valid() ? ReadIndex(frame.slot(p.count), p.dtype, 0) : 0;
  return WaitsForMma(std::max<std::int64_t>(0, remain));
}

// gpu-wgmma.md#wgmma_wait: until at most n of the warpgroup's products are in flight, the latest.
absl::Status RunWgmmaWait(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const WgmmaWaitParams*>(params);
  if (frame.shadow() != nullptr && p.count.valid()) frame.shadow()->Use(p.count, "a number of groups", step, frame);
  return frame.machine().Wait(WaitsForWgmma(params, step, frame), frame.site(step));
}

absl::Status LowerWgmmaWait(const Instr& op, Builder& builder) {
  WgmmaWaitParams params;
  PALLADION_ASSIGN_OR_RETURN(params.count, builder.In(op.args[0]));
  params.dtype = builder.TypeOf(op.args[0]).dtype;
  builder.Emit(RunWgmmaWait, std::move(params));
  builder.program().steps.back().waits = WaitsForWgmma;
  return absl::OkStatus();
}

// ---- the accumulator as a value

absl::Status ExpectAccumulator(const Instr& op, const VerifyContext& context) {
  const bool is_ref = !op.args.empty() && op.args[0].kind == Arg::Kind::kValue &&
                      context.kernel.values[op.args[0].value.index()].type.is_ref();
  if (is_ref && context.kernel.values[op.args[0].value.index()].type.space == Space::kRegs) return absl::OkStatus();
  return absl::InvalidArgumentError("the first operand must be a view of an accumulator, a ref in registers");
}

absl::Status VerifyDeref(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectAccumulator(op, context));
  if (HasAttr(op, "wait_n")) {
    PALLADION_ASSIGN_OR_RETURN(const std::int64_t n, IntAttr(op, "wait_n"));
    if (n < 0) return absl::InvalidArgumentError(Cat("wait_n must be none, 0 or more; found ", n));
  }
  return ExpectType(op, 0, context.in[0]);
}

struct DerefParams {
  AccessParams access;
  std::int64_t may_remain = -1;  // -1: without a wait
};

WaitTarget WaitsToRead(const void* params, const Step&, Frame&) {
  const auto& p = *static_cast<const DerefParams*>(params);
  return p.may_remain < 0 ? WaitTarget{} : WaitsForMma(p.may_remain);
}

// gpu-wgmma.md#wgmma_accumulator_deref: the accumulator's value after a wait as by wgmma_wait; without `wait_n`, what
// is there now.
absl::Status RunDeref(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const DerefParams*>(params);
  UseIndices(p.access, step, frame);
  PALLADION_RETURN_IF_ERROR(frame.machine().Wait(WaitsToRead(params, step, frame), frame.site(step)));
  LoadInto(p.access, frame.out(step, 0), step, frame);
  return absl::OkStatus();
}

absl::Status LowerDeref(const Instr& op, Builder& builder) {
  DerefParams params;
  PALLADION_ASSIGN_OR_RETURN(params.access.view, builder.PlanView(op.args[0]));
  params.may_remain = IntAttrOr(op, "wait_n", -1);
  builder.Emit(RunDeref, std::move(params), {}, {builder.Result(op, 0)});
  builder.program().steps.back().waits = WaitsToRead;
  return absl::OkStatus();
}

absl::Status VerifyAccumulatorStore(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 2));
  PALLADION_RETURN_IF_ERROR(ExpectAccumulator(op, context));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  return ExpectSameType(context.in[1], context.in[0], "the stored value");
}

// gpu-wgmma.md#wgmma_accumulator_store: the accumulator becomes the value.
absl::Status RunAccumulatorStore(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const AccessParams*>(params);
  UseIndices(p, step, frame);
  StoreFrom(p, p.value, step, frame);
  return absl::OkStatus();
}

absl::Status LowerAccumulatorStore(const Instr& op, Builder& builder) {
  AccessParams params;
  PALLADION_ASSIGN_OR_RETURN(params.view, builder.PlanView(op.args[0]));
  PALLADION_ASSIGN_OR_RETURN(params.value, builder.In(op.args[1]));
  builder.Emit(RunAccumulatorStore, std::move(params));
  return absl::OkStatus();
}

constexpr OpRow kGpuWgmmaOps[] = {
    {.dialect = "",
     .name = "wgmma_ref",
     .spec = "gpu-wgmma.md#wgmma_ref",
     .verify = VerifyWgmma,
     .lower = LowerWgmma,
     .effect = Effect::kReadsWrites,
     .asks_port = AsksPort::kAlways,
     .waits = Waits::kEngine,
     .signals = Signals::kNever,
     .decides = Decides::kNever,
     .access = RefAccess::kProduct,
     .named_refs = true,
     .written = "acc",
     .backends = kGpu,
     .unit = Unit::kMatrix},
    {.dialect = "",
     .name = "wgmma_wait",
     .spec = "gpu-wgmma.md#wgmma_wait",
     .verify = VerifyWgmmaWait,
     .lower = LowerWgmmaWait,
     .effect = Effect::kSynchronises,
     .asks_port = AsksPort::kAlways,
     .waits = Waits::kEngine,
     .signals = Signals::kNever,
     .decides = Decides::kNever,
     .backends = kGpu,
     .unit = Unit::kMatrix},
    {.dialect = "",
     .name = "wgmma_accumulator_deref",
     .spec = "gpu-wgmma.md#wgmma_accumulator_deref",
     .verify = VerifyDeref,
     .lower = LowerDeref,
     .effect = Effect::kReads,
     .asks_port = AsksPort::kAlways,
     .waits = Waits::kEngine,
     .signals = Signals::kNever,
     .decides = Decides::kNever,
     .access = RefAccess::kAccumulator,
     .backends = kGpu,
     .unit = Unit::kMatrix},
    {.dialect = "",
     .name = "wgmma_accumulator_store",
     .spec = "gpu-wgmma.md#wgmma_accumulator_store",
     .verify = VerifyAccumulatorStore,
     .lower = LowerAccumulatorStore,
     .effect = Effect::kWrites,
     .access = RefAccess::kAccumulator,
     .backends = kGpu,
     .unit = Unit::kMatrix},
};

}  // namespace

void EmitAwaitMma(Builder& builder) {
  builder.EmitVisible(RunWgmmaWait, WgmmaWaitParams{});
  builder.program().steps.back().waits = WaitsForWgmma;
}

absl::Span<const OpRow> GpuWgmmaOps() { return kGpuWgmmaOps; }

}  // namespace palladion
