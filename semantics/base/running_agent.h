// The agent that runs from here on, and its place in the grid, as passed to memory and its observers.
#ifndef PALLADION_SEMANTICS_BASE_RUNNING_AGENT_H_
#define PALLADION_SEMANTICS_BASE_RUNNING_AGENT_H_

#include <cstdint>

#include "absl/types/span.h"
#include "semantics/base/ids.h"

namespace palladion {

struct RunningAgent {
  AgentId id;
  absl::Span<const std::int64_t> index;  // in the grid; a warp has its thread's. Valid during the call
  bool begins = false;                   // its program begins here; else it goes on, after others had interrupted it
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_RUNNING_AGENT_H_
