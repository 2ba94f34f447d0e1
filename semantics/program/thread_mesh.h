// The launch of a kernel over threads: `mesh gpu {grid=..., cluster=..., threads=...}` of its text as one grid, in
// row-major order: clusters, the blocks of a cluster, the threads of a block. Based on: plgpu.Mesh of JAX.
#ifndef PALLADION_SEMANTICS_PROGRAM_THREAD_MESH_H_
#define PALLADION_SEMANTICS_PROGRAM_THREAD_MESH_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "semantics/ir/module.h"
#include "semantics/program/program.h"

namespace palladion {

struct MeshLaunch {
  std::vector<std::int64_t> sizes;  // of every dimension
  ThreadMesh mesh;
};

// InvalidArgument: an attribute that is missing or none of those that a mesh has. Unimplemented: another kind of mesh.
absl::StatusOr<MeshLaunch> ReadMesh(const Launch& launch);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_THREAD_MESH_H_
