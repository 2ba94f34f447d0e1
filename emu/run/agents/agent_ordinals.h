// The map between agents and their numbers in a schedule: the run loop numbers agents in the order of creation, and
// schedules use those numbers; all other code uses ids. Code that creates agents registers them here, in the same
// order. An ended agent keeps its number and its id, which costs four bytes.
#ifndef PALLADION_EMU_RUN_AGENTS_AGENT_ORDINALS_H_
#define PALLADION_EMU_RUN_AGENTS_AGENT_ORDINALS_H_

#include <deque>

#include "scheduler/operation.h"
#include "semantics/base/ids.h"

namespace palladion::agents {

class AgentOrdinals {
 public:
  scheduler::AgentOrdinal Add(AgentId agent) {
    agents_.push_back(agent);
    return scheduler::AgentOrdinal{static_cast<std::int32_t>(agents_.size() - 1)};
  }
  AgentId Of(scheduler::AgentOrdinal ordinal) const { return agents_[ordinal.index()]; }

 private:
  std::deque<AgentId> agents_;
};

}  // namespace palladion::agents

#endif  // PALLADION_EMU_RUN_AGENTS_AGENT_ORDINALS_H_
