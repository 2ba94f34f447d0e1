// Where in a kernel an error of the verifier is: the line of the text, or of the user's Python, and what stands there.
#ifndef PALLADION_SEMANTICS_REGISTRY_ERROR_PLACES_H_
#define PALLADION_SEMANTICS_REGISTRY_ERROR_PLACES_H_

#include <string>

#include "semantics/base/status.h"
#include "semantics/ir/module.h"

namespace palladion {

// The operation with its dialect.
std::string FullName(const Instr& instr);

class ErrorPlaces {
 public:
  // Both outlive it.
  ErrorPlaces(const Module& module, const Kernel& kernel) : module_(module), kernel_(kernel) {}

  // The error with its place; one that has a place already is left alone.
  absl::Status At(int line, LocId loc, const std::string& what, const absl::Status& status) const;
  absl::Status At(const Instr& instr, const absl::Status& status) const;

  absl::Status CheckLoc(LocId loc) const;

 private:
  const Module& module_;
  const Kernel& kernel_;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_REGISTRY_ERROR_PLACES_H_
