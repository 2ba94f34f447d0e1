// Copies between two strided boxes of one shape. Contiguous runs go by memcpy; a transposed inner pair goes in tiles.
#ifndef PALLADION_SEMANTICS_TENSOR_COPY_BOX_H_
#define PALLADION_SEMANTICS_TENSOR_COPY_BOX_H_

#include <cstddef>

#include "absl/types/span.h"
#include "semantics/base/units.h"

namespace palladion {

struct CopyDim {
  ElementCount count;
  ByteCount source_stride;
  ByteCount destination_stride;
};

// Copies count[0] x count[1] x ... elements. The boxes must not overlap. At most 32 dimensions.
void CopyBox(const std::byte* source, std::byte* destination, absl::Span<const CopyDim> dims, ElementSize element_size);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_TENSOR_COPY_BOX_H_
