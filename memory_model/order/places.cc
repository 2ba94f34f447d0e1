#include "memory_model/order/places.h"

#include <string_view>

#include "semantics/base/cat.h"

namespace palladion::memory_model {

Place Place::With(PlaceLevel level, std::int32_t value) const {
  Place changed = *this;
  changed.number[static_cast<std::size_t>(level)] = value;
  return changed;
}

std::string Describe(const Place& place) {
  static constexpr std::string_view kLevels[] = {"device", "cluster", "block", "thread", "warp"};
  std::string text;
  for (std::size_t i = 0; i < kPlaceLevels; ++i) {
    if (place.number[i] == Place::kNone) continue;
    Append(&text, text.empty() ? "" : ", ", kLevels[i], " ", place.number[i]);
  }
  return text;
}

}  // namespace palladion::memory_model
