// Loads, atomic updates and prefetches of Mosaic GPU. Spec: docs/spec/gpu-memory.md. Based on: plgpu.load,
// plgpu.atomic_* and async_prefetch in JAX's Mosaic GPU backend. Not here: which layouts, tiles and types hardware has
// an instruction for (checks of legality).
#include <string>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/ref/async_access.h"
#include "semantics/ops/ref/ref_access.h"
#include "semantics/program/builder.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

// ---- mgpu.load

absl::Status VerifyLoad(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_ASSIGN_OR_RETURN(const Type src, ExpectNumbersIn(op, context, "src", {Space::kSmem, Space::kGmem}));
  return ExpectType(op, 0, src);
}

// gpu-memory.md#mgpu.load: what get does; `optimized` says how, not what.
absl::Status RunLoad(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const AccessParams*>(params);
  UseIndices(p, step, frame);
  LoadInto(p, frame.out(step, 0), step, frame);
  return absl::OkStatus();
}

absl::Status LowerLoad(const Instr& op, Builder& builder) {
  AccessParams params;
  PALLADION_ASSIGN_OR_RETURN(params.view, builder.PlanView(*FindOperand(op, "src")));
  builder.Emit(RunLoad, std::move(params), {}, {builder.Result(op, 0)});
  return absl::OkStatus();
}

// ---- atomic_store

absl::Status VerifyAtomicStore(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 2));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  PALLADION_ASSIGN_OR_RETURN(const Type ref, ExpectNumbersIn(op, context, "ref", {Space::kSmem, Space::kGmem}));
  PALLADION_ASSIGN_OR_RETURN(const Type value, OperandType(op, context, "value"));
  PALLADION_RETURN_IF_ERROR(ExpectSameType(value, ref, "the value"));
  PALLADION_ASSIGN_OR_RETURN(const std::string name, StringAttr(op, "atomic_type"));
  if (name == "xchg" || name == "cas") {
    return absl::InvalidArgumentError(Cat("atomic_type must be add, max, min, and, or, xor; found ", name));
  }
  return FindAtomic(name, ref.dtype).status();
}

struct AtomicParams {
  AccessParams access;
  AtomicFn fn = nullptr;
};

// gpu-memory.md#atomic_store: each element becomes the update of itself and the value's, alone; no element is ordered
// with another, and nothing else with any.
absl::Status RunAtomicStore(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const AtomicParams*>(params);
  UseIndices(p.access, step, frame);
  PointAccess points;
  ResolvePoints(p.access.view, step, frame, points);
  Definedness defined;
  if (frame.shadow() != nullptr) {
    defined = frame.shadow()->Get(p.access.value);
    points.defined = &defined;
  }
  frame.machine().Atomic(points, p.fn, frame.slot(p.access.value), nullptr, nullptr);
  return absl::OkStatus();
}

absl::Status LowerAtomicStore(const Instr& op, Builder& builder) {
  AtomicParams params;
  PALLADION_ASSIGN_OR_RETURN(params.access.view, builder.PlanPoints(*FindOperand(op, "ref")));
  PALLADION_ASSIGN_OR_RETURN(params.access.value, builder.In(*FindOperand(op, "value")));
  PALLADION_ASSIGN_OR_RETURN(const std::string name, StringAttr(op, "atomic_type"));
  PALLADION_ASSIGN_OR_RETURN(params.fn, FindAtomic(name, params.access.view.type.dtype));
  builder.Emit(RunAtomicStore, std::move(params));
  builder.program().steps.back().atomic = AtomicStep::kUpdate;
  return absl::OkStatus();
}

// ---- async_prefetch

absl::Status VerifyPrefetch(const Instr& op, const VerifyContext& context) {
  const bool predicated = FindOperand(op, "predicate") != nullptr;
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, predicated ? 2 : 1));
  if (predicated) PALLADION_RETURN_IF_ERROR(ExpectPredicate(op, context));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  return ExpectNumbersIn(op, context, "ref", {Space::kGmem}).status();
}

struct PrefetchParams {
  ViewPlan ref;
};

// gpu-memory.md#async_prefetch: nothing that a kernel could see; only its indices must be defined.
absl::Status RunPrefetch(const void* params, const Step& step, Frame& frame) {
  UseIndices(static_cast<const PrefetchParams*>(params)->ref, step, frame);
  return absl::OkStatus();
}

absl::Status LowerPrefetch(const Instr& op, Builder& builder) {
  PrefetchParams params;
  PALLADION_ASSIGN_OR_RETURN(params.ref, builder.PlanView(*FindOperand(op, "ref")));
  builder.Emit(RunPrefetch, std::move(params));
  builder.program().steps.back().own_memory = true;
  return absl::OkStatus();
}

constexpr OpRow kGpuMemoryOps[] = {
    {.dialect = "mgpu",
     .name = "load",
     .spec = "gpu-memory.md#mgpu.load",
     .verify = VerifyLoad,
     .lower = LowerLoad,
     .effect = Effect::kReads,
     .asks_port = AsksPort::kMay,
     .waits = Waits::kNever,
     .access = RefAccess::kLoad,
     .named_refs = true,
     .backends = kGpu,
     .unit = Unit::kMemory},
    {.dialect = "",
     .name = "atomic_store",
     .spec = "gpu-memory.md#atomic_store",
     .verify = VerifyAtomicStore,
     .lower = LowerAtomicStore,
     .effect = Effect::kReadsWrites,
     .asks_port = AsksPort::kMay,
     .waits = Waits::kNever,
     .decides = Decides::kAlways,
     .access = RefAccess::kAtomic,
     .named_refs = true,
     .written = "ref",
     .backends = kGpu,
     .unit = Unit::kMemory},
    {.dialect = "",
     .name = "async_prefetch",
     .spec = "gpu-memory.md#async_prefetch",
     .verify = VerifyPrefetch,
     .lower = LowerPrefetch,
     .effect = Effect::kReads,
     .asks_port = AsksPort::kMay,
     .waits = Waits::kNever,
     .access = RefAccess::kPrefetch,
     .named_refs = true,
     .backends = kGpu,
     .unit = Unit::kMemory},
};

}  // namespace

absl::Span<const OpRow> GpuMemoryOps() { return kGpuMemoryOps; }

}  // namespace palladion
