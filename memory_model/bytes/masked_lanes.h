// What a mask does to the bytes of an access: lanes that it turns off are loaded as something else, and not stored.
// Limit: bounds_findings.h decides whether a masked-off lane may be outside its array.
#ifndef PALLADION_MEMORY_MODEL_BYTES_MASKED_LANES_H_
#define PALLADION_MEMORY_MODEL_BYTES_MASKED_LANES_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "semantics/base/units.h"
#include "semantics/port/access.h"
#include "semantics/tensor/copy_box.h"

namespace palladion::memory_model {

// Of a dense value the lanes that are off take the mask's other value; without one each takes the one at `poison`,
// which is aligned for its type.
void FillMasked(const Mask& mask, ElementSize element_size, const std::byte* poison, std::size_t elements,
                std::byte* value);

// What is stored under a mask: a dense value, of whose elements those go whose lane is not 0.
struct MaskedValue {
  const std::byte* value;
  const std::uint8_t* lanes;
  ElementSize element_size;
};

// The lanes of a box that the mask admits. `first`: where the box begins in the value; its last dimension is dense
// there.
void StoreLanes(const MaskedValue& from, ByteCount first, std::byte* to, absl::Span<const CopyDim> dims);

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_MASKED_LANES_H_
