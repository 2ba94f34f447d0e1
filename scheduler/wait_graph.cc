#include "scheduler/wait_graph.h"

#include <algorithm>
#include <deque>
#include <map>

#include "semantics/base/cat.h"

namespace palladion::scheduler {
namespace {

using Edges = std::vector<std::vector<std::size_t>>;  // waiting agent -> those that may signal it, by index

Edges EdgesOf(absl::Span<const LiveAgent> agents) {
  Edges edges(agents.size());
  for (std::size_t i = 0; i < agents.size(); ++i) {
    if (!agents[i].waiting) continue;
    for (std::size_t k = 0; k < agents.size(); ++k) {
      if (k != i && agents[i].operation->waits_for->MaySignal(agents[k].id)) edges[i].push_back(k);
    }
  }
  return edges;
}

// Where the agent that has to act is known, only that one: a cycle then shows which agent holds what.
Edges BlameOf(absl::Span<const LiveAgent> agents, Edges edges) {
  for (std::size_t i = 0; i < agents.size(); ++i) {
    if (!agents[i].waiting) continue;
    const std::optional<AgentOrdinal> holder = agents[i].operation->waits_for->Holder();
    if (!holder.has_value()) continue;
    edges[i].clear();
    for (std::size_t k = 0; k < agents.size(); ++k) {
      if (agents[k].id == *holder) edges[i].push_back(k);
    }
  }
  return edges;
}

// The largest set of waiting agents that only agents of the set could wake.
std::vector<bool> Stuck(absl::Span<const LiveAgent> agents, const Edges& edges) {
  std::vector<bool> stuck(agents.size());
  for (std::size_t i = 0; i < agents.size(); ++i) stuck[i] = agents[i].waiting;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < agents.size(); ++i) {
      if (!stuck[i]) continue;
      const bool hope = std::any_of(edges[i].begin(), edges[i].end(), [&](std::size_t k) { return !stuck[k]; });
      if (hope) stuck[i] = false, changed = true;
    }
  }
  return stuck;
}

// Breadth first from `start` back to it.
std::vector<std::size_t> ShortestCycle(std::size_t start, const Edges& edges, const std::vector<bool>& stuck) {
  std::map<std::size_t, std::size_t> from;
  std::deque<std::size_t> queue = {start};
  while (!queue.empty()) {
    const std::size_t at = queue.front();
    queue.pop_front();
    for (std::size_t next : edges[at]) {
      if (!stuck[next] || from.contains(next)) continue;
      from[next] = at;
      if (next != start) {
        queue.push_back(next);
        continue;
      }
      std::vector<std::size_t> cycle = {at};
      while (cycle.back() != start) cycle.push_back(from[cycle.back()]);
      std::reverse(cycle.begin(), cycle.end());
      return cycle;
    }
  }
  return {};
}

std::vector<AgentOrdinal> CouldHave(const Condition& condition, absl::Span<const LiveAgent> live,
                                    std::int64_t started) {
  constexpr std::int64_t kLook = 4096;
  constexpr std::size_t kKeep = 4;
  std::vector<AgentOrdinal> found;
  std::size_t next = 0;
  for (std::int64_t n = 0; n < std::min(started, kLook) && found.size() < kKeep; ++n) {
    const AgentOrdinal id{static_cast<std::int32_t>(n)};
    while (next < live.size() && live[next].id < id) ++next;
    const bool is_live = next < live.size() && live[next].id == id;
    if (!is_live && condition.MaySignal(id)) found.push_back(id);
  }
  return found;
}

const Wait& WaitOf(const Deadlock& deadlock, AgentOrdinal id) {
  return *std::find_if(deadlock.waits.begin(), deadlock.waits.end(), [&](const Wait& w) { return w.agent == id; });
}

}  // namespace

Deadlock FindDeadlock(absl::Span<const LiveAgent> agents, std::int64_t started) {
  const Edges edges = EdgesOf(agents);
  const std::vector<bool> stuck = Stuck(agents, edges);
  const Edges blame = BlameOf(agents, edges);
  Deadlock deadlock;
  std::vector<std::size_t> shortest;
  for (std::size_t i = 0; i < agents.size(); ++i) {
    if (!stuck[i]) {
      deadlock.partial = true;
      continue;
    }
    const LiveAgent& agent = agents[i];
    Wait wait{.agent = agent.id,
              .agent_name = agent.name,
              .what = agent.operation->waits_for->Describe(),
              .may_signal = {},
              .could_have = {},
              .could_have_names = {},
              .holder = agent.operation->waits_for->Holder(),
              .loc = agent.operation->loc,
              .text_line = agent.operation->text_line};
    for (std::size_t k : blame[i]) wait.may_signal.push_back(agents[k].id);
    if (!wait.holder.has_value()) wait.could_have = CouldHave(*agent.operation->waits_for, agents, started);
    for (const AgentOrdinal id : wait.could_have) {
      const std::string name = agent.operation->waits_for->NameOf(id);
      wait.could_have_names.push_back(name.empty() ? Cat("agent ", id.value) : name);
    }
    if (blame[i].empty()) deadlock.orphans.push_back(agent.id);
    deadlock.waits.push_back(std::move(wait));
    const std::vector<std::size_t> cycle = ShortestCycle(i, blame, stuck);
    if (!cycle.empty() && (shortest.empty() || cycle.size() < shortest.size())) shortest = cycle;
  }
  for (std::size_t i : shortest) deadlock.cycle.push_back(agents[i].id);
  if (deadlock.waits.empty()) deadlock.partial = false;
  return deadlock;
}

const Wait& FirstToReport(const Deadlock& deadlock) {
  if (!deadlock.cycle.empty()) return WaitOf(deadlock, deadlock.cycle[0]);
  return deadlock.orphans.empty() ? deadlock.waits.front() : WaitOf(deadlock, deadlock.orphans[0]);
}

std::string Describe(const Deadlock& deadlock) {
  constexpr std::size_t kMaxWaits = 8;
  std::string text;
  std::size_t shown = 0;
  const auto show = [&](const Wait& wait) {
    if (++shown > kMaxWaits) return;
    Append(&text, text.empty() ? "" : "; ", wait.agent_name, " waits for ", wait.what);
    if (!wait.may_signal.empty()) return;
    if (wait.holder.has_value()) {
      if (wait.holder->valid()) Append(&text, ", and that one has ended");
      return;
    }
    Append(&text, ", which no agent that is left can signal");
    for (std::size_t i = 0; i < wait.could_have_names.size(); ++i)
      Append(&text, i == 0 ? " (done without it: " : ", ", wait.could_have_names[i]);
    if (!wait.could_have_names.empty()) Append(&text, ")");
  };
  for (AgentOrdinal id : deadlock.cycle) show(WaitOf(deadlock, id));
  if (deadlock.cycle.size() == 1) Append(&text, "; no other agent can go on to change that");
  const bool one_each = std::all_of(deadlock.cycle.begin(), deadlock.cycle.end(),
                                    [&](AgentOrdinal id) { return WaitOf(deadlock, id).may_signal.size() == 1; });
  if (deadlock.cycle.size() > 1) {
    Append(&text, one_each ? "; each can only be woken by the next, and the last by the first"
                           : "; the agents that can wake them are stuck too");
  }
  if (deadlock.cycle.empty()) {
    for (AgentOrdinal id : deadlock.orphans) show(WaitOf(deadlock, id));
  }
  const std::size_t all = deadlock.waits.size();
  if (all > std::min(shown, kMaxWaits)) Append(&text, "; ", all, " are stuck in all");
  if (deadlock.partial) Append(&text, "; others can still go");
  return text;
}

}  // namespace palladion::scheduler
