// Copies between two strided boxes of one shape. Contiguous runs go by memcpy; a transposed inner pair goes in tiles.
#ifndef PALLADION_SEMANTICS_TENSOR_COPY_BOX_H_
#define PALLADION_SEMANTICS_TENSOR_COPY_BOX_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace palladion {

struct CopyDim {
  std::int64_t count;
  std::int64_t source_stride;       // bytes
  std::int64_t destination_stride;  // bytes
};

// Copies count[0] x count[1] x ... elements of `element_bytes`. The boxes must not overlap. At most 32 dimensions.
void CopyBox(const std::byte* source, std::byte* destination, absl::Span<const CopyDim> dims,
             std::size_t element_bytes);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_TENSOR_COPY_BOX_H_
