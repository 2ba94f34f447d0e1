// prepare: a verified kernel and a target become a Program. Residency of blocks is part of the program, in the same
// requests a kernel makes, so a slower engine changes no semantics.
#ifndef PALLADION_SEMANTICS_PREPARE_PREPARE_H_
#define PALLADION_SEMANTICS_PREPARE_PREPARE_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "semantics/base/target.h"
#include "semantics/program/program.h"
#include "semantics/registry/verifier.h"

namespace palladion {

// The target that `name` means for this kernel (ResolveTarget); "": what the kernel itself says, else generic.
absl::StatusOr<Target> TargetOf(const Kernel& kernel, std::string_view name = "");

// Unimplemented, with the place in the text and the user's line, where the target or an operation is not done.
absl::StatusOr<std::shared_ptr<const Program>> Prepare(const VerifiedModule& module, const Kernel& kernel,
                                                       const Target& target, const ProgramOptions& options = {});

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PREPARE_PREPARE_H_
