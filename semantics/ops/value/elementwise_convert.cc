// Conversions: by value (convert_element_type) and by bits (bitcast_convert_type). The loops by value are in
// semantics/tensor/convert.h, whose rules are the specification's.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/value/elementwise_common.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/inspect.h"
#include "semantics/tensor/convert.h"

namespace palladion {
namespace {

absl::Status VerifyConvert(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 0, kAnyKind));
  PALLADION_ASSIGN_OR_RETURN(const DType to, DTypeAttr(op, "to"));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  return ExpectType(op, 0, ArrayType(to, context.in[0].shape));
}

struct ConvertParams {
  ConvertFn fn;
  std::size_t n;
};
void EvalConvert(const ConvertParams& p, const ValueOperands& operands) { p.fn(operands.in[0], operands.out[0], p.n); }

// GPUs have but one conversion to 8-bit floats, cvt.rn.satfinite: what is beyond the largest number is that number,
// infinities too, and a NaN loses its sign. Both backends of Pallas use it (conformance/hardware has it recorded).
struct SaturateParams {
  ConvertFn fn;
  ConvertFn widen;  // to f32, to know a NaN of the source
  std::size_t n;
  std::size_t source_bytes;
  std::uint8_t beyond;  // the code of what fn makes of numbers that are too large, without sign
};
constexpr std::uint8_t kNaNCode = 0x7f;
constexpr std::uint8_t kSignBit = 0x80;

void EvalSaturate(const SaturateParams& p, const ValueOperands& operands) {
  constexpr std::size_t kStrip = 256;
  float wide[kStrip];
  for (std::size_t at = 0; at < p.n; at += kStrip) {
    const std::size_t count = std::min(kStrip, p.n - at);
    const std::byte* const in = operands.in[0] + at * p.source_bytes;
    auto* const out = reinterpret_cast<std::uint8_t*>(operands.out[0] + at);
    p.fn(in, out, count);
    p.widen(in, wide, count);
    for (std::size_t i = 0; i < count; ++i) {
      if (std::isnan(wide[i])) {
        out[i] = kNaNCode;
      } else if ((out[i] & ~kSignBit) == p.beyond) {
        --out[i];  // the code below is the largest number's
      }
    }
  }
}

bool Saturates(const ValueTypes& types) {
  const DType to = types.out[0].dtype;
  const TargetBackend backend = types.target.backend;
  return (backend == TargetBackend::kTriton || backend == TargetBackend::kMosaicGpu) && IsFloat(types.in[0].dtype) &&
         (to == DType::kF8E4M3FN || to == DType::kF8E5M2);
}

absl::StatusOr<ValueKernel> PrepareConvert(const Instr&, const ValueTypes& types) {
  const DType from = types.in[0].dtype;
  const DType to = types.out[0].dtype;
  if (Saturates(types) && from != to) {
    constexpr std::uint8_t kInfinityCode = 0x7c;  // of f8e5m2; f8e4m3fn has none and fn gives NaN
    return BindElementwise<EvalSaturate>(SaturateParams{.fn = FindConvert(from, to),
                                                        .widen = FindConvert(from, DType::kF32),
                                                        .n = Elements(types.out[0]),
                                                        .source_bytes = StorageBytes(from),
                                                        .beyond = to == DType::kF8E5M2 ? kInfinityCode : kNaNCode});
  }
  ConvertFn fn = simd::FindConvertSimd(from, to, LoopFor(types));
  return BindElementwise<EvalConvert>(
      ConvertParams{.fn = fn != nullptr ? fn : FindConvert(from, to), .n = Elements(types.out[0])});
}

// Narrower: a new minor dimension holds the pieces, lowest bits first. Wider: the minor dimension is exactly the
// pieces.
absl::Status VerifyBitcast(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 0, kAnyKind));
  PALLADION_ASSIGN_OR_RETURN(const DType to, DTypeAttr(op, "to"));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  const Type& x = context.in[0];
  if (IsBool(x.dtype) != IsBool(to)) {
    return absl::InvalidArgumentError(Cat("bool has no bits to reinterpret; found ", ToString(x), " to ", Name(to)));
  }
  const int old_bits = Info(x.dtype).bits;
  const int new_bits = Info(to).bits;
  Shape shape = x.shape;
  if (old_bits > new_bits && old_bits % new_bits == 0) {
    shape.push_back(old_bits / new_bits);
  } else if (old_bits < new_bits && !shape.empty() && shape.back() * old_bits == new_bits) {
    shape.pop_back();
  } else if (old_bits != new_bits) {
    return absl::InvalidArgumentError(Cat("the bits must fill the new type: ", ToString(x), " has minor elements of ",
                                          old_bits, " bits, ", Name(to), " has ", new_bits));
  }
  return ExpectType(op, 0, ArrayType(to, std::move(shape)));
}

struct CopyBytesParams {
  std::size_t bytes;
};
void EvalCopyBytes(const CopyBytesParams& p, const ValueOperands& operands) {
  if (p.bytes != 0) std::memcpy(operands.out[0], operands.in[0], p.bytes);
}

// Types narrower than a byte: the elements as one stream of bits, lowest first, each in a byte of its own in memory.
struct BitStreamParams {
  int from_bits;
  int to_bits;
  bool sign_extend;  // signed integers are stored sign-extended
  std::size_t to_elements;
};

std::uint8_t Piece(const BitStreamParams& p, std::uint64_t bits) {
  const std::uint64_t mask = (std::uint64_t{1} << p.to_bits) - 1;
  const std::uint64_t piece = bits & mask;
  const bool negative = p.sign_extend && (piece >> (p.to_bits - 1)) != 0;
  return static_cast<std::uint8_t>(negative ? piece | ~mask : piece);
}

// from_bits is a multiple of to_bits, which is at most 8.
void EvalNarrowBits(const BitStreamParams& p, const ValueOperands& operands) {
  const auto pieces = static_cast<std::size_t>(p.from_bits / p.to_bits);
  const std::size_t bytes = (static_cast<std::size_t>(p.from_bits) + 7) / 8;
  for (std::size_t i = 0; i < p.to_elements; ++i) {
    std::uint64_t element = 0;
    std::memcpy(&element, operands.in[0] + i / pieces * bytes, bytes);
    const auto shift = static_cast<int>(i % pieces) * p.to_bits;
    operands.out[0][i] = static_cast<std::byte>(Piece(p, element >> shift));
  }
}

// to_bits is a multiple of from_bits, which is at most 8, and of 8.
void EvalWidenBits(const BitStreamParams& p, const ValueOperands& operands) {
  const auto pieces = static_cast<std::size_t>(p.to_bits / p.from_bits);
  const std::size_t bytes = (static_cast<std::size_t>(p.to_bits) + 7) / 8;
  const std::uint64_t mask = (std::uint64_t{1} << p.from_bits) - 1;
  for (std::size_t i = 0; i < p.to_elements; ++i) {
    std::uint64_t element = 0;
    for (std::size_t j = 0; j < pieces; ++j) {
      element |= (std::to_integer<std::uint64_t>(operands.in[0][i * pieces + j]) & mask) << (j * p.from_bits);
    }
    if (p.to_bits < 8) element = Piece(p, element);
    std::memcpy(operands.out[0] + i * bytes, &element, bytes);
  }
}

absl::StatusOr<ValueKernel> PrepareBitcast(const Instr&, const ValueTypes& types) {
  const int from_bits = Info(types.in[0].dtype).bits;
  const int to_bits = Info(types.out[0].dtype).bits;
  if (IsBool(types.in[0].dtype) || (from_bits >= 8 && to_bits >= 8)) {
    return Bind<EvalCopyBytes>(CopyBytesParams{.bytes = Bytes(types.in[0])});
  }
  const BitStreamParams params{.from_bits = from_bits,
                               .to_bits = to_bits,
                               .sign_extend = IsSigned(types.out[0].dtype),
                               .to_elements = Elements(types.out[0])};
  return from_bits >= to_bits ? Bind<EvalNarrowBits>(params) : Bind<EvalWidenBits>(params);
}

constexpr OpRow kConvertOps[] = {
    {.name = "convert_element_type",
     .spec = "elementwise.md#convert_element_type",
     .verify = VerifyConvert,
     .prepare = PrepareConvert,
     .inspect = InspectConversion,
     .flow = Flow::kConvert,
     .in_ring = InRing::kIntoFloats},
    {.name = "bitcast_convert_type",
     .spec = "elementwise.md#bitcast_convert_type",
     .verify = VerifyBitcast,
     .prepare = PrepareBitcast,
     .flow = Flow::kParts,
     .in_ring = InRing::kHash},
};

}  // namespace

absl::Span<const OpRow> ConvertOps() { return kConvertOps; }

}  // namespace palladion
