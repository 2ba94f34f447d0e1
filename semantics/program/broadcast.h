// Operands of accesses that are broadcast to the shape of the access.
#ifndef PALLADION_SEMANTICS_PROGRAM_BROADCAST_H_
#define PALLADION_SEMANTICS_PROGRAM_BROADCAST_H_

#include "absl/status/statusor.h"
#include "semantics/program/builder.h"

namespace palladion {

// The operand broadcast to `shape`, by NumPy's rule.
absl::StatusOr<SlotId> Broadcast(const Arg& arg, const Shape& shape, Builder& builder);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_BROADCAST_H_
