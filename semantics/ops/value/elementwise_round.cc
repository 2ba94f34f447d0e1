// Operations that choose another number of the same float type: floor, ceil, round, nextafter, reduce_precision.
// Based on: IEEE 754 and XLA's ReducePrecision and NextAfter on CPU; unlike there, subnormals are never flushed first.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/value/elementwise_common.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

using simd::UnaryOp;

constexpr std::int64_t kAwayFromZero = 0;
constexpr std::int64_t kToEven = 1;

absl::Status VerifyRound(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(VerifySameType(op, context, 1, kFloats));
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t method, IntAttr(op, "rounding_method"));
  if (method == kAwayFromZero || method == kToEven) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("attribute 'rounding_method' must be 0 (halves away from zero) or 1 (halves to even); found ", method));
}

absl::StatusOr<ValueKernel> PrepareRound(const Instr& op, const ValueTypes& types) {
  const UnaryOp round = Int(op, "rounding_method") == kToEven ? UnaryOp::kRoundHalfEven : UnaryOp::kRoundHalfAway;
  return UnaryKernel(op, types, simd::FindUnary(round, types.in[0].dtype));
}

// The bits of an IEEE type: sign, exponent, mantissa from the top.
template <class WordT, int kExponentBitsT, int kMantissaBitsT>
struct IeeeBits {
  using Word = WordT;
  static constexpr int kExponentBits = kExponentBitsT;
  static constexpr int kMantissaBits = kMantissaBitsT;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr Word kSign = static_cast<Word>(Word{1} << (kExponentBits + kMantissaBits));
  static constexpr Word kInf = static_cast<Word>(((Word{1} << kExponentBits) - 1) << kMantissaBits);
  static constexpr Word kQuietNaN = static_cast<Word>(kInf | (Word{1} << (kMantissaBits - 1)));
  static constexpr Word Magnitude(Word x) { return static_cast<Word>(x & ~kSign); }
  static constexpr bool IsNaN(Word x) { return Magnitude(x) > kInf; }
};
using F16Bits = IeeeBits<std::uint16_t, 5, 10>;
using BF16Bits = IeeeBits<std::uint16_t, 8, 7>;
using F32Bits = IeeeBits<std::uint32_t, 8, 23>;
using F64Bits = IeeeBits<std::uint64_t, 11, 52>;

// Magnitudes are ordered like their codes, so the neighbour is the next code up or down.
template <class Bits>
typename Bits::Word NextAfter(typename Bits::Word x, typename Bits::Word y) {
  using Word = typename Bits::Word;
  if (Bits::IsNaN(x) || Bits::IsNaN(y)) return Bits::kQuietNaN;
  const Word x_magnitude = Bits::Magnitude(x);
  const Word y_magnitude = Bits::Magnitude(y);
  if (x == y || (x_magnitude == 0 && y_magnitude == 0)) return y;
  if (x_magnitude == 0) return static_cast<Word>((y & Bits::kSign) | 1);
  const bool inward = ((x ^ y) & Bits::kSign) != 0 || x_magnitude > y_magnitude;
  return static_cast<Word>(inward ? x - 1 : x + 1);
}

struct NextAfterParams {
  std::size_t n;
  std::size_t x_step;  // 0: one element for all
  std::size_t y_step;
};
template <class Bits>
void EvalNextAfter(const NextAfterParams& p, const ValueOperands& operands) {
  using Word = typename Bits::Word;
  const auto* x = reinterpret_cast<const Word*>(operands.in[0]);
  const auto* y = reinterpret_cast<const Word*>(operands.in[1]);
  auto* out = reinterpret_cast<Word*>(operands.out[0]);
  for (std::size_t i = 0; i < p.n; ++i) out[i] = NextAfter<Bits>(x[i * p.x_step], y[i * p.y_step]);
}

absl::StatusOr<ValueKernel> PrepareNextAfter(const Instr& op, const ValueTypes& types) {
  const NextAfterParams params{.n = Elements(types.out[0]),
                               .x_step = IsBroadcast(types, 0) ? 0u : 1u,
                               .y_step = IsBroadcast(types, 1) ? 0u : 1u};
  switch (types.in[0].dtype) {
    case DType::kF16:
      return Bind<EvalNextAfter<F16Bits>>(params);
    case DType::kBF16:
      return Bind<EvalNextAfter<BF16Bits>>(params);
    case DType::kF32:
      return Bind<EvalNextAfter<F32Bits>>(params);
    case DType::kF64:
      return Bind<EvalNextAfter<F64Bits>>(params);
    default:
      return NoKernel(op, types.in[0].dtype);
  }
}

constexpr std::int64_t kMaxExponentBits = 11;
constexpr std::int64_t kMaxMantissaBits = 52;

absl::Status VerifyReducePrecision(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(VerifySameType(op, context, 1, kFloats));
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t exponent_bits, IntAttr(op, "exponent_bits"));
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t mantissa_bits, IntAttr(op, "mantissa_bits"));
  if (exponent_bits < 1 || mantissa_bits < 0) {
    return absl::InvalidArgumentError(
        Cat("expected at least 1 exponent bit and 0 mantissa bits; found ", exponent_bits, " and ", mantissa_bits));
  }
  return absl::OkStatus();
}

struct ReducePrecisionParams {
  std::size_t n;
  int exponent_bits;
  int mantissa_bits;
};

// Rounds the mantissa to nearest even on the bits; a carry runs into the exponent as it should. What is then outside
// the narrower exponent's normal range becomes infinity or zero: the narrow type is taken to have no subnormals.
template <class Bits>
typename Bits::Word ReducePrecision(typename Bits::Word x, int exponent_bits, int mantissa_bits) {
  using Word = typename Bits::Word;
  if (Bits::IsNaN(x)) return Bits::kQuietNaN;
  Word magnitude = Bits::Magnitude(x);
  const Word sign = x & Bits::kSign;
  if (mantissa_bits < Bits::kMantissaBits) {
    const int dropped = Bits::kMantissaBits - mantissa_bits;
    const Word half = static_cast<Word>(Word{1} << (dropped - 1));
    const Word odd = static_cast<Word>((magnitude >> dropped) & 1);
    magnitude = static_cast<Word>((magnitude + (half - 1) + odd) >> dropped << dropped);
  }
  if (exponent_bits < Bits::kExponentBits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = static_cast<int>(magnitude >> Bits::kMantissaBits);
    if (exponent > Bits::kBias + bias) magnitude = Bits::kInf;
    if (exponent <= Bits::kBias - bias) magnitude = 0;
  }
  return static_cast<Word>(sign | magnitude);
}

template <class Bits>
void EvalReducePrecision(const ReducePrecisionParams& p, const ValueOperands& operands) {
  using Word = typename Bits::Word;
  const auto* x = reinterpret_cast<const Word*>(operands.in[0]);
  auto* out = reinterpret_cast<Word*>(operands.out[0]);
  for (std::size_t i = 0; i < p.n; ++i) out[i] = ReducePrecision<Bits>(x[i], p.exponent_bits, p.mantissa_bits);
}

absl::StatusOr<ValueKernel> PrepareReducePrecision(const Instr& op, const ValueTypes& types) {
  const ReducePrecisionParams params{
      .n = Elements(types.out[0]),
      .exponent_bits = static_cast<int>(std::min(Int(op, "exponent_bits"), kMaxExponentBits)),
      .mantissa_bits = static_cast<int>(std::min(Int(op, "mantissa_bits"), kMaxMantissaBits))};
  switch (types.in[0].dtype) {
    case DType::kF16:
      return Bind<EvalReducePrecision<F16Bits>>(params);
    case DType::kBF16:
      return Bind<EvalReducePrecision<BF16Bits>>(params);
    case DType::kF32:
      return Bind<EvalReducePrecision<F32Bits>>(params);
    case DType::kF64:
      return Bind<EvalReducePrecision<F64Bits>>(params);
    default:
      return NoKernel(op, types.in[0].dtype);
  }
}

constexpr OpRow kRoundingOps[] = {
    {.name = "floor",
     .spec = "elementwise.md#floor",
     .verify = VerifyFloats<1>,
     .prepare = PrepareUnary<UnaryOp::kFloor>,
     .flow = Flow::kElementwise,
     .backends = kTpuTriton},
    {.name = "ceil",
     .spec = "elementwise.md#ceil",
     .verify = VerifyFloats<1>,
     .prepare = PrepareUnary<UnaryOp::kCeil>,
     .flow = Flow::kElementwise,
     .backends = kTpuTriton},
    {.name = "round",
     .spec = "elementwise.md#round",
     .verify = VerifyRound,
     .prepare = PrepareRound,
     .flow = Flow::kElementwise,
     .backends = kTpuGpu},
    {.name = "nextafter",
     .spec = "elementwise.md#nextafter",
     .verify = VerifyFloats<2>,
     .prepare = PrepareNextAfter,
     .flow = Flow::kElementwise,
     .backends = kTpuTriton},
    {.name = "reduce_precision",
     .spec = "elementwise.md#reduce_precision",
     .verify = VerifyReducePrecision,
     .prepare = PrepareReducePrecision,
     .flow = Flow::kElementwise,
     .backends = kNoBackend,
     .later = kTpu},
};

}  // namespace

absl::Span<const OpRow> RoundingOps() { return kRoundingOps; }

}  // namespace palladion
