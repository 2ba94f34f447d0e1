// The strides of a dense row-major array along each dimension. Limits: in elements; callers that need bytes multiply.
#ifndef PALLADION_SEMANTICS_IR_STRIDES_H_
#define PALLADION_SEMANTICS_IR_STRIDES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "semantics/ir/type.h"

namespace palladion {

inline std::vector<std::int64_t> ElementStrides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_STRIDES_H_
