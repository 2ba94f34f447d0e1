#include "semantics/tensor/normalise.h"

#include <cstdint>

#include "semantics/tensor/element.h"

namespace palladion {

bool NeedsNormalising(DType dtype) { return Info(dtype).bits < 8 && !IsBool(dtype); }

void Normalise(DType dtype, std::byte* elements, std::size_t n) {
  VisitDType(dtype, [elements, n](auto tag) {
    constexpr DType kD = decltype(tag)::value;
    using E = Element<kD>;
    if constexpr (E::kBits < 8) {
      auto* values = reinterpret_cast<StorageOf<kD>*>(elements);
      for (std::size_t i = 0; i < n; ++i) {
        if constexpr (kD == DType::kBool) {
          values[i] = values[i] != 0 ? 1 : 0;
        } else if constexpr (E::kIsFloat) {
          values[i] = static_cast<StorageOf<kD>>(values[i] & ((1u << E::kBits) - 1));
        } else {
          values[i] = E::Wrap(static_cast<std::uint64_t>(values[i]));
        }
      }
    }
  });
}

}  // namespace palladion
