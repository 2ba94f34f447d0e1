// What the grid of a program counts: programs, blocks, threads.
#ifndef PALLADION_SEMANTICS_PROGRAM_AGENT_NAMING_H_
#define PALLADION_SEMANTICS_PROGRAM_AGENT_NAMING_H_

#include "semantics/base/agent_name.h"
#include "semantics/program/program.h"

namespace palladion {

inline AgentNaming NamingOf(const Program& program) {
  if (!program.mesh.has_value()) return {.device_dims = program.device_axes.size()};
  const bool threads = program.mesh->thread_dim;
  if (program.mesh->cores) return {.cores = true, .device_dims = program.device_axes.size()};
  return {.blocks = true, .thread_index = threads, .many_threads = threads && program.grid.back().size > 1};
}

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_AGENT_NAMING_H_
