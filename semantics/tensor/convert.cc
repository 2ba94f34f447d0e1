// One loop per pair of types, built from the traits of element.h. Written to vectorise: no calls, and selects in place
// of branches, in every loop that does not read a table.
#include "semantics/tensor/convert.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "semantics/tensor/element.h"

namespace palladion {
namespace {

using element_internal::Encode;
using element_internal::NaNSign;
using element_internal::RealBits;

// Rounds a double or float to the float type D, keeping the sign of a NaN.
template <DType D, typename Real>
constexpr StorageOf<D> Round(Real value) {
  if constexpr (D == DType::kF8E8M0FNU) {
    return Element<D>::FromDouble(static_cast<double>(value));
  } else if constexpr (D == DType::kF32 || D == DType::kF64) {
    using To = StorageOf<D>;
    using ToBits = RealBits<To>;
    using FromBits = RealBits<Real>;
    constexpr int kFromTop = 8 * sizeof(Real) - 1;
    constexpr int kToTop = 8 * sizeof(To) - 1;
    const auto sign = static_cast<typename ToBits::Word>(FromBits::Of(value) >> kFromTop) << kToTop;
    return value == value ? static_cast<To>(value) : std::bit_cast<To>(ToBits::kQuietNaN | sign);
  } else {
    return static_cast<StorageOf<D>>(Encode<D, NaNSign::kKeep>(value));
  }
}

// The value of a float element in the narrowest of float and double that holds it exactly.
template <DType D>
constexpr auto Widen(StorageOf<D> value) {
  if constexpr (D == DType::kF32 || D == DType::kF64) {
    return value;
  } else if constexpr (D == DType::kF16 || D == DType::kBF16) {
    return Element<D>::ToFloat(value);
  } else {
    return static_cast<float>(Element<D>::ToDouble(value));
  }
}

// A double that any narrower type rounds as it would round the integer: bits below the 53rd are folded into the last
// (rounding to odd), which no later rounding to at most 51 bits can mistake for a tie.
template <typename Int>
constexpr double RoundToOdd(Int value) {
  const bool negative = value < 0;
  const std::uint64_t magnitude = negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  const std::uint64_t folded = (magnitude >> 11) | ((magnitude & 0x7ff) != 0 ? 1 : 0);
  const double result =
      magnitude < (std::uint64_t{1} << 53) ? static_cast<double>(magnitude) : static_cast<double>(folded) * 2048.0;
  return negative ? -result : result;
}

template <DType kFrom, DType kTo>
constexpr StorageOf<kTo> ConvertOne(StorageOf<kFrom> x) {
  using From = Element<kFrom>;
  using To = Element<kTo>;
  if constexpr (kTo == DType::kBool) {
    if constexpr (From::kIsFloat) {
      return Widen<kFrom>(x) != 0 ? 1 : 0;
    } else {
      return x != 0 ? 1 : 0;
    }
  } else if constexpr (kFrom == DType::kBool) {
    constexpr StorageOf<kTo> kOne = To::FromDouble(1.0);
    constexpr StorageOf<kTo> kZero = To::FromDouble(0.0);
    return x != 0 ? kOne : kZero;
  } else if constexpr (From::kIsFloat && To::kIsFloat) {
    return Round<kTo>(Widen<kFrom>(x));
  } else if constexpr (From::kIsFloat) {
    return To::FromDouble(From::ToDouble(x));
  } else if constexpr (!To::kIsFloat) {
    if constexpr (To::kBits < 8) {
      return To::Wrap(static_cast<std::uint64_t>(x));
    } else {
      return static_cast<StorageOf<kTo>>(x);
    }
  } else if constexpr (kTo == DType::kF32 || kTo == DType::kF64) {
    return static_cast<StorageOf<kTo>>(x);  // the processor's conversion rounds once, to nearest even
  } else if constexpr (From::kBits == 64) {
    return To::FromDouble(RoundToOdd(x));
  } else {
    return To::FromDouble(static_cast<double>(x));
  }
}

template <DType kFrom, DType kTo>
void ConvertLoop(const void* src, void* dst, std::size_t n) {
  if constexpr (kFrom == kTo) {
    if (n != 0) std::memcpy(dst, src, n * sizeof(StorageOf<kTo>));
  } else {
    const auto* __restrict from = static_cast<const StorageOf<kFrom>*>(src);
    auto* __restrict to = static_cast<StorageOf<kTo>*>(dst);
    for (std::size_t i = 0; i < n; ++i) to[i] = ConvertOne<kFrom, kTo>(from[i]);
  }
}

template <std::size_t... kPair>
constexpr std::array<ConvertFn, sizeof...(kPair)> MakeTable(std::index_sequence<kPair...>) {
  return {&ConvertLoop<static_cast<DType>(kPair / kDTypeCount), static_cast<DType>(kPair % kDTypeCount)>...};
}

constexpr auto kTable = MakeTable(std::make_index_sequence<kDTypeCount * kDTypeCount>{});

}  // namespace

ConvertFn FindConvert(DType from, DType to) {
  return kTable[static_cast<std::size_t>(from) * kDTypeCount + static_cast<std::size_t>(to)];
}

}  // namespace palladion
