// A policy's state for each running agent. Slots are reused, so an entry stores its agent.
#ifndef PALLADION_SCHEDULER_POLICIES_SLOT_TABLE_H_
#define PALLADION_SCHEDULER_POLICIES_SLOT_TABLE_H_

#include <vector>

#include "scheduler/policy.h"

namespace palladion::scheduler {

template <class T>
class SlotTable {
 public:
  // The agent's entry; made anew by `make` for an agent that has none yet.
  template <class Make>
  T& Of(const Candidate& candidate, Make make) {
    if (candidate.slot >= entries_.size()) entries_.resize(candidate.slot + 1);
    Entry& entry = entries_[candidate.slot];
    if (entry.id != candidate.id) entry = {candidate.id, make()};
    return entry.value;
  }

  // For an agent that has one.
  T& Of(const Candidate& candidate) { return entries_[candidate.slot].value; }

  // nullptr when it has none.
  T* Find(AgentOrdinal id) {
    for (Entry& entry : entries_) {
      if (entry.id == id) return &entry.value;
    }
    return nullptr;
  }

 private:
  struct Entry {
    AgentOrdinal id;
    T value{};
  };
  std::vector<Entry> entries_;
};

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_POLICIES_SLOT_TABLE_H_
