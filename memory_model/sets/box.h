// Boxes: what of one may be touched, and how its value lies in memory.
#ifndef PALLADION_MEMORY_MODEL_SETS_BOX_H_
#define PALLADION_MEMORY_MODEL_SETS_BOX_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "semantics/base/units.h"
#include "semantics/port/machine.h"

namespace palladion::memory_model {

// The indices i of one dimension, 0 <= i < count, for which low <= start + i*step < high.
struct Range {
  std::int64_t begin, end;  // not initialised: an array of them is made for every access
  bool all(std::int64_t count) const { return begin == 0 && end == count; }
  bool contains(std::int64_t i) const { return i >= begin && i < end; }
};

// What of a box may be touched: `legal` is inside the ref's window (and the array, where nothing pads it); `copy` also
// has memory behind it. Both are boxes, so one range for each buffer dimension says it.
struct BoxReach {
  std::array<Range, kMaxBoxRank> legal, copy;
  bool all_legal = true, all_copied = true, none_copied = false, empty = false;
};

// `shape` is the buffer's.
BoxReach ReachOf(absl::Span<const std::int64_t> shape, const BoxAccess& access);

// The value's side of a box: row-major over the named dimensions.
struct BoxLayout {
  std::array<std::int64_t, kMaxBoxRank> count, stride;  // elements, bytes
  std::size_t elements = 1;
};

BoxLayout LayoutOf(const BoxAccess& access, ElementSize element_size);

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SETS_BOX_H_
