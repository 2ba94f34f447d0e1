#include "emu/timing/base/critical_path.h"

#include <algorithm>
#include <map>
#include <utility>

namespace palladion::timing::base {

using scheduler::Spending;
using scheduler::Ticks;

std::int32_t CriticalPath::Use(std::int32_t part) {
  if (part != kNone) ++At(part).used_by;
  return part;
}

void CriticalPath::Drop(std::int32_t part) {
  while (part != kNone && --At(part).used_by == 0) {
    const std::int32_t before = At(part).before;
    At(part) = {};
    free_.push_back(part);
    part = before;
  }
}

std::int32_t CriticalPath::NewPart() {
  if (free_.empty()) {
    parts_.emplace_back();
    return static_cast<std::int32_t>(parts_.size()) - 1;
  }
  const std::int32_t part = free_.back();
  free_.pop_back();
  return part;
}

// ---- agents

void CriticalPath::Entered(Agent agent, Agent by) {
  const std::int32_t from = by.valid() ? Use(ways_.at(by.value).now) : kNone;
  ways_[agent.value] = {.now = from};
}

void CriticalPath::Spent(Agent agent, Ticks time, Spending at) {
  if (time.value <= 0) return;
  if (parts() >= limit_) MakeFewer();
  AgentPath& way = ways_.at(agent.value);
  const std::int64_t key = KeyOf(at);
  if (way.now != kNone && At(way.now).used_by == 1 && At(way.now).key == key) {
    At(way.now).time = At(way.now).time + time;
    return;
  }
  const std::int32_t part = NewPart();
  At(part) = {.key = key, .time = time, .before = way.now, .used_by = 1, .more = nullptr};
  way.now = part;
}

void CriticalPath::Began(Agent agent) {
  AgentPath& way = ways_.at(agent.value);
  if (way.began == way.now) return;
  Drop(std::exchange(way.began, Use(way.now)));
}

void CriticalPath::Followed(Agent agent, Agent by) {
  const std::int32_t from = Use(ways_.at(by.value).began);
  Drop(std::exchange(ways_.at(agent.value).now, from));
}

void CriticalPath::Left(Agent agent, Ticks time) {
  const auto way = ways_.find(agent.value);
  if (time > ended_) {
    ended_ = time;
    Drop(std::exchange(last_, Use(way->second.now)));
  }
  Drop(way->second.now);
  Drop(way->second.began);
  ways_.erase(way);
}

// ---- places

CriticalPath::Held CriticalPath::Hold(Agent agent) {
  Held held;
  held.part = Use(ways_.at(agent.value).now);
  return held;
}

CriticalPath::Held CriticalPath::Copy(const Held& held) {
  Held copy;
  copy.part = Use(held.part);
  return copy;
}

void CriticalPath::Release(Held& held) { Drop(std::exchange(held.part, kNone)); }

void CriticalPath::StartFrom(Agent agent, const Held& held) {
  Drop(std::exchange(ways_.at(agent.value).now, Use(held.part)));
}

// ---- what is kept

void CriticalPath::TakeIn(Part& into, std::int32_t part) {
  if (into.more == nullptr) into.more = std::make_unique<Sums>();
  Part& from = At(part);
  (*into.more)[from.key] += from.time.value;
  if (from.more != nullptr) {
    for (const auto& [key, time] : *from.more) (*into.more)[key] += time;
  }
  into.before = from.before;
  from = {};
  free_.push_back(part);
}

// A part from which only one other goes on becomes part of that.
void CriticalPath::MakeFewer() {
  std::vector<bool> within(parts_.size());
  for (const Part& part : parts_) {
    if (part.used_by > 0 && part.before != kNone && At(part.before).used_by == 1)
      within[static_cast<std::size_t>(part.before)] = true;
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    if (part.used_by == 0 || within[i]) continue;
    while (part.before != kNone && At(part.before).used_by == 1) TakeIn(part, part.before);
  }
  limit_ = std::max(enough_, 2 * parts());
}

std::vector<CriticalPath::Stretch> CriticalPath::Longest() const {
  std::map<std::int64_t, std::int64_t> sums;
  for (std::int32_t part = last_; part != kNone; part = At(part).before) {
    sums[At(part).key] += At(part).time.value;
    if (At(part).more == nullptr) continue;
    for (const auto& [key, time] : *At(part).more) sums[key] += time;
  }
  std::vector<Stretch> stretches;
  for (const auto& [key, time] : sums) stretches.push_back({.at = SpendingOf(key), .time = {time}});
  return stretches;
}

}  // namespace palladion::timing::base
