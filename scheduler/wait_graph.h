// The wait-for graph of agents that cannot run: the shortest cycle, or the wait that no agent can end. Exact as far as
// Condition::MaySignal is; an agent that may signal but never will hides a partial deadlock until nothing can run.
#ifndef PALLADION_SCHEDULER_WAIT_GRAPH_H_
#define PALLADION_SCHEDULER_WAIT_GRAPH_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "scheduler/operation.h"

namespace palladion::scheduler {

struct Wait {
  AgentOrdinal agent;
  std::string agent_name;
  std::string what;                      // Condition::Describe
  std::vector<AgentOrdinal> may_signal;  // agents that are not done
  std::vector<AgentOrdinal> could_have;  // agents that are done and left without it; the first few
  std::vector<std::string> could_have_names;
  // Condition::Holder, where it is known: then `may_signal` is that agent alone, or none if it is done.
  std::optional<AgentOrdinal> holder;
  LocId loc;
  int text_line = 0;
};

struct Deadlock {
  std::vector<Wait> waits;  // of every agent that can never go on, by number
  std::vector<AgentOrdinal>
      cycle;  // the shortest: each waits for the next, the last for the first; empty: there is none
  std::vector<AgentOrdinal> orphans;  // wait for what no agent that is left can signal
  bool partial = false;               // other agents can still go
};

// An agent that is not done; `waits_for` when its next operation cannot go.
struct LiveAgent {
  AgentOrdinal id;
  std::string name;
  const Operation* operation = nullptr;
  bool waiting = false;
};

// Those of `agents` (by ascending number) that wait only for agents that wait themselves. No waits: no deadlock.
// `started`: how many agents there ever were; those not among `agents` are done.
Deadlock FindDeadlock(absl::Span<const LiveAgent> agents, std::int64_t started);

// The one that Describe begins with.
const Wait& FirstToReport(const Deadlock& deadlock);

// The waits as lines of text, the cycle first: "program 0 waits for X, which program 1 can signal; ...".
std::string Describe(const Deadlock& deadlock);

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_WAIT_GRAPH_H_
