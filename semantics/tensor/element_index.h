// Elements by their row-major number, and the index that a reader knows them by.
#ifndef PALLADION_SEMANTICS_TENSOR_ELEMENT_INDEX_H_
#define PALLADION_SEMANTICS_TENSOR_ELEMENT_INDEX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace palladion {

// `element` is one of the shape's.
std::vector<std::int64_t> IndexOfElement(absl::Span<const std::int64_t> shape, std::int64_t element);

std::string IndexText(absl::Span<const std::int64_t> shape, std::int64_t element);  // "[3, 17]"

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_TENSOR_ELEMENT_INDEX_H_
