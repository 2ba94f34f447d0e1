#include "semantics/tensor/poison.h"

#include <algorithm>

namespace palladion {

void FillPoison(DType dtype, void* dst, std::size_t n) {
  VisitDType(dtype, [dst, n](auto tag) {
    constexpr DType kD = decltype(tag)::value;
    std::fill_n(static_cast<StorageOf<kD>*>(dst), n, PoisonOf<kD>());
  });
}

}  // namespace palladion
