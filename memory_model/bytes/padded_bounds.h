// Bounds "padded": a TPU keeps the last two dimensions of an array in whole tiles, and an access that leaves the
// array's shape but stays in its tiles reaches memory that is the array's own. What it reads there is undefined and
// what it stores is lost, but it is no finding. Source: infer_tiling of jax/_src/pallas/mosaic/tpu_info.py, JAX 0.10.2,
// which JAX's interpreter asks for `buffer_bounds="padded"`. Scalar memory has no tiles.
// Copies that are rounded up to tiles, as JAX's pipeline copies a last block that sticks out, are judged so in any
// case. Limits: an access by index arrays keeps the logical bounds, and so does a view that ends inside its array.
#ifndef PALLADION_MEMORY_MODEL_BYTES_PADDED_BOUNDS_H_
#define PALLADION_MEMORY_MODEL_BYTES_PADDED_BOUNDS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "semantics/base/dtype.h"
#include "semantics/port/access.h"

namespace palladion::memory_model {

// The shape with its last two dimensions (of a vector: its only one) rounded up to whole tiles of a TPU of that
// generation. Elements of more than 32 bits have no tiles.
std::vector<std::int64_t> PaddedShape(absl::Span<const std::int64_t> shape, DType dtype, int generation);

struct PaddedBounds {
  int generation = 0;
  std::set<std::string, std::less<>> scalar_memory;  // names of refs there
  std::optional<std::set<int>> only_at;              // lines of the text; nullopt: every access

  // Is the whole box inside the tiles of an array of this name and shape?
  bool Covers(std::string_view name, DType dtype, absl::Span<const std::int64_t> shape, const BoxAccess& access) const;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_PADDED_BOUNDS_H_
