// The bit layouts of the float types of 16 bits and fewer, decoding by definition, and the one correct rounding to
// them. Based on: IEEE 754, ml_dtypes 0.5 and JAX 0.10 (run side by side), OCP Microscaling Formats v1.0. Element<D> in
// element.h is what users of a type call; this is what it is made of.
#ifndef PALLADION_SEMANTICS_TENSOR_FLOAT_FORMAT_H_
#define PALLADION_SEMANTICS_TENSOR_FLOAT_FORMAT_H_

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "semantics/base/dtype.h"

namespace palladion {

// How a binary float type spends its codes. A code is sign, exponent, mantissa from the top; the float's value is
// 2^(exponent-bias) * 1.mantissa, and exponent 0 holds the subnormals.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  std::uint32_t max_finite;  // the largest finite magnitude's code
  std::uint32_t overflow;    // code of a positive value that rounds past max_finite: Inf, NaN or max_finite
  std::uint32_t nan;         // the quiet NaN; where the type has none, the code a NaN converts to
  std::uint32_t negative_nan;
  bool has_nan;
  bool unsigned_zero;  // the "uz" types: code 1000.. is the NaN, overflow of either sign goes there, -0 becomes +0
};

namespace element_internal {

// OCP e2m1, e2m3 and e3m2 have neither Inf nor NaN: overflow saturates, NaN becomes a zero. Which zero: JAX gives -0
// for either sign of an e2m1 NaN, ml_dtypes gives -0 for +NaN and +0 for -NaN; e2m1 follows JAX, and the six-bit types,
// which XLA's CPU backend does not have, follow ml_dtypes.
constexpr FloatFormat FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return {5, 10, 15, 0x7bff, 0x7c00, 0x7e00, 0xfe00, true, false};
    case DType::kBF16:
      return {8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, 0xffc0, true, false};
    case DType::kF8E3M4:
      return {3, 4, 3, 0x6f, 0x70, 0x78, 0xf8, true, false};
    case DType::kF8E4M3:
      return {4, 3, 7, 0x77, 0x78, 0x7c, 0xfc, true, false};
    case DType::kF8E4M3FN:
      return {4, 3, 7, 0x7e, 0x7f, 0x7f, 0xff, true, false};
    case DType::kF8E4M3B11FNUZ:
      return {4, 3, 11, 0x7f, 0x80, 0x80, 0x80, true, true};
    case DType::kF8E4M3FNUZ:
      return {4, 3, 8, 0x7f, 0x80, 0x80, 0x80, true, true};
    case DType::kF8E5M2:
      return {5, 2, 15, 0x7b, 0x7c, 0x7e, 0xfe, true, false};
    case DType::kF8E5M2FNUZ:
      return {5, 2, 16, 0x7f, 0x80, 0x80, 0x80, true, true};
    case DType::kF6E2M3FN:
      return {2, 3, 1, 0x1f, 0x1f, 0x20, 0x00, false, false};
    case DType::kF6E3M2FN:
      return {3, 2, 3, 0x1f, 0x1f, 0x20, 0x00, false, false};
    case DType::kF4E2M1FN:
      return {2, 1, 1, 0x07, 0x07, 0x08, 0x08, false, false};
    default:
      return {};
  }
}

constexpr double Pow2(int exponent) {  // normal doubles only
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// Code -> double by the definition of the format; the fast paths below are tables of this or bit arithmetic.
constexpr double Decode(const FloatFormat& f, std::uint32_t code) {
  const std::uint32_t sign_bit = 1u << (f.exponent_bits + f.mantissa_bits);
  const std::uint32_t magnitude = code & (sign_bit - 1);
  const bool negative = (code & sign_bit) != 0;
  const double nan = std::bit_cast<double>(std::uint64_t{0x7ff8000000000000});
  if (f.unsigned_zero && negative && magnitude == 0) return nan;
  double value = 0;
  if (magnitude > f.max_finite) {
    const bool is_inf = f.overflow != f.nan && magnitude == f.overflow;
    value = is_inf ? std::numeric_limits<double>::infinity() : nan;
  } else {
    const std::uint32_t mantissa = magnitude & ((1u << f.mantissa_bits) - 1);
    const int exponent = static_cast<int>(magnitude >> f.mantissa_bits);
    const std::uint32_t significand = exponent == 0 ? mantissa : mantissa | (1u << f.mantissa_bits);
    value = significand * Pow2((exponent == 0 ? 1 : exponent) - f.bias - f.mantissa_bits);
  }
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | (std::uint64_t{negative} << 63));
}

// IEEE binary32 or binary64, the two types values are rounded from.
template <typename Real>
struct RealBits {
  using Word = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  static constexpr int kMantissaBits = sizeof(Real) == 4 ? 23 : 52;
  static constexpr int kBias = sizeof(Real) == 4 ? 127 : 1023;
  static constexpr Word kSign = Word{1} << (8 * sizeof(Real) - 1);
  static constexpr Word kInf = Word{2 * kBias + 1} << kMantissaBits;
  static constexpr Word kQuietNaN = kInf | (Word{1} << (kMantissaBits - 1));
  static constexpr Word Of(Real value) { return std::bit_cast<Word>(value); }
  static constexpr Real Pow2(int exponent) {
    return std::bit_cast<Real>(static_cast<Word>(exponent + kBias) << kMantissaBits);
  }
};

enum class NaNSign { kDrop, kKeep };  // arithmetic yields the one quiet NaN; a conversion keeps the sign

// One rounding, to nearest even, of any float or double. A result in the subnormal range is rounded by adding the
// number whose ulp is the format's smallest step; a normal one by adding half a step less one, plus the low kept bit,
// to the bits.
template <DType D, NaNSign kNaNSign, typename Real>
constexpr std::uint32_t Encode(Real value) {
  using Bits = RealBits<Real>;
  using Word = typename Bits::Word;
  constexpr FloatFormat f = FormatOf(D);
  constexpr int kShift = Bits::kMantissaBits - f.mantissa_bits;
  constexpr int kSignShift = static_cast<int>(8 * sizeof(Real)) - 1 - (f.exponent_bits + f.mantissa_bits);
  constexpr Real kMagic = Bits::Pow2(1 - f.bias - f.mantissa_bits + Bits::kMantissaBits);
  constexpr Word kMinNormal = static_cast<Word>(Bits::kBias + 1 - f.bias) << Bits::kMantissaBits;
  constexpr Word kRebias = static_cast<Word>(Bits::kBias - f.bias) << f.mantissa_bits;

  const Word bits = Bits::Of(value);
  const Word magnitude = bits & ~Bits::kSign;
  const auto sign = static_cast<std::uint32_t>((bits & Bits::kSign) >> kSignShift);
  const Word normal = ((magnitude + ((Word{1} << (kShift - 1)) - 1) + ((magnitude >> kShift) & 1)) >> kShift) - kRebias;
  const Word subnormal = Bits::Of(std::bit_cast<Real>(magnitude) + kMagic) - Bits::Of(kMagic);
  const Word rounded = magnitude < kMinNormal ? subnormal : normal;
  std::uint32_t code = rounded > f.max_finite ? f.overflow : static_cast<std::uint32_t>(rounded);
  if constexpr (f.unsigned_zero) {
    code = code == 0 ? 0 : code | sign;
  } else {
    code |= sign;
  }
  const std::uint32_t nan = kNaNSign == NaNSign::kKeep && sign != 0 ? f.negative_nan : f.nan;
  return magnitude > Bits::kInf ? nan : code;
}

// The eight-bit scale type has exponents only: code c is 2^(c-127), 0xff is NaN, and there is no zero and no sign.
// Halfway goes up (1.5 -> 2, 3 -> 4), as ml_dtypes and XLA do it; between 2^-127 and 2^-126 everything goes up, because
// they round the bits of a subnormal float32 there; positive values below 2^-127 give code 0. Zero, negative values,
// Inf and NaN give NaN.
constexpr std::uint8_t EncodeE8M0(double value) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  constexpr std::uint64_t kBottom = std::uint64_t{1023 - 127} << 52;
  if (bits == 0 || bits >= RealBits<double>::kInf) return 0xff;
  if (bits <= kBottom) return 0;
  if (bits < kBottom + (std::uint64_t{1} << 52)) return 1;
  const std::uint64_t rounded = ((bits + (std::uint64_t{1} << 51)) >> 52) - (1023 - 127);
  return rounded > 0xfe ? 0xff : static_cast<std::uint8_t>(rounded);
}

template <DType D>
constexpr std::array<double, 256> MakeDecodeTable() {
  std::array<double, 256> table{};
  constexpr int kBits = D == DType::kF4E2M1FN ? 4 : D == DType::kF6E2M3FN || D == DType::kF6E3M2FN ? 6 : 8;
  for (std::uint32_t code = 0; code < 256; ++code) {
    // Bits above the type's own are ignored, so that no byte a program can store indexes outside the table.
    table[code] = Decode(FormatOf(D), code & ((1u << kBits) - 1));
  }
  return table;
}
template <DType D>
inline constexpr std::array<double, 256> kDecodeTable = MakeDecodeTable<D>();

}  // namespace element_internal
}  // namespace palladion

#endif  // PALLADION_SEMANTICS_TENSOR_FLOAT_FORMAT_H_
