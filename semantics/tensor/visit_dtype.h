// From a DType known at run time to one known at compile time.
#ifndef PALLADION_SEMANTICS_TENSOR_VISIT_DTYPE_H_
#define PALLADION_SEMANTICS_TENSOR_VISIT_DTYPE_H_

#include <cstdlib>
#include <type_traits>

#include "semantics/base/dtype.h"

namespace palladion {

// Calls f(std::integral_constant<DType, dtype>{}); every call of f has the same result type.
template <typename F>
decltype(auto) VisitDType(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kBool:
      return f(std::integral_constant<DType, DType::kBool>{});
    case DType::kI2:
      return f(std::integral_constant<DType, DType::kI2>{});
    case DType::kI4:
      return f(std::integral_constant<DType, DType::kI4>{});
    case DType::kI8:
      return f(std::integral_constant<DType, DType::kI8>{});
    case DType::kI16:
      return f(std::integral_constant<DType, DType::kI16>{});
    case DType::kI32:
      return f(std::integral_constant<DType, DType::kI32>{});
    case DType::kI64:
      return f(std::integral_constant<DType, DType::kI64>{});
    case DType::kU2:
      return f(std::integral_constant<DType, DType::kU2>{});
    case DType::kU4:
      return f(std::integral_constant<DType, DType::kU4>{});
    case DType::kU8:
      return f(std::integral_constant<DType, DType::kU8>{});
    case DType::kU16:
      return f(std::integral_constant<DType, DType::kU16>{});
    case DType::kU32:
      return f(std::integral_constant<DType, DType::kU32>{});
    case DType::kU64:
      return f(std::integral_constant<DType, DType::kU64>{});
    case DType::kF16:
      return f(std::integral_constant<DType, DType::kF16>{});
    case DType::kBF16:
      return f(std::integral_constant<DType, DType::kBF16>{});
    case DType::kF32:
      return f(std::integral_constant<DType, DType::kF32>{});
    case DType::kF64:
      return f(std::integral_constant<DType, DType::kF64>{});
    case DType::kF8E3M4:
      return f(std::integral_constant<DType, DType::kF8E3M4>{});
    case DType::kF8E4M3:
      return f(std::integral_constant<DType, DType::kF8E4M3>{});
    case DType::kF8E4M3FN:
      return f(std::integral_constant<DType, DType::kF8E4M3FN>{});
    case DType::kF8E4M3B11FNUZ:
      return f(std::integral_constant<DType, DType::kF8E4M3B11FNUZ>{});
    case DType::kF8E4M3FNUZ:
      return f(std::integral_constant<DType, DType::kF8E4M3FNUZ>{});
    case DType::kF8E5M2:
      return f(std::integral_constant<DType, DType::kF8E5M2>{});
    case DType::kF8E5M2FNUZ:
      return f(std::integral_constant<DType, DType::kF8E5M2FNUZ>{});
    case DType::kF8E8M0FNU:
      return f(std::integral_constant<DType, DType::kF8E8M0FNU>{});
    case DType::kF6E2M3FN:
      return f(std::integral_constant<DType, DType::kF6E2M3FN>{});
    case DType::kF6E3M2FN:
      return f(std::integral_constant<DType, DType::kF6E3M2FN>{});
    case DType::kF4E2M1FN:
      return f(std::integral_constant<DType, DType::kF4E2M1FN>{});
  }
  std::abort();  // not an enumerator: memory was overwritten, or a caller cast an unchecked number
}

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_TENSOR_VISIT_DTYPE_H_
