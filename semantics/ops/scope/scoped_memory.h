// Memory that a kernel allocates and frees itself: its space, its owner, and which threads allocate it together. Based
// on: docs/spec/ref.md#run_scoped. What it does not know: when a scope begins and ends (scope.cc).
#ifndef PALLADION_SEMANTICS_OPS_SCOPE_SCOPED_MEMORY_H_
#define PALLADION_SEMANTICS_OPS_SCOPE_SCOPED_MEMORY_H_

#include "absl/status/statusor.h"
#include "semantics/program/builder.h"

namespace palladion {

// A new poisoned buffer, or barriers and semaphores, from this step on.
absl::StatusOr<RefId> DefineScoped(ValueId value, PlaceLevel owner, Builder& builder);
// The agent leaves the buffer's scope with this step.
void EmitFree(RefId ref, Builder& builder);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_SCOPE_SCOPED_MEMORY_H_
