// A set of accesses out of the bytes that a request names.
#ifndef PALLADION_MEMORY_MODEL_SETS_SET_OF_BYTES_H_
#define PALLADION_MEMORY_MODEL_SETS_SET_OF_BYTES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "memory_model/sets/access_set.h"

namespace palladion::memory_model {

inline AccessSet SetOfBytes(const std::vector<std::pair<std::int64_t, std::int64_t>>& bytes) {
  std::vector<ByteRange> ranges;
  for (const auto& [begin, end] : bytes) ranges.push_back({begin, end});
  return AccessSet::Of(std::move(ranges));
}

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SETS_SET_OF_BYTES_H_
