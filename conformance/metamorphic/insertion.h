// Where a harmless operation goes in the text of a kernel. It is put on lines that are there, so that every other line
// keeps its number and reports of both texts can be compared as they are.
#ifndef PALLADION_CONFORMANCE_METAMORPHIC_INSERTION_H_
#define PALLADION_CONFORMANCE_METAMORPHIC_INSERTION_H_

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "conformance/metamorphic/harmless.h"

namespace palladion::conformance {

// One of the places of Harmless::places.
std::string_view PlaceName(unsigned place);

struct Inserted {
  std::string text;
  std::set<int> lines;  // where something was put, from 1
};

// `canonical` is a text as CanonicalText gives it, of one kernel. Every body gets the operation. nullopt: the kernel
// has no such place, or nothing that the operation needs.
std::optional<Inserted> Insert(std::string_view canonical, const Harmless& harmless, unsigned place);

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_METAMORPHIC_INSERTION_H_
