// The instructions of a kernel's bodies and index maps, one region after another: each is known, uses what is defined
// and visible there, and passes its operation's own `verify`. Gives each instruction its row.
#ifndef PALLADION_SEMANTICS_REGISTRY_REGION_VERIFIER_H_
#define PALLADION_SEMANTICS_REGISTRY_REGION_VERIFIER_H_

#include "semantics/base/status.h"
#include "semantics/ir/module.h"
#include "semantics/registry/error_places.h"
#include "semantics/registry/value_scopes.h"

namespace palladion {

class RegionVerifier {
 public:
  // All outlive it.
  RegionVerifier(const Module& module, const Kernel& kernel, const ErrorPlaces& places, ValueScopes& values)
      : module_(module), kernel_(kernel), places_(places), values_(values) {}

  // Of the kernel. Errors have their places.
  absl::Status CheckRegion(Region& region, LocId owner);

 private:
  absl::Status CheckInstr(Instr& instr);
  absl::Status CheckArg(const Arg& arg, int depth) const;
  absl::Status CheckResultTypes(const Instr& instr) const;
  absl::Status CheckRegionResult(const Arg& arg) const;

  const Module& module_;
  const Kernel& kernel_;
  const ErrorPlaces& places_;
  ValueScopes& values_;
  int depth_ = 0;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_REGISTRY_REGION_VERIFIER_H_
