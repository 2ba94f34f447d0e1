// Where things are. A view of a peer's memory changes the place only. What this does not know: which places a mesh has,
// and what lies at an address.
#ifndef PALLADION_MEMORY_MODEL_ORDER_PLACES_H_
#define PALLADION_MEMORY_MODEL_ORDER_PLACES_H_

#include <array>
#include <cstdint>
#include <string>

#include "semantics/port/places.h"

namespace palladion::memory_model {

inline constexpr std::size_t kPlaceLevels = 5;

// Numbers down to some level; kNone below it.
struct Place {
  static constexpr std::int32_t kNone = -1;
  std::array<std::int32_t, kPlaceLevels> number = {0, kNone, kNone, kNone, kNone};

  std::int32_t at(PlaceLevel level) const { return number[static_cast<std::size_t>(level)]; }
  // The same place but for one number: where a view of a peer leads.
  Place With(PlaceLevel level, std::int32_t value) const;

  friend bool operator==(const Place& a, const Place& b) { return a.number == b.number; }
  friend bool operator!=(const Place& a, const Place& b) { return a.number != b.number; }
  friend bool operator<(const Place& a, const Place& b) { return a.number < b.number; }
};
std::string Describe(const Place& place);  // "device 0, block 3, thread 1"

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ORDER_PLACES_H_
