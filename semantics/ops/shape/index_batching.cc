#include "semantics/ops/shape/index_batching.h"

#include <algorithm>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {

Axes Union(const Axes& a, const Axes& b) {
  Axes both = a;
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

absl::Status ExpectSorted(const Axes& axes, std::string_view what) {
  if (std::is_sorted(axes.begin(), axes.end())) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat(what, " must increase; found ", ToString(axes)));
}

absl::Status ExpectBatching(const IndexBatching& batching, const Type& x, const Type& indices, std::string_view what) {
  PALLADION_RETURN_IF_ERROR(ExpectAxes(batching.of_indices, indices.rank() - 1, what));
  bool same = batching.of_x.size() == batching.of_indices.size();
  for (std::size_t i = 0; same && i < batching.of_x.size(); ++i) {
    same = x.shape[static_cast<std::size_t>(batching.of_x[i])] ==
           indices.shape[static_cast<std::size_t>(batching.of_indices[i])];
  }
  if (same) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("batching dimensions ", ToString(batching.of_x), " of ", ToString(x), " and ",
                                        ToString(batching.of_indices), " of ", ToString(indices),
                                        " must have the same sizes"));
}

}  // namespace palladion
