// The names of all targets, for lists of choices, and the one place that resolves a word to a target.
#ifndef PALLADION_SEMANTICS_BASE_TARGET_NAMES_H_
#define PALLADION_SEMANTICS_BASE_TARGET_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "semantics/base/target.h"

namespace palladion {

std::vector<std::string> TargetNames();

// What a kernel says of where it runs; "" where it says nothing.
struct TargetHints {
  std::string_view kernel;   // its name
  std::string_view backend;  // "mosaic_tpu"
  std::string_view chip;     // "v5p"
};

// `name` is a chip ("h100"), which takes the backend that the kernel says (without one, what JAX compiles such a kernel
// with on that chip), a full name ("triton/h100"), or "": what the kernel says, else generic. InvalidArgument, with all
// that is accepted, for any other name and for a backend that the kernel is not written for.
absl::StatusOr<Target> ResolveTarget(std::string_view name, const TargetHints& hints);

// The full names of the targets that `name`, a chip, may mean for a kernel that says no backend, in the order of
// preference: the first is what ResolveTarget takes. None for a word that is no chip.
std::vector<std::string> TargetNamesOfChip(std::string_view name);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_TARGET_NAMES_H_
