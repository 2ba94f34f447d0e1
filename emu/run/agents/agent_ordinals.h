// Who is who in a schedule: the run loop counts agents in the order in which they come to be, and schedules are made of
// those numbers; all else knows agents by their ids. Whoever makes agents says so here, in the same order. An agent
// that has ended keeps its number and its id: four bytes are what it costs.
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
