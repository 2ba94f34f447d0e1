// The choice of the next agent among the runnable ones, called at every visible operation. A policy decides from its
// arguments and its own random numbers only, so the same policy on the same agents gives the same run.
#ifndef PALLADION_SCHEDULER_POLICY_H_
#define PALLADION_SCHEDULER_POLICY_H_

#include "scheduler/candidates.h"

namespace palladion::scheduler {

struct Choice {
  Candidates candidates;               // at least one, by ascending number
  const Candidate* current = nullptr;  // the one that went last, if it is among them
  // It went last, could go on and is left out: it has gone so long that others go now, for it may spin on what they
  // have to do. A policy that keeps priorities lowers this agent's. Else invalid.
  AgentOrdinal tired;
};

// Without a policy: the running agent goes on; else the agent with the lowest number, or the next one after a tired
// one.
const Candidate& DefaultChoice(const Choice& choice);

class Policy {
 public:
  virtual ~Policy() = default;
  virtual const Candidate& Choose(const Choice& choice) = 0;  // one of the candidates; its operation is done next
};

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_POLICY_H_
