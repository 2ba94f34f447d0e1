#include "emu/run/threads/kept_bytes.h"

#include <cstring>
#include <variant>

#include "memory_model/sets/region.h"

namespace palladion::threads {

void SayKeptBytes(const memory_model::Memory& memory, AsyncRequest& flush) {
  const auto* source = std::get_if<BoxAccess>(&flush.sources[0].where);
  const auto* destination = std::get_if<BoxAccess>(&flush.destinations[0].where);
  const BufferId array = destination->buffer;
  const memory_model::BoxReach reach = memory_model::ReachOf(memory.ShapeOf(array), *destination);
  if (reach.empty || reach.none_copied) return;
  // A block is its memory, whole, row-major.
  const std::int64_t bytes = memory.ElementSizeOf(array).value();
  const std::byte *old = memory.DataOf(array), *block = memory.DataOf(source->buffer);
  memory_model::VisitElements(*destination, reach, memory.ShapeOf(array), [&](std::int64_t element, std::int64_t lane) {
    const std::int64_t first = element * bytes, last = first + bytes;
    const bool same = std::memcmp(old + first, block + lane * bytes, static_cast<std::size_t>(bytes)) == 0;
    auto& part = same ? flush.keeps : flush.changes;
    if (!part.empty() && part.back().second == first) {
      part.back().second = last;
    } else {
      part.emplace_back(first, last);
    }
  });
}

}  // namespace palladion::threads
