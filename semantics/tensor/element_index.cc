#include "semantics/tensor/element_index.h"

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"

namespace palladion {

std::vector<std::int64_t> IndexOfElement(absl::Span<const std::int64_t> shape, std::int64_t element) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = element % shape[d];
    element /= shape[d];
  }
  return index;
}

std::string IndexText(absl::Span<const std::int64_t> shape, std::int64_t element) {
  return Cat("[", absl::StrJoin(IndexOfElement(shape, element), ", "), "]");
}

}  // namespace palladion
