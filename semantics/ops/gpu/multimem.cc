// Stores to all devices of a mesh and loads that reduce over them, through NVLink's switch. Spec:
// docs/spec/gpu-devices.md. Based on: plgpu.multimem_store and multimem_load_reduce in JAX's Mosaic GPU backend, PTX's
// multimem.st and multimem.ld_reduce. Limits: sums of floats are exact and rounded once, where the switch may round in
// between; which layouts have such an instruction is JAX's lowering to say.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/gpu/row.h"
#include "semantics/ops/gpu_families.h"
#include "semantics/ops/ref/async_access.h"
#include "semantics/ops/ref/ref_access.h"
#include "semantics/program/builder.h"
#include "semantics/program/device_index.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/attrs.h"
#include "semantics/tensor/element.h"

namespace palladion {
namespace {

// The view ref= of numbers in global memory.
absl::StatusOr<Type> ExpectGlobal(const Instr& op, const VerifyContext& context) {
  PALLADION_ASSIGN_OR_RETURN(const Type viewed, ExpectNumbersIn(op, context, "ref", {Space::kGmem}));
  if (!HasAttr(op, "collective_axes")) return absl::InvalidArgumentError("expected collective_axes=, the mesh's axes");
  return viewed;
}

absl::Status PlanAccess(const Instr& op, Builder& builder, AccessParams* access, std::vector<std::size_t>* devices) {
  PALLADION_ASSIGN_OR_RETURN(access->view, builder.PlanView(*FindOperand(op, "ref")));
  if (!access->view.peer.empty())
    return absl::InvalidArgumentError("ref= is of all devices, and one is named: leave plgpu.remote_ref out");
  PALLADION_ASSIGN_OR_RETURN(*devices,
                             WholeMesh(NamesOf(*Find(op.attrs, "collective_axes")), "collective_axes", builder));
  builder.program().uses_port = true;
  builder.ViewsElsewhere();
  return absl::OkStatus();
}

// ---- multimem_store

absl::Status VerifyStore(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 2));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  PALLADION_ASSIGN_OR_RETURN(const Type ref, ExpectGlobal(op, context));
  PALLADION_ASSIGN_OR_RETURN(const Type source, OperandType(op, context, "source"));
  PALLADION_RETURN_IF_ERROR(ExpectSameType(source, ref, "the value"));
  if (!ref.shape.empty() || Info(ref.dtype).bits >= 32) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("a scalar must have 32 or 64 bits, the least that is stored to all devices; found ", ToString(ref)));
}

struct StoreParams {
  AccessParams access;
  std::vector<std::size_t> devices;  // dimensions
};

// gpu-devices.md#multimem_store: the value is stored at the same place of every device, each store a plain one.
absl::Status RunStore(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const StoreParams*>(params);
  UseIndices(p.access, step, frame);
  for (const std::vector<PeerCoordinate>& device : PeersAlong(p.devices, frame))
    StoreFrom(p.access, p.access.value, step, frame, device);
  return absl::OkStatus();
}

absl::Status LowerStore(const Instr& op, Builder& builder) {
  StoreParams params;
  PALLADION_ASSIGN_OR_RETURN(params.access.value, builder.In(*FindOperand(op, "source")));
  PALLADION_RETURN_IF_ERROR(PlanAccess(op, builder, &params.access, &params.devices));
  builder.Emit(RunStore, std::move(params));
  return absl::OkStatus();
}

// ---- multimem_load_reduce

constexpr std::array<DType, 9> kReduced = {DType::kF32, DType::kF16, DType::kBF16, DType::kF8E5M2, DType::kF8E4M3FN,
                                           DType::kI32, DType::kU32, DType::kI64,  DType::kU64};

absl::Status VerifyLoadReduce(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_ASSIGN_OR_RETURN(const Type ref, ExpectGlobal(op, context));
  PALLADION_ASSIGN_OR_RETURN(const std::string name, StringAttr(op, "reduction_op"));
  const bool order = name == "min" || name == "max", bits = name == "and" || name == "or" || name == "xor";
  if (name != "add" && !order && !bits)
    return absl::InvalidArgumentError(Cat("reduction_op must be add, min, max, and, or, xor; found ", name));
  const bool known = std::find(kReduced.begin(), kReduced.end(), ref.dtype) != kReduced.end();
  if (!known || (bits && IsFloat(ref.dtype)) || (order && ref.dtype == DType::kF32)) {
    return absl::InvalidArgumentError(
        Cat("reduction_op ", name, " on ", Name(ref.dtype),
            " is none that the switch has: add has f32, f16, bf16, f8e5m2, f8e4m3fn and integers of 32 and 64 bits, "
            "min and max all of these but f32, and, or and xor the integers"));
  }
  return ExpectType(op, 0, ref);
}

struct ReduceParams {
  AccessParams access;
  std::vector<std::size_t> devices;  // dimensions
  DType dtype = DType::kF32;
  AtomicFn combine = nullptr;  // nullptr: a sum of floats
  std::size_t elements = 0;
  SlotId part, sums;  // of one device; of floats, in f64
};

void AddFloats(const ReduceParams& p, const std::byte* part, double* sums) {
  VisitDType(p.dtype, [&](auto d) {
    using E = Element<decltype(d)::value>;
    typename E::Storage value;
    for (std::size_t i = 0; i < p.elements; ++i) {
      std::memcpy(&value, part + i * sizeof(value), sizeof(value));
      sums[i] += E::ToDouble(value);
    }
    return 0;
  });
}

void RoundFloats(const ReduceParams& p, const double* sums, std::byte* result) {
  VisitDType(p.dtype, [&](auto d) {
    using E = Element<decltype(d)::value>;
    for (std::size_t i = 0; i < p.elements; ++i) {
      const typename E::Storage value = E::FromDouble(sums[i]);
      std::memcpy(result + i * sizeof(value), &value, sizeof(value));
    }
    return 0;
  });
}

// What any device has undefined is undefined in the result.
void JoinMarks(const ReduceParams& p, SlotId result, FrameShadow& shadow) {
  const FrameShadow::Mark* const part = shadow.Of(p.part);
  if (part == nullptr) return;
  FrameShadow::Mark* const marks = shadow.Marks(result);
  if (!shadow.any(result)) std::memset(marks, 0, p.elements);
  for (std::size_t i = 0; i < p.elements; ++i) marks[i] = marks[i] != 0 ? marks[i] : part[i];
  shadow.SetAny(result, true);
}

// gpu-devices.md#multimem_load_reduce: the same place of every device, each read by a plain load, reduced in the order
// of the devices.
absl::Status RunLoadReduce(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const ReduceParams*>(params);
  UseIndices(p.access, step, frame);
  const SlotId result = frame.out(step, 0);
  std::byte *const out = frame.slot(result), *const part = frame.slot(p.part);
  auto* const sums = p.sums.valid() ? reinterpret_cast<double*>(frame.slot(p.sums)) : nullptr;
  const std::size_t bytes = StorageBytes(p.dtype);
  if (sums != nullptr) std::fill(sums, sums + p.elements, -0.0);  // the zero that changes no sum
  if (frame.shadow() != nullptr) frame.shadow()->SetDefined(result);
  bool first = true;
  for (const std::vector<PeerCoordinate>& device : PeersAlong(p.devices, frame)) {
    LoadInto(p.access, p.part, step, frame, device);
    if (sums != nullptr) {
      AddFloats(p, part, sums);
    } else if (std::exchange(first, false)) {
      std::memcpy(out, part, p.elements * bytes);
    } else {
      for (std::size_t i = 0; i < p.elements * bytes; i += bytes) p.combine(out + i, part + i, nullptr, out + i);
    }
    if (frame.shadow() != nullptr) JoinMarks(p, result, *frame.shadow());
  }
  if (sums != nullptr) RoundFloats(p, sums, out);
  return absl::OkStatus();
}

absl::Status LowerLoadReduce(const Instr& op, Builder& builder) {
  ReduceParams params;
  PALLADION_RETURN_IF_ERROR(PlanAccess(op, builder, &params.access, &params.devices));
  const Type type = op.types[0];
  params.dtype = type.dtype;
  params.elements = static_cast<std::size_t>(NumElements(type.shape));
  const std::string name = *StringAttr(op, "reduction_op");
  params.part = builder.NewSlot(type);
  if (IsFloat(type.dtype) && name == "add") {
    params.sums = builder.NewSlot(Type{.dtype = DType::kF64, .shape = type.shape});
  } else {
    PALLADION_ASSIGN_OR_RETURN(params.combine, FindAtomic(name, type.dtype));
  }
  builder.Emit(RunLoadReduce, std::move(params), {}, {builder.Result(op, 0)});
  return absl::OkStatus();
}

constexpr OpRow Row(std::string_view name, std::string_view spec, VerifyFn verify, LowerFn lower) {
  OpRow row = Named(GpuRow(name, spec, verify, lower, Unit::kMemory));
  row.stored = 0;
  return row;
}

constexpr OpRow Stores(OpRow row) {
  row.effect = Effect::kWrites;
  row.access = RefAccess::kStore;
  row.written = "ref";
  return row;
}

constexpr OpRow Loads(OpRow row) {
  row.effect = Effect::kReads;
  row.access = RefAccess::kLoad;
  return row;
}

constexpr OpRow kMultimemOps[] = {
    Stores(Row("multimem_store", "gpu-devices.md#multimem_store", VerifyStore, LowerStore)),
    Loads(Row("multimem_load_reduce", "gpu-devices.md#multimem_load_reduce", VerifyLoadReduce, LowerLoadReduce)),
};

}  // namespace

absl::Span<const OpRow> MultimemOps() { return kMultimemOps; }

}  // namespace palladion
