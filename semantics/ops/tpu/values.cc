// Mosaic TPU's own value operations: roll and stochastic rounding; specified in docs/spec/tpu.md. The others are in
// tpu_bits.cc, tpu.repeat is with tile in shape_move.cc. Based on: jax.experimental.pallas.tpu of JAX 0.10.2. Which of
// the random bits a TPU uses is not documented; here it is the low ones.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/shape/shape_common.h"
#include "semantics/registry/attrs.h"
#include "semantics/tensor/element.h"

namespace palladion {
namespace {

absl::Status VerifyRoll(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 2));
  PALLADION_RETURN_IF_ERROR(ExpectData(context, 0));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 1, kInts));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  const Type& x = context.in[0];
  if (context.in[1].rank() != 0) {
    return absl::InvalidArgumentError(Cat("operand 1, the shift, must have rank 0; found ", ToString(context.in[1])));
  }
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t axis, IntAttr(op, "axis"));
  PALLADION_RETURN_IF_ERROR(ExpectAxis(axis, x.rank(), "attribute 'axis'"));
  if (HasAttr(op, "stride") != HasAttr(op, "stride_axis")) {
    return absl::InvalidArgumentError("attributes 'stride' and 'stride_axis' belong together; found one of them");
  }
  if (HasAttr(op, "stride")) {
    PALLADION_ASSIGN_OR_RETURN(const std::int64_t stride, IntAttr(op, "stride"));
    PALLADION_ASSIGN_OR_RETURN(const std::int64_t stride_axis, IntAttr(op, "stride_axis"));
    PALLADION_RETURN_IF_ERROR(ExpectAxis(stride_axis, x.rank(), "attribute 'stride_axis'"));
    if (stride < 0 || stride > INT32_MAX || stride_axis == axis) {
      return absl::InvalidArgumentError(
          Cat("attribute 'stride' must lie in [0, 2^31) and 'stride_axis' must not be "
              "'axis'; found stride ",
              stride, ", stride_axis ", stride_axis));
    }
  }
  return ExpectType(op, 0, x);
}

// Rows along `axis` of [outer, length, inner]. Slices along the stride axis are numbered by (row / unit) % slices,
// where a row is one of outer · inner.
struct RollParams {
  DType shift_dtype;
  std::int64_t bytes;
  std::int64_t outer, length, inner;
  bool strides_outer;  // the stride axis lies before the rolled one
  std::int64_t unit, slices, stride;
};

// Neighbouring rows that are rolled together: elements of inner · length with a fixed shift.
struct RolledRows {
  std::int64_t first, count, shift;
};

void RollRun(const RollParams& p, const std::byte* x, std::byte* out, const RolledRows& rows) {
  const auto [first, count, shift] = rows;
  const std::int64_t row = p.inner * p.bytes;
  const auto run = static_cast<std::size_t>(count * p.bytes);
  if (count == p.inner) {  // whole rows: two blocks change places
    const auto head = static_cast<std::size_t>((p.length - shift) * row);
    std::memcpy(out + shift * row, x, head);
    std::memcpy(out, x + head, static_cast<std::size_t>(shift * row));
    return;
  }
  for (std::int64_t i = 0; i < p.length; ++i) {
    const std::int64_t to = i + shift < p.length ? i + shift : i + shift - p.length;
    std::memcpy(out + to * row + first * p.bytes, x + i * row + first * p.bytes, run);
  }
}

void EvalRoll(const RollParams& p, const ValueOperands& operands) {
  if (p.outer == 0 || p.length == 0 || p.inner == 0) return;
  const std::int64_t shift = IntegerAt(operands.in[1], p.shift_dtype, 0) % p.length;
  const auto shift_of = [&](std::int64_t row) {
    const std::int64_t turned = (shift + row / p.unit % p.slices * p.stride) % p.length;
    return turned < 0 ? turned + p.length : turned;
  };
  for (std::int64_t o = 0; o < p.outer; ++o) {
    const std::int64_t offset = o * p.length * p.inner * p.bytes;
    const std::byte* x = operands.in[0] + offset;
    std::byte* out = operands.out[0] + offset;
    if (p.strides_outer) {
      RollRun(p, x, out, {0, p.inner, shift_of(o)});
      continue;
    }
    for (std::int64_t i = 0; i < p.inner; i += p.unit) RollRun(p, x, out, {i, p.unit, shift_of(i)});
  }
}

absl::StatusOr<ValueKernel> PrepareRoll(const Instr& op, const ValueTypes& types) {
  const Type& x = types.in[0];
  const std::int64_t axis = Int(op, "axis");
  const std::int64_t stride_axis = IntAttrOr(op, "stride_axis", -1);
  RollParams p{.shift_dtype = types.in[1].dtype,
               .bytes = SizeOfElement(x).value(),
               .outer = 1,
               .length = 1,
               .inner = 1,
               .strides_outer = stride_axis < axis,
               .unit = 1,
               .slices = 1,
               .stride = IntAttrOr(op, "stride", 0)};
  for (int d = 0; d < x.rank(); ++d) {
    const std::int64_t size = x.shape[static_cast<std::size_t>(d)];
    (d < axis ? p.outer : d == axis ? p.length : p.inner) *= size;
    if (d == stride_axis) p.slices = size;
    // Rows between neighbours along the stride axis, on its side of the rolled one.
    if (stride_axis >= 0 && d > stride_axis && (d < axis) == p.strides_outer && d != axis) p.unit *= size;
  }
  if (p.length > 0) p.stride %= p.length;  // slices · stride then stays below the number of elements
  return Bind<EvalRoll>(p);
}

absl::Status VerifyStochasticRound(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 2));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 0, kFloats));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 1, kInts));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  const Type& x = context.in[0];
  const Type& random = context.in[1];
  if (x.dtype != DType::kF32 || random.dtype != DType::kU32 || random.shape != x.shape) {
    return absl::InvalidArgumentError(
        Cat("operands must be f32 and u32 of one shape; found ", ToString(x), " and ", ToString(random)));
  }
  PALLADION_ASSIGN_OR_RETURN(const DType to, DTypeAttr(op, "to"));
  if (to != DType::kBF16 && to != DType::kF8E5M2 && to != DType::kF8E4M3FN && to != DType::kF8E4M3B11FNUZ) {
    return absl::InvalidArgumentError(
        Cat("attribute 'to' must be bf16, f8e5m2, f8e4m3fn or f8e4m3b11fnuz; found ", Name(to)));
  }
  return ExpectType(op, 0, ArrayType(to, x.shape));
}

// |x| = whole·2^quantum + a fraction of `dropped` bits. Those bits and as many random ones are added; a carry rounds
// up. Of more than 32 dropped bits the highest 32 count.
template <DType D>
double RoundedByChance(float x, std::uint32_t random) {
  if (x == 0 || !std::isfinite(x)) return static_cast<double>(x);
  constexpr FloatFormat kFormat = element_internal::FormatOf(D);
  constexpr int kLowestBit = -149;  // of a f32
  const double magnitude = std::fabs(static_cast<double>(x));
  const int exponent = std::ilogb(magnitude);
  const int quantum = std::max(exponent, 1 - kFormat.bias) - kFormat.mantissa_bits;
  const int dropped = std::min(quantum - std::max(exponent - 23, kLowestBit), 32);
  const double scaled = std::ldexp(magnitude, -quantum);
  const double whole = std::floor(scaled);
  const auto fraction = static_cast<std::uint64_t>(std::ldexp(scaled - whole, dropped));
  const std::uint64_t chance = random & ((std::uint64_t{1} << dropped) - 1);
  const double rounded = fraction + chance >= std::uint64_t{1} << dropped ? whole + 1 : whole;
  return std::copysign(std::ldexp(rounded, quantum), static_cast<double>(x));
}

struct StochasticParams {
  std::size_t n;
};
template <DType D>
void EvalStochasticRound(const StochasticParams& p, const ValueOperands& operands) {
  const auto* x = reinterpret_cast<const float*>(operands.in[0]);
  const auto* random = reinterpret_cast<const std::uint32_t*>(operands.in[1]);
  auto* out = reinterpret_cast<StorageOf<D>*>(operands.out[0]);
  for (std::size_t i = 0; i < p.n; ++i) out[i] = Element<D>::FromDouble(RoundedByChance<D>(x[i], random[i]));
}

absl::StatusOr<ValueKernel> PrepareStochasticRound(const Instr&, const ValueTypes& types) {
  const StochasticParams params{.n = Elements(types.out[0])};
  switch (types.out[0].dtype) {
    case DType::kBF16:
      return Bind<EvalStochasticRound<DType::kBF16>>(params);
    case DType::kF8E5M2:
      return Bind<EvalStochasticRound<DType::kF8E5M2>>(params);
    case DType::kF8E4M3FN:
      return Bind<EvalStochasticRound<DType::kF8E4M3FN>>(params);
    default:
      return Bind<EvalStochasticRound<DType::kF8E4M3B11FNUZ>>(params);
  }
}

constexpr OpRow Row(std::string_view name, std::string_view spec, VerifyFn verify, PrepareFn prepare, Flow flow) {
  return {.dialect = "tpu",
          .name = name,
          .spec = spec,
          .verify = verify,
          .prepare = prepare,
          .flow = flow,
          .backends = kTpu};
}

constexpr OpRow Moving(OpRow row, std::uint8_t operands) {
  row.moved = operands;
  return row;
}

constexpr OpRow kTpuOps[] = {
    Moving(Row("roll", "tpu.md#tpu.roll", VerifyRoll, PrepareRoll, Flow::kMove), 1),
    Row("stochastic_round", "tpu.md#tpu.stochastic_round", VerifyStochasticRound, PrepareStochasticRound,
        Flow::kElementwise),
};

}  // namespace

absl::Span<const OpRow> TpuOps() { return kTpuOps; }

}  // namespace palladion
