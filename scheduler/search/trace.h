// The current schedule of an exhaustive search, as events with what happens before each, and the races that it has:
// pairs of operations of two agents that conflict and that another schedule would do in the other order. Agents have
// numbers here that do not depend on the order of independent operations: derived from the parent and the index among
// its children, because ordinals are given in the order of creation. What it does not know: how a schedule is run.
#ifndef PALLADION_SCHEDULER_SEARCH_TRACE_H_
#define PALLADION_SCHEDULER_SEARCH_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/touches.h"

namespace palladion::scheduler {

using Tracked = std::int32_t;  // an agent of a search

// An operation that was done, or that waits: then it has no place yet.
struct Action {
  Tracked agent = -1;
  Touches touches;
  bool waits = false;        // it had a condition
  std::optional<Need> need;  // where that is a count
};

// Two operations that another schedule does in the other order: there one of the agents goes on before the first.
struct Reversal {
  std::size_t at = 0;  // the first of the two
  std::vector<Tracked> initials;
};

class Trace {
 public:
  // Agents that are there now: from the start, or made by the last event. `spawned`: by the agent that did it; else the
  // source has begun them.
  void AddAgent(AgentOrdinal ordinal, bool spawned);
  void SkipAgents(std::int64_t started);  // those before that have ended already

  std::size_t size() const { return events_.size(); }
  Tracked agent(std::size_t event) const { return events_[event].action.agent; }
  Tracked AgentOf(AgentOrdinal ordinal) const { return agent_of_[ordinal.index()]; }
  AgentOrdinal OrdinalOf(Tracked agent) const { return agents_[static_cast<std::size_t>(agent)].ordinal; }
  std::int64_t started() const { return static_cast<std::int64_t>(agent_of_.size()); }

  // The next event. Its races with those before it; of one that waited, also with those that may have let it wait.
  std::vector<Reversal> Add(Action action);
  // Of an operation that waits until the end: the agents that may have made it wait.
  std::vector<Reversal> RacesOfWaiting(const Action& action) const;
  void Pop();  // the last event, and the agents that it created

 private:
  using Clock = std::vector<std::int32_t>;  // by agent: so many of all events, up to its last one that is known
  struct Event {
    Action action;
    Clock knows;   // itself too
    Clock closed;  // and what it closes (Touched::closes): that comes before what comes of closing, not before the rest
    std::int32_t previous = -1;
    std::size_t agents_before = 0;  // ordinals
    std::int64_t begun_before = 0;
  };
  struct Agent {
    AgentOrdinal ordinal;
    std::int32_t last = -1, born = -1;  // events
    std::int64_t children = 0;
    Tracked parent = -1;
  };

  static bool Knows(const Clock& clock, Tracked agent, std::size_t event) {
    const auto at = static_cast<std::size_t>(agent);
    return at < clock.size() && clock[at] > static_cast<std::int32_t>(event);
  }
  bool Knows(const Clock& clock, std::size_t event) const { return Knows(clock, events_[event].action.agent, event); }
  static void Join(Clock& clock, const Clock& other);
  Clock ClockBefore(Tracked agent) const;
  static bool MayBeFirst(const Event& earlier, const Action& action);
  Reversal Reverse(std::size_t earlier, Tracked agent, const Clock& needed) const;

  std::vector<Event> events_;
  std::vector<Agent> agents_;                                    // by number
  std::vector<Tracked> agent_of_;                                // by ordinal; -1: it ended before it was known
  std::map<std::pair<Tracked, std::int64_t>, Tracked> numbers_;  // of the children of an agent, or of the source (-1)
  std::int64_t begun_ = 0;                                       // by the source
};

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_SEARCH_TRACE_H_
