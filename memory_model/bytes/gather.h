// The pieces of a list of places, read into a dense value. Limit: memory.cc decides what a place outside its array
// reads as.
#ifndef PALLADION_MEMORY_MODEL_BYTES_GATHER_H_
#define PALLADION_MEMORY_MODEL_BYTES_GATHER_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace palladion::memory_model {

// Every piece that lies somewhere, whatever a mask says: reading a masked-off lane's memory is no access of the
// kernel's, and its bytes are replaced afterwards. `offset`: bytes from `data`, below 0 for a piece that lies nowhere.
// Returns whether every piece lay somewhere.
bool Gather(absl::Span<const std::int64_t> offset, const std::byte* data, std::size_t piece_bytes, std::byte* value);

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_GATHER_H_
