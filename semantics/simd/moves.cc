#include "semantics/simd/moves.h"

#include <algorithm>
#include <cstring>

#include "semantics/tensor/element.h"

namespace palladion::simd {
namespace {

template <typename T>
void FillAs(const void* element, void* out, std::size_t n) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  std::fill_n(static_cast<T*>(out), n, value);
}

template <DType D>
StorageOf<D> IotaElement(std::size_t k) {
  using E = Element<D>;
  if constexpr (E::kIsFloat || D == DType::kBool) {
    return E::FromDouble(static_cast<double>(k));
  } else {
    return E::Wrap(k);
  }
}

template <DType D>
void IotaAs(std::size_t outer, std::size_t length, std::size_t inner, void* out) {
  auto* to = static_cast<StorageOf<D>*>(out);
  if (inner == 1) {  // a loop that the compiler makes vectors of
    for (std::size_t o = 0; o < outer; ++o, to += length) {
      for (std::size_t k = 0; k < length; ++k) to[k] = IotaElement<D>(k);
    }
    return;
  }
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t k = 0; k < length; ++k) to = std::fill_n(to, inner, IotaElement<D>(k));
  }
}

template <typename T>
void SelectAs(const std::int32_t* which, absl::Span<const void* const> cases, void* out, std::size_t n) {
  auto* to = static_cast<T*>(out);
  const auto last = static_cast<std::int32_t>(cases.size()) - 1;
  for (std::size_t i = 0; i < n; ++i) {
    to[i] = static_cast<const T*>(cases[static_cast<std::size_t>(std::clamp(which[i], 0, last))])[i];
  }
}

}  // namespace

void Fill(const void* element, std::size_t element_size, void* out, std::size_t n) {
  switch (element_size) {
    case 1:
      return FillAs<std::uint8_t>(element, out, n);
    case 2:
      return FillAs<std::uint16_t>(element, out, n);
    case 4:
      return FillAs<std::uint32_t>(element, out, n);
    default:
      return FillAs<std::uint64_t>(element, out, n);
  }
}

void Iota(DType dtype, std::size_t outer, std::size_t length, std::size_t inner, void* out) {
  VisitDType(dtype, [=](auto tag) { IotaAs<decltype(tag)::value>(outer, length, inner, out); });
}

void SelectN(const std::int32_t* which, absl::Span<const void* const> cases, std::size_t element_size, void* out,
             std::size_t n) {
  switch (element_size) {
    case 1:
      return SelectAs<std::uint8_t>(which, cases, out, n);
    case 2:
      return SelectAs<std::uint16_t>(which, cases, out, n);
    case 4:
      return SelectAs<std::uint32_t>(which, cases, out, n);
    default:
      return SelectAs<std::uint64_t>(which, cases, out, n);
  }
}

}  // namespace palladion::simd
