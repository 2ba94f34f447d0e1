// The dimension numbers that gathers and scatters have in common: ordered sets of axes, and batching dimensions that x
// and the indices share. Based on: XLA's gather and scatter. Not checked here: windows.
#ifndef PALLADION_SEMANTICS_OPS_SHAPE_INDEX_BATCHING_H_
#define PALLADION_SEMANTICS_OPS_SHAPE_INDEX_BATCHING_H_

#include <string_view>

#include "absl/status/status.h"
#include "semantics/ops/shape/shape_common.h"
#include "semantics/registry/attrs.h"

namespace palladion {

Axes Union(const Axes& a, const Axes& b);

// InvalidArgument, by the name of `what`, unless they increase.
absl::Status ExpectSorted(const Axes& axes, std::string_view what);

// Axes of x, and as many of the indices (without their last dimension), of the same sizes.
struct IndexBatching {
  const Axes& of_x;
  const Axes& of_indices;
};
absl::Status ExpectBatching(const IndexBatching& batching, const Type& x, const Type& indices, std::string_view what);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_SHAPE_INDEX_BATCHING_H_
