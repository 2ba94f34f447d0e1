#include "scheduler/search/trace.h"

#include <algorithm>
#include <utility>

namespace palladion::scheduler {

// ---- agents

void Trace::AddAgent(AgentOrdinal ordinal, bool spawned) {
  const Tracked parent = spawned ? events_.back().action.agent : -1;
  const std::int64_t child = spawned ? agents_[static_cast<std::size_t>(parent)].children++ : begun_++;
  const auto [at, added] = numbers_.try_emplace({parent, child}, static_cast<Tracked>(agents_.size()));
  if (added) agents_.emplace_back();
  agents_[static_cast<std::size_t>(at->second)] = {
      .ordinal = ordinal, .born = static_cast<std::int32_t>(events_.size()) - 1, .parent = parent};
  agent_of_.push_back(at->second);
}

// They are the source's: no agent that another one has made ends before its first operation.
void Trace::SkipAgents(std::int64_t started) {
  for (; this->started() < started; ++begun_) agent_of_.push_back(-1);
}

// ---- happens-before

void Trace::Join(Clock& clock, const Clock& other) {
  if (clock.size() < other.size()) clock.resize(other.size(), 0);
  for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

Trace::Clock Trace::ClockBefore(Tracked agent) const {
  const Agent& mine = agents_[static_cast<std::size_t>(agent)];
  const std::int32_t from = std::max(mine.last, mine.born);
  return from < 0 ? Clock() : events_[static_cast<std::size_t>(from)].knows;
}

// A wait for a count that the earlier operation found too small cannot go before it.
bool Trace::MayBeFirst(const Event& earlier, const Action& action) {
  if (!action.need.has_value()) return true;
  const std::optional<std::int64_t> held = earlier.action.touches.HeldBefore(action.need->object);
  return !held.has_value() || *held >= action.need->at_least;
}

// ---- races

// What `agent` needs to have been done, of what came after the earlier operation, which is none of it: one of those who
// begin that goes on first.
Reversal Trace::Reverse(std::size_t earlier, Tracked agent, const Clock& needed) const {
  std::vector<std::size_t> between;
  Reversal reversal{.at = earlier, .initials = {}};
  for (std::size_t i = earlier + 1; i < events_.size(); ++i) {
    if (!Knows(needed, i)) continue;
    const Clock& knows = events_[i].closed;
    const bool follows =
        std::any_of(between.begin(), between.end(), [&](std::size_t before) { return Knows(knows, before); });
    if (!follows) reversal.initials.push_back(events_[i].action.agent);
    between.push_back(i);
  }
  if (between.empty()) reversal.initials.push_back(agent);
  return reversal;
}

std::vector<Reversal> Trace::Add(Action action) {
  const Clock past = ClockBefore(action.agent);
  Clock knows = past, closed = past;
  std::vector<Reversal> races;
  for (std::size_t i = events_.size(); i-- > 0;) {
    if (Knows(past, i)) continue;
    const Event& earlier = events_[i];
    const Touches& before = earlier.action.touches;
    const bool itself = action.touches.ConflictsItself(before);
    if (!itself && !action.touches.Conflicts(before)) {
      if (action.touches.Closes(before)) Join(closed, earlier.closed);
      continue;
    }
    const Clock& mine = itself ? knows : closed;
    const bool known = Knows(mine, i);
    if ((!known || action.waits) && MayBeFirst(earlier, action))
      races.push_back(Reverse(i, action.agent, known ? past : mine));
    // What is ordered after what has been closed alone, is ordered after all of that.
    const Clock& then = before.ConflictsItself(action.touches) ? earlier.knows : earlier.closed;
    if (itself) Join(knows, then);
    Join(closed, then);
  }
  Agent& mine = agents_[static_cast<std::size_t>(action.agent)];
  const auto at = static_cast<std::size_t>(action.agent);
  for (Clock* const clock : {&knows, &closed}) {
    if (clock->size() <= at) clock->resize(at + 1, 0);
    (*clock)[at] = static_cast<std::int32_t>(events_.size()) + 1;
  }
  const std::int32_t previous = std::exchange(mine.last, static_cast<std::int32_t>(events_.size()));
  events_.push_back({.action = std::move(action),
                     .knows = std::move(knows),
                     .closed = std::move(closed),
                     .previous = previous,
                     .agents_before = agent_of_.size(),
                     .begun_before = begun_});
  return races;
}

std::vector<Reversal> Trace::RacesOfWaiting(const Action& action) const {
  const Clock past = ClockBefore(action.agent);
  std::vector<Reversal> races;
  for (std::size_t i = events_.size(); i-- > 0;) {
    const Event& event = events_[i];
    if (Knows(past, i) || !event.action.touches.Conflicts(action.touches) || !MayBeFirst(event, action)) continue;
    races.push_back(Reverse(i, action.agent, past));
  }
  return races;
}

void Trace::Pop() {
  const Event& event = events_.back();
  for (std::size_t i = event.agents_before; i < agent_of_.size(); ++i) {
    if (agent_of_[i] < 0) continue;
    const Tracked parent = agents_[static_cast<std::size_t>(agent_of_[i])].parent;
    if (parent >= 0) --agents_[static_cast<std::size_t>(parent)].children;
  }
  agent_of_.resize(event.agents_before);
  begun_ = event.begun_before;
  agents_[static_cast<std::size_t>(event.action.agent)].last = event.previous;
  events_.pop_back();
}

}  // namespace palladion::scheduler
