// Stores of registers into shared memory of another block of the cluster (st.async). Spec: docs/spec/gpu-copies.md.
// Based on: async_store_smem in JAX's Mosaic GPU backend. Not here: which layouts the instruction has (legality).
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/gpu_families.h"
#include "semantics/ops/ref/async_access.h"
#include "semantics/program/builder.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

absl::Status VerifyStore(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 4));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  PALLADION_RETURN_IF_ERROR(StringAttr(op, "cluster_dim").status());
  PALLADION_ASSIGN_OR_RETURN(const Type ref, ExpectNumbersIn(op, context, "ref", {Space::kSmem}));
  PALLADION_ASSIGN_OR_RETURN(const Type src, OperandType(op, context, "src"));
  PALLADION_RETURN_IF_ERROR(ExpectSameType(src, ref, "the stored value"));
  PALLADION_ASSIGN_OR_RETURN(const Type index, OperandType(op, context, "cluster_idx"));
  if (!index.is_array() || !index.shape.empty() || !IsInteger(index.dtype)) {
    return absl::InvalidArgumentError(Cat("cluster_idx must be an integer; found ", ToString(index)));
  }
  PALLADION_ASSIGN_OR_RETURN(const Type barrier, OperandType(op, context, "barrier"));
  PALLADION_RETURN_IF_ERROR(ExpectSync(barrier, {ElementKind::kBarrier, ElementKind::kClusterBarrier}, "one barrier"));
  if (!HasAttr(op, "atomic")) return absl::OkStatus();
  PALLADION_ASSIGN_OR_RETURN(const std::string name, StringAttr(op, "atomic"));
  return FindAtomic(name, ref.dtype).status();
}

struct StoreParams {
  ViewPlan ref, barrier;
  SlotId value, index;
  DType index_dtype = DType::kI32;
  std::size_t axis = 0;  // of the grid
  AtomicFn reduce = nullptr;
};

BufferId& BufferOf(AsyncOperand& operand) {
  return std::visit([](auto& where) -> BufferId& { return where.buffer; }, operand.where);
}

// The value as it is now, for when the engine writes it.
AsyncValue ValueOf(SlotId slot, std::size_t bytes, Frame& frame) {
  AsyncValue value;
  value.bytes.assign(frame.slot(slot), frame.slot(slot) + bytes);
  if (frame.shadow() == nullptr) return value;
  if (const std::uint8_t* marks = frame.shadow()->Of(slot)) {
    value.marks.assign(marks, marks + frame.program().slots[slot.index()].elements);
  }
  return value;
}

// gpu-copies.md#async_store_smem: the other block's memory is written some time later; then its barrier gets one
// arrival.
absl::Status RunStore(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const StoreParams*>(params);
  const Site site = frame.site(step);
  for (const ViewPlan* view : {&p.ref, &p.barrier}) UseIndices(*view, step, frame);
  if (frame.shadow() != nullptr) frame.shadow()->Use(p.index, "the block of a store", step, frame);
  const std::vector<PeerCoordinate> peer = {{p.axis, ReadIndex(frame.slot(p.index), p.index_dtype, 0)}};
  AsyncRequest request{.name = "async_store_smem"};
  request.At(site);
  AsyncOperand& there = request.destinations.emplace_back(OperandOf(p.ref, Outside::kError, step, frame));
  there.reduce = p.reduce;
  there.proxy = Proxy::kGeneric;
  const BufferId here = BufferOf(there);
  BufferOf(there) = frame.machine().PeerBuffer(here, peer, site);
  const bool own = peer[0].index == frame.grid_index()[p.axis];
  if (!own && BufferOf(there) == here) return absl::OkStatus();  // a block that is not there gets nothing
  const SyncElement barrier = ElementOf(p.barrier, step, frame);
  if (barrier.array.valid()) {
    request.completions.push_back(frame.machine().CompletionAt(frame.machine().PeerSync(barrier, peer, site)));
  }
  request.function = [value = ValueOf(p.value, there.bytes.size(), frame)](
                         const std::vector<AsyncValue>&, std::vector<AsyncValue>* out) { (*out)[0] = value; };
  return frame.machine().Start(std::move(request));
}

absl::Status LowerStore(const Instr& op, Builder& builder) {
  StoreParams params;
  PALLADION_ASSIGN_OR_RETURN(params.value, builder.In(*FindOperand(op, "src")));
  PALLADION_ASSIGN_OR_RETURN(params.ref, builder.PlanView(*FindOperand(op, "ref")));
  PALLADION_ASSIGN_OR_RETURN(params.barrier, builder.PlanView(*FindOperand(op, "barrier")));
  const Arg& index = *FindOperand(op, "cluster_idx");
  PALLADION_ASSIGN_OR_RETURN(params.index, builder.In(index));
  params.index_dtype = builder.TypeOf(index).dtype;
  PALLADION_ASSIGN_OR_RETURN(const std::string axis, StringAttr(op, "cluster_dim"));
  PALLADION_ASSIGN_OR_RETURN(const int dim, builder.GridAxis(axis));
  params.axis = static_cast<std::size_t>(dim);
  if (HasAttr(op, "atomic")) {
    PALLADION_ASSIGN_OR_RETURN(const std::string name, StringAttr(op, "atomic"));
    PALLADION_ASSIGN_OR_RETURN(params.reduce, FindAtomic(name, params.ref.type.dtype));
  }
  builder.Emit(RunStore, std::move(params));
  return absl::OkStatus();
}

constexpr OpRow kGpuStoreOps[] = {
    {.dialect = "",
     .name = "async_store_smem",
     .spec = "gpu-copies.md#async_store_smem",
     .verify = VerifyStore,
     .lower = LowerStore,
     .effect = Effect::kReadsWrites,
     .asks_port = AsksPort::kAlways,
     .waits = Waits::kNever,
     .signals = Signals::kMay,
     .decides = Decides::kReducing,
     .access = RefAccess::kCopy,
     .named_refs = true,
     .written = "ref",
     .backends = kGpu,
     .unit = Unit::kMemory},
};

}  // namespace

absl::Span<const OpRow> GpuStoreOps() { return kGpuStoreOps; }

}  // namespace palladion
