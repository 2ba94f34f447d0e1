// Whether the grid of a program counts programs, blocks or threads.
#ifndef PALLADION_SEMANTICS_PROGRAM_AGENT_NAMING_H_
#define PALLADION_SEMANTICS_PROGRAM_AGENT_NAMING_H_

#include "semantics/base/agent_name.h"
#include "semantics/program/program.h"

namespace palladion {

// A launch over a mesh of a TPU's cores.
inline bool CountsCores(const Program& program) { return program.mesh.has_value() && program.mesh->cores; }

inline AgentNaming NamingOf(const Program& program) {
  if (!program.mesh.has_value()) return {.device_dims = program.device_axes.size()};
  const bool threads = program.mesh->thread_dim;
  if (CountsCores(program)) return {.cores = true, .device_dims = program.device_axes.size()};
  return {.blocks = true,
          .thread_index = threads,
          .many_threads = threads && program.grid.back().size > 1,
          .device_dims = program.device_axes.size()};
}

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_AGENT_NAMING_H_
