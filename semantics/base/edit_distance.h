// The edit distance of two words, for "did you mean". Based on: Levenshtein 1966.
#ifndef PALLADION_SEMANTICS_BASE_EDIT_DISTANCE_H_
#define PALLADION_SEMANTICS_BASE_EDIT_DISTANCE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/types/span.h"

namespace palladion {

// Bytes put in, left out or changed; for short words.
std::size_t EditDistance(std::string_view a, std::string_view b);

// The nearest of the names, or "" where none is near: what may have been meant by a word that is none of them.
std::string Nearest(std::string_view word, absl::Span<const std::string_view> names);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_EDIT_DISTANCE_H_
