// The metamorphic test: a check of a case's kernel, and of the same kernel with a harmless operation in it, must say
// the same.
#ifndef PALLADION_CONFORMANCE_METAMORPHIC_METAMORPHIC_H_
#define PALLADION_CONFORMANCE_METAMORPHIC_METAMORPHIC_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/case_file.h"
#include "conformance/metamorphic/harmless.h"

namespace palladion::conformance {

// A harmless operation at one of its places.
struct Change {
  const Harmless* harmless = nullptr;
  unsigned place = 0;
  std::string Name() const;  // "delay@start"
};

// Those of the case's backend, in the order of the table.
std::vector<Change> ChangesFor(const Case& test);

struct Comparison {
  Change change;
  bool applies = false;                  // the kernel has the place, and what the operation needs
  std::vector<std::string> differences;  // a line each; empty: both reports say the same
  bool wrong() const { return applies && !differences.empty(); }
};

// Checks the case's kernel once as it is, and once for each of the changes.
std::vector<Comparison> Compare(const Case& test, const std::vector<Change>& changes);

// A case's own change out of those that it could have, always the same for the same name and turn. `name` is the
// case's: "findings/oob_wrong".
std::size_t Chosen(std::string_view name, std::size_t turn, std::size_t changes);

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_METAMORPHIC_METAMORPHIC_H_
