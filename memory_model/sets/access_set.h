// Exactly which elements an access touches: a box where it is one, else the bytes. Made from the requests of the port;
// a lane that a mask turns off, and an index outside the array, is no access.
#ifndef PALLADION_MEMORY_MODEL_SETS_ACCESS_SET_H_
#define PALLADION_MEMORY_MODEL_SETS_ACCESS_SET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "memory_model/sets/access_box.h"
#include "memory_model/sets/box.h"
#include "semantics/base/units.h"
#include "semantics/port/machine.h"

namespace palladion::memory_model {

struct ByteRange {
  std::int64_t begin = 0, end = 0;
  friend bool operator==(const ByteRange& a, const ByteRange& b) { return a.begin == b.begin && a.end == b.end; }
};

struct AccessSet {
  bool is_box = false;
  AccessBox box;                  // is_box
  std::vector<ByteRange> ranges;  // else: ascending, apart from each other; none: the access touches nothing

  static AccessSet Of(const AccessBox& box) { return {true, box, {}}; }
  // Any order, any overlap.
  static AccessSet Of(std::vector<ByteRange> ranges);
  bool empty() const { return !is_box && ranges.empty(); }
};

// In words, what two sets of one array have in common; "": nothing.
std::string InCommon(const AccessSet& a, const AccessSet& b, absl::Span<const std::int64_t> shape,
                     ElementSize element_size);

// `reach` is ReachOf(shape, access).
AccessSet SetOf(absl::Span<const std::int64_t> shape, ElementSize element_size, const BoxAccess& access,
                const BoxReach& reach);
AccessSet SetOf(const PointAccess& access);

// Element by element the same places: a copy between them changes nothing.
bool IsSamePlace(const AsyncOperand& a, const AsyncOperand& b);

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SETS_ACCESS_SET_H_
