// How far one word is from another: what "did you mean" goes by. Based on: Levenshtein 1966.
#ifndef PALLADION_SEMANTICS_BASE_EDIT_DISTANCE_H_
#define PALLADION_SEMANTICS_BASE_EDIT_DISTANCE_H_

#include <cstddef>
#include <string_view>

namespace palladion {

// Bytes put in, left out or changed; for short words.
std::size_t EditDistance(std::string_view a, std::string_view b);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_EDIT_DISTANCE_H_
