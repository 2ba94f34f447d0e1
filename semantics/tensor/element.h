// What one element of each type is: its storage, its exact value as a double, and the one rounding from a double to it.
// Every operation loop is written against these traits. Based on: IEEE 754, ml_dtypes 0.5 and JAX 0.10 on CPU (both
// were run; the golden hashes of conformance/golden/dtypes.txt hold the answers), OCP Microscaling Formats v1.0. NaN
// payloads are not carried: a NaN that is computed or converted is the type's one quiet NaN. Needs round-to-nearest and
// gradual underflow in the caller's floating-point environment.
#ifndef PALLADION_SEMANTICS_TENSOR_ELEMENT_H_
#define PALLADION_SEMANTICS_TENSOR_ELEMENT_H_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "semantics/base/dtype.h"
#include "semantics/tensor/float_format.h"
#include "semantics/tensor/visit_dtype.h"  // IWYU pragma: export

namespace palladion {

namespace element_internal {

template <int kBits>
constexpr std::int8_t SignExtend(std::uint32_t bits) {
  constexpr std::uint32_t kSign = 1u << (kBits - 1);
  bits &= (1u << kBits) - 1;
  return static_cast<std::int8_t>(static_cast<int>(bits ^ kSign) - static_cast<int>(kSign));
}

}  // namespace element_internal

// Storage      the C++ type that holds one element in memory
// kQuietNaN    floats: the storage of the one NaN arithmetic yields, or what stands in for it where kHasNaN is false
// ToDouble     the value; exact except for 64-bit integers beyond 2^53, which round to nearest even
// FromDouble   floats: one rounding to nearest even; overflow as FloatFormat says; any NaN gives kQuietNaN
//              integers: truncation toward zero; out of range saturates; NaN gives 0. bool: x != 0
// Wrap         integers: the low bits of a 64-bit result, sign- or zero-extended, as two's complement leaves them
template <DType D>
struct Element;

template <typename T, int kBitsT>
struct IntegerElement {
  using Storage = T;
  using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  static constexpr int kBits = kBitsT;
  static constexpr bool kIsFloat = false;
  static constexpr T kMin = std::is_signed_v<T> ? static_cast<T>(-(Wide{1} << (kBits - 2)) * 2) : T{0};
  static constexpr T kMax =
      static_cast<T>(std::is_signed_v<T> ? (Wide{1} << (kBits - 2)) - 1 + (Wide{1} << (kBits - 2))
                                         : (Wide{1} << (kBits - 1)) - 1 + (Wide{1} << (kBits - 1)));
  static constexpr double ToDouble(T value) { return static_cast<double>(value); }
  static constexpr T FromDouble(double value) {
    // 2^bits of the range, exactly representable: the first value that is too large.
    constexpr double kEnd = element_internal::Pow2(std::is_signed_v<T> ? kBits - 1 : kBits);
    constexpr double kBegin = std::is_signed_v<T> ? -kEnd : 0.0;
    if constexpr (kBits <= 32) {  // the limits are doubles themselves: no branch, so loops over this vectorise
      constexpr double kLow = static_cast<double>(kMin);
      constexpr double kHigh = static_cast<double>(kMax);
      const double above = value > kLow ? value : kLow;
      const double clamped = above < kHigh ? above : kHigh;
      return static_cast<T>(value == value ? clamped : 0.0);
    } else {
      if (!(value > kBegin)) return value == value ? kMin : T{0};
      return value >= kEnd ? kMax : static_cast<T>(value);
    }
  }
  static constexpr T Wrap(std::uint64_t value) {
    if constexpr (kBits >= 8) {
      return static_cast<T>(value);
    } else if constexpr (std::is_signed_v<T>) {
      return element_internal::SignExtend<kBits>(static_cast<std::uint32_t>(value & 0xff));
    } else {
      return static_cast<T>(value & ((1u << kBits) - 1));
    }
  }
};

template <>
struct Element<DType::kI2> : IntegerElement<std::int8_t, 2> {};
template <>
struct Element<DType::kI4> : IntegerElement<std::int8_t, 4> {};
template <>
struct Element<DType::kI8> : IntegerElement<std::int8_t, 8> {};
template <>
struct Element<DType::kI16> : IntegerElement<std::int16_t, 16> {};
template <>
struct Element<DType::kI32> : IntegerElement<std::int32_t, 32> {};
template <>
struct Element<DType::kI64> : IntegerElement<std::int64_t, 64> {};
template <>
struct Element<DType::kU2> : IntegerElement<std::uint8_t, 2> {};
template <>
struct Element<DType::kU4> : IntegerElement<std::uint8_t, 4> {};
template <>
struct Element<DType::kU8> : IntegerElement<std::uint8_t, 8> {};
template <>
struct Element<DType::kU16> : IntegerElement<std::uint16_t, 16> {};
template <>
struct Element<DType::kU32> : IntegerElement<std::uint32_t, 32> {};
template <>
struct Element<DType::kU64> : IntegerElement<std::uint64_t, 64> {};

template <>
struct Element<DType::kBool> {
  using Storage = std::uint8_t;  // 0 or 1; any other byte that memory may hold reads as true
  static constexpr int kBits = 1;
  static constexpr bool kIsFloat = false;
  static constexpr double ToDouble(std::uint8_t value) { return value != 0 ? 1.0 : 0.0; }
  static constexpr std::uint8_t FromDouble(double value) { return value != 0 ? 1 : 0; }
};

template <>
struct Element<DType::kF64> {
  using Storage = double;
  static constexpr int kBits = 64;
  static constexpr bool kIsFloat = true;
  static constexpr bool kHasNaN = true;
  static constexpr double kQuietNaN = std::bit_cast<double>(std::uint64_t{0x7ff8000000000000});
  static constexpr double ToDouble(double value) { return value; }
  static constexpr double FromDouble(double value) { return value == value ? value : kQuietNaN; }
};

template <>
struct Element<DType::kF32> {
  using Storage = float;
  static constexpr int kBits = 32;
  static constexpr bool kIsFloat = true;
  static constexpr bool kHasNaN = true;
  static constexpr float kQuietNaN = std::bit_cast<float>(std::uint32_t{0x7fc00000});
  static constexpr double ToDouble(float value) { return static_cast<double>(value); }
  static constexpr float FromDouble(double value) { return value == value ? static_cast<float>(value) : kQuietNaN; }
};

template <>
struct Element<DType::kBF16> {
  using Storage = std::uint16_t;
  static constexpr int kBits = 16;
  static constexpr bool kIsFloat = true;
  static constexpr bool kHasNaN = true;
  static constexpr Storage kQuietNaN = 0x7fc0;
  static constexpr float ToFloat(Storage value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
  }
  static constexpr double ToDouble(Storage value) { return static_cast<double>(ToFloat(value)); }
  static constexpr Storage FromDouble(double value) {
    return static_cast<Storage>(element_internal::Encode<DType::kBF16, element_internal::NaNSign::kDrop>(value));
  }
  static constexpr Storage FromFloat(float value) {
    return static_cast<Storage>(element_internal::Encode<DType::kBF16, element_internal::NaNSign::kDrop>(value));
  }
};

template <>
struct Element<DType::kF16> {
  using Storage = std::uint16_t;
  static constexpr int kBits = 16;
  static constexpr bool kIsFloat = true;
  static constexpr bool kHasNaN = true;
  static constexpr Storage kQuietNaN = 0x7e00;
  // A normal number is rebiased. A subnormal one is put behind the leading one of 2^-14, which is then taken off
  // exactly: no subnormal float ever appears, so no processor is slow here. Inf and NaN get an exponent of all ones.
  static constexpr float ToFloat(Storage value) {
    const std::uint32_t magnitude = static_cast<std::uint32_t>(value & 0x7fffu) << 13;
    const std::uint32_t normal = magnitude + (112u << 23);
    const auto subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude + (113u << 23)) - 0x1p-14f);
    std::uint32_t bits = magnitude < (0x0400u << 13) ? subnormal : normal;
    bits |= magnitude >= (0x7c00u << 13) ? 0x7f800000u : 0u;
    return std::bit_cast<float>(bits | (static_cast<std::uint32_t>(value & 0x8000u) << 16));
  }
  static constexpr double ToDouble(Storage value) { return static_cast<double>(ToFloat(value)); }
  static constexpr Storage FromDouble(double value) {
    return static_cast<Storage>(element_internal::Encode<DType::kF16, element_internal::NaNSign::kDrop>(value));
  }
  static constexpr Storage FromFloat(float value) {
    return static_cast<Storage>(element_internal::Encode<DType::kF16, element_internal::NaNSign::kDrop>(value));
  }
};

template <DType D>
struct NarrowFloatElement {  // eight bits and fewer: one code per byte, the high bits zero
  using Storage = std::uint8_t;
  static constexpr FloatFormat kFormat = element_internal::FormatOf(D);
  static constexpr int kBits = 1 + kFormat.exponent_bits + kFormat.mantissa_bits;
  static constexpr bool kIsFloat = true;
  static constexpr bool kHasNaN = kFormat.has_nan;
  static constexpr Storage kQuietNaN = static_cast<Storage>(kFormat.nan);
  static constexpr double ToDouble(Storage value) { return element_internal::kDecodeTable<D>[value]; }
  static constexpr Storage FromDouble(double value) {
    return static_cast<Storage>(element_internal::Encode<D, element_internal::NaNSign::kDrop>(value));
  }
};

template <>
struct Element<DType::kF8E3M4> : NarrowFloatElement<DType::kF8E3M4> {};
template <>
struct Element<DType::kF8E4M3> : NarrowFloatElement<DType::kF8E4M3> {};
template <>
struct Element<DType::kF8E4M3FN> : NarrowFloatElement<DType::kF8E4M3FN> {};
template <>
struct Element<DType::kF8E4M3B11FNUZ> : NarrowFloatElement<DType::kF8E4M3B11FNUZ> {};
template <>
struct Element<DType::kF8E4M3FNUZ> : NarrowFloatElement<DType::kF8E4M3FNUZ> {};
template <>
struct Element<DType::kF8E5M2> : NarrowFloatElement<DType::kF8E5M2> {};
template <>
struct Element<DType::kF8E5M2FNUZ> : NarrowFloatElement<DType::kF8E5M2FNUZ> {};
template <>
struct Element<DType::kF6E2M3FN> : NarrowFloatElement<DType::kF6E2M3FN> {};
template <>
struct Element<DType::kF6E3M2FN> : NarrowFloatElement<DType::kF6E3M2FN> {};
template <>
struct Element<DType::kF4E2M1FN> : NarrowFloatElement<DType::kF4E2M1FN> {};

template <>
struct Element<DType::kF8E8M0FNU> {
  using Storage = std::uint8_t;
  static constexpr int kBits = 8;
  static constexpr bool kIsFloat = true;
  static constexpr bool kHasNaN = true;
  static constexpr Storage kQuietNaN = 0xff;
  static constexpr double ToDouble(Storage value) {
    return value == 0xff ? std::bit_cast<double>(std::uint64_t{0x7ff8000000000000})
                         : element_internal::Pow2(static_cast<int>(value) - 127);
  }
  static constexpr Storage FromDouble(double value) { return element_internal::EncodeE8M0(value); }
};

template <DType D>
using StorageOf = typename Element<D>::Storage;

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_TENSOR_ELEMENT_H_
