// Barriers of a GPU block and of a cluster. Spec: docs/spec/gpu-barriers.md. Phases, counts and what is ordered are the
// machine's (memory_model/sync/barrier.h).
#include <cstring>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/ref/async_access.h"
#include "semantics/program/builder.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

absl::Status VerifyBarrier(const Instr& op, const VerifyContext& context) {
  const bool predicated = op.name == "barrier_arrive" && FindOperand(op, "predicate") != nullptr;
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, predicated ? 2 : 1));
  if (predicated) PALLADION_RETURN_IF_ERROR(ExpectPredicate(op, context));
  PALLADION_ASSIGN_OR_RETURN(const Type barrier, OperandType(op, context, "barrier"));
  PALLADION_RETURN_IF_ERROR(ExpectSync(barrier, {ElementKind::kBarrier, ElementKind::kClusterBarrier}, "one barrier"));
  if (op.name != "barrier_test") return ExpectResults(op, 0);
  return ExpectType(op, 0, Type{.dtype = DType::kBool});
}

struct BarrierParams {
  ViewPlan barrier;
  SlotId predicate;  // invalid: always
};

WaitTarget PhaseOf(const void* params, const Step& step, Frame& frame) {
  const SyncElement barrier = ElementOf(static_cast<const BarrierParams*>(params)->barrier, step, frame);
  if (!barrier.array.valid()) return {};
  return {.kind = WaitTarget::Kind::kBarrier, .object = barrier};
}

// gpu-barriers.md#barrier_arrive: one arrival, which publishes what the thread did before. It waits for nothing. With
// a false predicate it is nothing.
absl::Status RunArrive(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const BarrierParams*>(params);
  UseIndices(p.barrier, step, frame);
  if (!IsTrue(p.predicate, "the predicate of an arrival", step, frame)) return absl::OkStatus();
  return frame.machine().Arrive({.at = PhaseOf(params, step, frame)}, frame.site(step));
}

// gpu-barriers.md#barrier_wait: until the next phase that the thread has not waited for is complete; then it knows what
// the arrivals published.
absl::Status RunWait(const void* params, const Step& step, Frame& frame) {
  UseIndices(static_cast<const BarrierParams*>(params)->barrier, step, frame);
  return frame.machine().Wait(PhaseOf(params, step, frame), frame.site(step));
}

// gpu-barriers.md#barrier_test: does not wait. True where barrier_wait would go on; then the phase counts as waited
// for.
absl::Status RunTest(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const BarrierParams*>(params);
  UseIndices(p.barrier, step, frame);
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t come,
                             frame.machine().Poll(PhaseOf(params, step, frame), frame.site(step)));
  *frame.slot(frame.out(step, 0)) = static_cast<std::byte>(come);
  return absl::OkStatus();
}

absl::Status LowerBarrier(const Instr& op, Builder& builder) {
  BarrierParams params;
  PALLADION_ASSIGN_OR_RETURN(params.barrier, builder.PlanView(*FindOperand(op, "barrier")));
  if (const Arg* predicate = FindOperand(op, "predicate")) {
    PALLADION_ASSIGN_OR_RETURN(params.predicate, builder.In(*predicate));
  }
  if (op.name == "barrier_arrive") {
    builder.Emit(RunArrive, std::move(params));
    builder.program().steps.back().signals = PhaseOf;
  } else if (op.name == "barrier_test") {
    builder.Emit(RunTest, std::move(params), {}, {builder.Result(op, 0)});
    builder.program().steps.back().polls = PhaseOf;
  } else {
    builder.Emit(RunWait, std::move(params));
    builder.program().steps.back().waits = PhaseOf;
  }
  return absl::OkStatus();
}

// gpu-barriers.md#commit_smem: what the thread knows of shared memory, its own reads and writes among it, is visible
// from here on to the asynchronous accesses that it issues, and to those of agents that synchronise with it.
absl::Status VerifyCommitSmem(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 0));
  return ExpectResults(op, 0);
}

struct NoParams {};

// In JAX it is a fence of each lane, and then a barrier of all of them.
absl::Status RunCommitSmem(const void*, const Step& step, Frame& frame) {
  PALLADION_RETURN_IF_ERROR(frame.machine().Make(Fence::kLanes, frame.site(step)));
  return frame.machine().Make(Fence::kSharedToAsync, frame.site(step));
}

absl::Status LowerCommitSmem(const Instr&, Builder& builder) {
  builder.Emit(RunCommitSmem, NoParams{});
  return absl::OkStatus();
}

struct Syncs {
  Waits waits = Waits::kNever;
  Signals signals = Signals::kNever;
  Decides decides = Decides::kNever;
};

constexpr OpRow Row(std::string_view name, std::string_view spec, VerifyFn verify, LowerFn lower, Syncs syncs) {
  return {.dialect = "",
          .name = name,
          .spec = spec,
          .verify = verify,
          .lower = lower,
          .effect = Effect::kSynchronises,
          .asks_port = AsksPort::kAlways,
          .waits = syncs.waits,
          .signals = syncs.signals,
          .decides = syncs.decides,
          .named_refs = true,
          .backends = kGpu,
          .unit = Unit::kControl};
}

constexpr OpRow kGpuBarrierOps[] = {
    Row("barrier_arrive", "gpu-barriers.md#barrier_arrive", VerifyBarrier, LowerBarrier, {.signals = Signals::kMay}),
    Row("barrier_wait", "gpu-barriers.md#barrier_wait", VerifyBarrier, LowerBarrier, {.waits = Waits::kSignal}),
    Row("barrier_test", "gpu-barriers.md#barrier_test", VerifyBarrier, LowerBarrier, {.decides = Decides::kAlways}),
    Row("commit_smem", "gpu-barriers.md#commit_smem", VerifyCommitSmem, LowerCommitSmem, {}),
};

}  // namespace

absl::Span<const OpRow> GpuBarrierOps() { return kGpuBarrierOps; }

}  // namespace palladion
