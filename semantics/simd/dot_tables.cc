#include "semantics/simd/dot_tables.h"

#include <array>

#include "semantics/tensor/element.h"
#include "semantics/tensor/visit_dtype.h"

namespace palladion::simd {
namespace {

// Not constexpr: clang 14 has no constant arithmetic on NaN.
template <DType D>
const std::uint16_t* AsBF16() {
  static const std::array<std::uint16_t, 256> codes = [] {
    std::array<std::uint16_t, 256> made{};
    for (int code = 0; code < 256; ++code) {
      made[code] = Element<DType::kBF16>::FromDouble(Element<D>::ToDouble(static_cast<std::uint8_t>(code)));
    }
    return made;
  }();
  return codes.data();
}

template <DType D>
constexpr FloatFormat kFormat = element_internal::FormatOf(D);

}  // namespace

const std::uint16_t* NarrowFloatsAsBF16(DType dtype) {
  return VisitDType(dtype, [](auto tag) -> const std::uint16_t* {
    constexpr DType kDType = decltype(tag)::value;
    if constexpr (Element<kDType>::kIsFloat && Element<kDType>::kBits <= 8) {
      return AsBF16<kDType>();
    } else {
      return nullptr;
    }
  });
}

const FloatFormat* RoundingFormat(DType dtype) {
  return VisitDType(dtype, [](auto tag) -> const FloatFormat* {
    constexpr DType kDType = decltype(tag)::value;
    return kFormat<kDType>.exponent_bits > 0 ? &kFormat<kDType> : nullptr;
  });
}

double HalfToDouble(std::uint16_t code) { return Element<DType::kF16>::ToDouble(code); }

}  // namespace palladion::simd
