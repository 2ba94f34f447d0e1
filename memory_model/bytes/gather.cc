#include "memory_model/bytes/gather.h"

#include <array>
#include <cstring>

namespace palladion::memory_model {
namespace {

template <class T>
bool GatherAs(absl::Span<const std::int64_t> offset, const std::byte* data, std::byte* value) {
  bool all = true;
  auto* out = reinterpret_cast<T*>(value);
  for (std::size_t p = 0; p < offset.size(); ++p) {
    if (offset[p] >= 0) {
      std::memcpy(out + p, data + offset[p], sizeof(T));
    } else {
      all = false;
    }
  }
  return all;
}

}  // namespace

bool Gather(absl::Span<const std::int64_t> offset, const std::byte* data, std::size_t piece_bytes, std::byte* value) {
  switch (piece_bytes) {
    case 1:
      return GatherAs<std::uint8_t>(offset, data, value);
    case 2:
      return GatherAs<std::uint16_t>(offset, data, value);
    case 4:
      return GatherAs<std::uint32_t>(offset, data, value);
    case 8:
      return GatherAs<std::uint64_t>(offset, data, value);
    default:
      return GatherAs<std::array<std::byte, 16>>(offset, data, value);  // PRNG keys of four words
  }
}

}  // namespace palladion::memory_model
