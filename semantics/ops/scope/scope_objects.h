// What scopes need on a GPU: barriers and semaphores of a scope, and the meeting of a block's threads at its start.
#ifndef PALLADION_SEMANTICS_OPS_SCOPE_SCOPE_OBJECTS_H_
#define PALLADION_SEMANTICS_OPS_SCOPE_SCOPE_OBJECTS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "semantics/program/builder.h"

namespace palladion {

// A ref that holds barriers or semaphores: the step that makes them. InvalidArgument: attributes of its type that are
// none. Unimplemented: semaphores of another machine. `collective`: of a barrier semaphore, its collective id.
absl::StatusOr<RefId> DefineSync(ValueId value, PlaceLevel owner, Builder& builder, std::int64_t collective = -1);

// A scope around the region, whose parameters it makes for each thread by itself.
Instr ScopeOf(Region region);

// The owner of what a scope allocates, where its collective_axes are these: the block, or each thread.
absl::StatusOr<PlaceLevel> OwnerOf(const Instr& op, const Builder& builder);

// The dimension of the grid that a cluster axis is. InvalidArgument where the name is none of the cluster's.
absl::StatusOr<std::size_t> ClusterAxis(const std::string& name, const Builder& builder);

// All threads of the block come to the scope before one goes on.
void EmitMeeting(Builder& builder);

// The thread leaves the scope of barriers or semaphores.
void EmitLeaveSync(RefId ref, Builder& builder);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_SCOPE_SCOPE_OBJECTS_H_
