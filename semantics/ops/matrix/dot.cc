// dot_general: contraction with batch dimensions; specified in docs/spec/dot.md. Based on: JAX's dot_general and the
// exact kernel of semantics/simd/dot.h. The offset tables of both operands are made once, in prepare. `precision` names
// what hardware may do; it changes nothing here.
#include "semantics/simd/dot.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/shape/shape_common.h"
#include "semantics/registry/attrs.h"
#include "semantics/tensor/element.h"

namespace palladion {
namespace {

// The dimensions of one operand by their part in the contraction.
struct Parts {
  Axes batch;
  Axes free;
  Axes contract;
};

struct Dimensions {
  Parts a;
  Parts b;
};

absl::StatusOr<std::pair<Axes, Axes>> AxisPair(const Instr& op, std::string_view name) {
  PALLADION_ASSIGN_OR_RETURN(auto lists, IntListsAttr(op, name));
  if (lists.size() == 2 && lists[0].size() == lists[1].size()) {
    return std::make_pair(std::move(lists[0]), std::move(lists[1]));
  }
  return absl::InvalidArgumentError(
      Cat("attribute '", name, "' must be two lists of axes of one length, one for each operand"));
}

absl::StatusOr<Parts> PartsOf(const Type& x, Axes contract, Axes batch) {
  Axes used = contract;
  used.insert(used.end(), batch.begin(), batch.end());
  PALLADION_RETURN_IF_ERROR(ExpectAxes(used, x.rank(), "axes of 'contract' and 'batch'"));
  Parts parts{.batch = std::move(batch), .free = {}, .contract = std::move(contract)};
  for (int d = 0; d < x.rank(); ++d) {
    if (!Contains(used, d)) parts.free.push_back(d);
  }
  return parts;
}

absl::StatusOr<Dimensions> DimensionsOf(const Instr& op, const Type& a, const Type& b) {
  PALLADION_ASSIGN_OR_RETURN(auto contract, AxisPair(op, "contract"));
  PALLADION_ASSIGN_OR_RETURN(auto batch, AxisPair(op, "batch"));
  Dimensions dims;
  PALLADION_ASSIGN_OR_RETURN(dims.a, PartsOf(a, std::move(contract.first), std::move(batch.first)));
  PALLADION_ASSIGN_OR_RETURN(dims.b, PartsOf(b, std::move(contract.second), std::move(batch.second)));
  return dims;
}

Shape SizesOf(const Type& x, const Axes& axes) {
  Shape sizes;
  for (std::int64_t axis : axes) sizes.push_back(x.shape[static_cast<std::size_t>(axis)]);
  return sizes;
}

absl::Status ExpectSameSizes(const VerifyContext& context, const Axes& a, const Axes& b, std::string_view what) {
  const Shape sizes_a = SizesOf(context.in[0], a);
  const Shape sizes_b = SizesOf(context.in[1], b);
  if (sizes_a == sizes_b) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("the ", what, " dimensions must have the same sizes; ", ToString(context.in[0]),
                                        " has ", ToString(sizes_a), ", ", ToString(context.in[1]), " has ",
                                        ToString(sizes_b)));
}

// Which of two element types wins where the result's is not said: the larger range, then more mantissa, more bits,
// signed.
std::tuple<int, int, int, bool> Precedence(DType dtype) {
  return VisitDType(dtype, [dtype](auto tag) {
    using E = Element<decltype(tag)::value>;
    int exponent = -1, mantissa = -1;
    if constexpr (E::kIsFloat) {
      while (exponent < 1023 &&
             E::ToDouble(E::FromDouble(std::ldexp(1.0, exponent + 1))) == std::ldexp(1.0, exponent + 1))
        ++exponent;
      while (mantissa < 52 &&
             E::ToDouble(E::FromDouble(1.0 + std::ldexp(1.0, -mantissa - 1))) == 1.0 + std::ldexp(1.0, -mantissa - 1))
        ++mantissa;
    }
    return std::make_tuple(exponent, mantissa, Info(dtype).bits, !IsUnsigned(dtype));
  });
}

absl::StatusOr<DType> ResultType(const Instr& op, const VerifyContext& context) {
  if (HasAttr(op, "preferred")) return DTypeAttr(op, "preferred");
  const DType a = context.in[0].dtype;
  const DType b = context.in[1].dtype;
  if (a == b) return a;
  const auto order_a = Precedence(a);
  const auto order_b = Precedence(b);
  if (order_a != order_b) return order_a > order_b ? a : b;
  return absl::InvalidArgumentError(
      Cat("operands of ", Name(a), " and ", Name(b), " need the attribute 'preferred': neither type holds the other"));
}

absl::Status VerifyDotGeneral(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 2));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 0, kAnyKind));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 1, kAnyKind));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  PALLADION_ASSIGN_OR_RETURN(const Dimensions dims, DimensionsOf(op, context.in[0], context.in[1]));
  PALLADION_RETURN_IF_ERROR(ExpectSameSizes(context, dims.a.contract, dims.b.contract, "contracted"));
  PALLADION_RETURN_IF_ERROR(ExpectSameSizes(context, dims.a.batch, dims.b.batch, "batch"));
  PALLADION_ASSIGN_OR_RETURN(const DType dtype, ResultType(op, context));
  Shape shape = SizesOf(context.in[0], dims.a.batch);
  for (std::int64_t size : SizesOf(context.in[0], dims.a.free)) shape.push_back(size);
  for (std::int64_t size : SizesOf(context.in[1], dims.b.free)) shape.push_back(size);
  PALLADION_RETURN_IF_ERROR(ExpectPossible(shape));
  return ExpectType(op, 0, ArrayType(dtype, std::move(shape)));
}

// Offsets, in elements, of the points of some dimensions of a dense array, in row-major order of the list.
std::vector<std::int64_t> Offsets(const Type& x, const Axes& axes) {
  const std::vector<std::int64_t> strides = ElementStrides(x.shape);
  std::vector<std::int64_t> offsets = {0};
  for (std::int64_t axis : axes) {
    const auto d = static_cast<std::size_t>(axis);
    std::vector<std::int64_t> next;
    next.reserve(offsets.size() * static_cast<std::size_t>(x.shape[d]));
    for (std::int64_t offset : offsets) {
      for (std::int64_t i = 0; i < x.shape[d]; ++i) next.push_back(offset + i * strides[d]);
    }
    offsets = std::move(next);
  }
  return offsets;
}

struct OperandTables {
  DType dtype;
  std::vector<std::int64_t> batch, free, contract;
  simd::DotOperand At(const std::byte* data, std::size_t batch_index) const {
    const auto bytes = static_cast<std::int64_t>(StorageBytes(dtype));
    return {data + batch[batch_index] * bytes, dtype, free.data(), contract.data()};
  }
};

OperandTables TablesOf(const Type& x, const Parts& parts) {
  return {x.dtype, Offsets(x, parts.batch), Offsets(x, parts.free), Offsets(x, parts.contract)};
}

struct DotParams {
  OperandTables a;
  OperandTables b;
  simd::DotShape shape;
  DType out_dtype;
  std::size_t out_bytes;  // of one batch
  std::size_t scratch_bytes;
};

void EvalDot(const DotParams& p, const ValueOperands& operands) {
  if (p.out_bytes == 0) return;
  for (std::size_t i = 0; i < p.a.batch.size(); ++i) {
    simd::Dot({p.a.At(operands.in[0], i),
               p.b.At(operands.in[1], i),
               p.shape,
               {p.out_dtype, operands.out[0] + i * p.out_bytes}},
              absl::MakeSpan(operands.scratch, p.scratch_bytes), simd::ActiveTarget(),
              {operands.parallel, operands.control});
  }
}

absl::StatusOr<ValueKernel> PrepareDotGeneral(const Instr& op, const ValueTypes& types) {
  PALLADION_ASSIGN_OR_RETURN(const Dimensions dims, DimensionsOf(op, types.in[0], types.in[1]));
  DotParams params{.a = TablesOf(types.in[0], dims.a),
                   .b = TablesOf(types.in[1], dims.b),
                   .shape = {},
                   .out_dtype = types.out[0].dtype,
                   .out_bytes = 0,
                   .scratch_bytes = 0};
  params.shape = {params.a.free.size(), params.b.free.size(), params.a.contract.size()};
  params.out_bytes = params.shape.m * params.shape.n * StorageBytes(params.out_dtype);
  const std::size_t threads = std::max(1u, std::thread::hardware_concurrency());
  const bool wants_threads = threads > 1 && simd::WorthSharing(params.shape);
  params.scratch_bytes = simd::DotScratchBytes(params.shape, wants_threads ? threads : 1);
  const std::size_t scratch = params.scratch_bytes;
  const double work =
      static_cast<double>(params.a.batch.size()) * simd::WorkOf(params.shape) / simd::kMultiplyAddsOfElement;
  ValueKernel kernel = Bind<EvalDot>(std::move(params), scratch);
  kernel.wants_threads = wants_threads;
  kernel.work = work;
  return kernel;
}

constexpr OpRow kDotOps[] = {
    {.name = "dot_general",
     .spec = "dot.md#dot_general",
     .verify = VerifyDotGeneral,
     .prepare = PrepareDotGeneral,
     .flow = Flow::kDot,
     .in_ring = InRing::kSame,
     .backends = kTpuTriton,
     .unit = Unit::kMatrix},
};

}  // namespace

absl::Span<const OpRow> DotOps() { return kDotOps; }

}  // namespace palladion
