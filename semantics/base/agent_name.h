// The names of agents in messages: a program of a grid, a block of a GPU launch, one of its threads. Derived from the
// place in the grid alone; warps and operations of engines prepend their own names.
#ifndef PALLADION_SEMANTICS_BASE_AGENT_NAME_H_
#define PALLADION_SEMANTICS_BASE_AGENT_NAME_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"

namespace palladion {

// What the grid of a launch counts.
struct AgentNaming {
  bool blocks = false;          // blocks, of a launch over a mesh; else programs
  bool cores = false;           // TensorCores
  bool thread_index = false;    // the last dimension counts the threads of a block
  bool many_threads = false;    // and there are several
  std::size_t device_dims = 0;  // the first dimensions count devices
};

// "device 3", or of a mesh with several axes "device (1, 0)".
std::string DeviceName(absl::Span<const std::int64_t> coordinates);

// "program (3, 0)", "block (2)", "thread 1 of block (2)"; without a grid "the program", "the block", "thread 1". Where
// there are several devices, " on device 3" follows.
std::string AgentName(const AgentNaming& naming, absl::Span<const std::int64_t> grid_index);
inline std::string AgentName(absl::Span<const std::int64_t> program) { return AgentName(AgentNaming(), program); }

// " at program (3, 0)", to be put after what is done; "" where there is only one agent.
std::string AtAgent(const AgentNaming& naming, absl::Span<const std::int64_t> grid_index);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_AGENT_NAME_H_
