// Copies from shared to tensor memory that the tensor core performs (tcgen05.cp): of arrays as they are, of block
// scales and of sparse metadata. Spec: docs/spec/gpu-tcgen05.md. What a chip refuses (swizzles, lanes, columns) is
// emu/check/legality's business.
// Based on: async_copy_smem_to_tmem, async_copy_scales_to_tmem and async_copy_sparse_metadata_to_tmem of JAX's Mosaic
// GPU backend.
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/gpu/row.h"
#include "semantics/ops/gpu/scaled_form.h"
#include "semantics/ops/gpu/tensor_operands.h"
#include "semantics/ops/gpu/tmem_packing.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

struct Sides {
  Type smem, tmem;
};

absl::StatusOr<Sides> SidesOf(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 2));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  Sides sides;
  PALLADION_ASSIGN_OR_RETURN(sides.smem, ExpectNumbersIn(op, context, "smem", {Space::kSmem}));
  PALLADION_ASSIGN_OR_RETURN(sides.tmem, ExpectNumbersIn(op, context, "tmem", {Space::kTmem}));
  return sides;
}

absl::Status VerifyCopy(const Instr& op, const VerifyContext& context) {
  PALLADION_ASSIGN_OR_RETURN(const Sides sides, SidesOf(op, context));
  return ExpectSameType(sides.tmem, sides.smem, "the destination");
}

// The packed array is what the ref's layout makes of its tiles.
absl::Status ExpectPacked(const Sides& sides, TmemLayoutName layout) {
  const bool matrix = sides.tmem.rank() == 2;
  const std::int64_t rows = matrix ? sides.tmem.shape[0] : 0, columns = matrix ? sides.tmem.shape[1] : 0;
  if (!matrix || !IsWholeTiles(layout, rows, columns)) {
    return absl::InvalidArgumentError(
        Cat("expected tmem= to be whole tiles of layout=", Name(layout), "; found ", ToString(sides.tmem)));
  }
  const Type expected = ArrayType(sides.tmem.dtype, PackedShape(layout, rows, columns));
  return ExpectSameType(sides.smem, expected, "the packed array");
}

absl::StatusOr<TmemLayoutName> LayoutOfTarget(const Instr& op, const Kernel& kernel) {
  PALLADION_ASSIGN_OR_RETURN(const TmemLayout layout, LayoutOfView(kernel, *FindOperand(op, "tmem")));
  return layout.name;
}

absl::Status VerifyScales(const Instr& op, const VerifyContext& context) {
  PALLADION_ASSIGN_OR_RETURN(const Sides sides, SidesOf(op, context));
  PALLADION_ASSIGN_OR_RETURN(const TmemLayoutName layout, LayoutOfTarget(op, context.kernel));
  const DType dtype = sides.tmem.dtype;
  if (dtype != DType::kF8E8M0FNU && dtype != DType::kF8E4M3FN) {
    return absl::InvalidArgumentError(Cat("scales must be f8e8m0fnu or f8e4m3fn; found ", ToString(sides.tmem)));
  }
  if (layout != TmemLayoutName::kScales && layout != TmemLayoutName::kScalesM64Collective) {
    return absl::InvalidArgumentError(
        Cat("tmem= must have layout=scales or layout=scales_m64_collective; found layout=", Name(layout),
            ": allocate it with plgpu.TMEMLayout.SCALES_LAYOUT"));
  }
  return ExpectPacked(sides, layout);
}

absl::Status VerifyPositions(const Instr& op, const VerifyContext& context) {
  PALLADION_ASSIGN_OR_RETURN(const Sides sides, SidesOf(op, context));
  PALLADION_ASSIGN_OR_RETURN(const TmemLayoutName layout, LayoutOfTarget(op, context.kernel));
  if (sides.tmem.dtype != DType::kU2) {
    return absl::InvalidArgumentError(Cat("positions of sparse operands must be u2; found ", ToString(sides.tmem)));
  }
  if (layout != TmemLayoutName::kSparseMetadata) {
    return absl::InvalidArgumentError(Cat("tmem= must have layout=sparse_metadata; found layout=", Name(layout),
                                          ": allocate it with plgpu.TMEMLayout.SPARSE_METADATA_LAYOUT"));
  }
  return ExpectPacked(sides, layout);
}

struct CopyParams {
  TensorView smem, tmem;
  std::optional<std::size_t> pair;
  std::string name;
  // Of the packed array's elements in the ref; none: as they are.
  std::shared_ptr<const std::vector<std::int64_t>> order;
};

// Elements in the order of the ref; each has one byte.
AsyncValue Reordered(const AsyncValue& packed, const std::vector<std::int64_t>& order) {
  AsyncValue value{.bytes = std::vector<std::byte>(order.size()), .marks = {}};
  for (std::size_t i = 0; i < order.size(); ++i) value.bytes[i] = packed.bytes[static_cast<std::size_t>(order[i])];
  if (packed.marks.empty()) return value;
  value.marks.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) value.marks[i] = packed.marks[static_cast<std::size_t>(order[i])];
  return value;
}

// gpu-tcgen05.md#async_copy_smem_to_tmem: tensor memory becomes what shared memory has some time later, in each block
// of a pair from its own.
absl::Status RunCopy(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const CopyParams*>(params);
  for (const TensorView* view : {&p.smem, &p.tmem}) UseIndices(view->plan, step, frame);
  if (!Issues(p.pair, frame)) return absl::OkStatus();
  const Site site = frame.site(step);
  AsyncRequest request{.name = p.name,
                       .await = "plgpu.tcgen05_commit_arrive(...) and plgpu.barrier_wait(...)",
                       .queue = frame.machine().QueueOf(AsyncQueue::kTensorCore),
                       .pipelined = Pipelined{}};
  request.At(site);
  request.sources.push_back(TensorOperandOf(p.smem, step, frame));
  request.destinations.push_back(TensorOperandOf(p.tmem, step, frame));
  if (p.pair.has_value() && (!AddOfOther(*p.pair, site, frame, &request.sources) ||
                             !AddOfOther(*p.pair, site, frame, &request.destinations))) {
    return absl::OkStatus();
  }
  if (p.order != nullptr) {
    request.function = [order = p.order](const std::vector<AsyncValue>& in, std::vector<AsyncValue>* out) {
      for (std::size_t i = 0; i < in.size(); ++i) (*out)[i] = Reordered(in[i], *order);
    };
  }
  return frame.machine().Start(std::move(request));
}

absl::StatusOr<CopyParams> PlanCopy(const Instr& op, Builder& builder) {
  CopyParams params{.name = std::string(op.name)};
  PALLADION_ASSIGN_OR_RETURN(params.smem, PlanTensorView(op, "smem", builder));
  PALLADION_ASSIGN_OR_RETURN(params.tmem, PlanTensorView(op, "tmem", builder));
  PALLADION_ASSIGN_OR_RETURN(params.pair, PairAxis(op, builder));
  return params;
}

absl::Status LowerCopy(const Instr& op, Builder& builder) {
  PALLADION_ASSIGN_OR_RETURN(CopyParams params, PlanCopy(op, builder));
  builder.Emit(RunCopy, std::move(params));
  return absl::OkStatus();
}

absl::Status LowerPacked(const Instr& op, Builder& builder) {
  PALLADION_ASSIGN_OR_RETURN(CopyParams params, PlanCopy(op, builder));
  PALLADION_ASSIGN_OR_RETURN(const TmemLayoutName layout, LayoutOfTarget(op, builder.kernel()));
  const Shape& shape = params.tmem.plan.type.shape;
  params.order = std::make_shared<const std::vector<std::int64_t>>(PackedOrder(layout, shape[0], shape[1]));
  builder.Emit(RunCopy, std::move(params));
  return absl::OkStatus();
}

constexpr OpRow Copy(std::string_view name, std::string_view spec, VerifyFn verify, LowerFn lower) {
  return ByEngine(GpuRow(name, spec, verify, lower, Unit::kMatrix), RefAccess::kCopy, "tmem");
}

constexpr OpRow kGpuTmemCopyOps[] = {
    Copy("async_copy_smem_to_tmem", "gpu-tcgen05.md#async_copy_smem_to_tmem", VerifyCopy, LowerCopy),
    Copy("async_copy_scales_to_tmem", "gpu-tcgen05.md#async_copy_scales_to_tmem", VerifyScales, LowerPacked),
    Copy("async_copy_sparse_metadata_to_tmem", "gpu-tcgen05.md#async_copy_sparse_metadata_to_tmem", VerifyPositions,
         LowerPacked),
};

}  // namespace

absl::Span<const OpRow> GpuTmemCopyOps() { return kGpuTmemCopyOps; }

}  // namespace palladion
