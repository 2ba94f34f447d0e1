// The named barriers of each block of a launch, made when somebody first comes to one. Based on bar.sync and bar.arrive
// of PTX. Limits: that numbers and counts are right is the operation's to say.
#ifndef PALLADION_EMU_RUN_THREADS_NAMED_BARRIERS_H_
#define PALLADION_EMU_RUN_THREADS_NAMED_BARRIERS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "emu/run/threads/machine_base.h"
#include "memory_model/sync/named_barrier.h"
#include "semantics/port/sync.h"

namespace palladion::threads {

class NamedBarriers {
 public:
  explicit NamedBarriers(const MachineBase& base) : base_(base) {}

  void Arrive(AgentId agent, const NamedArrival& arrival, const Site& site);
  bool CanWait(AgentId agent, std::int64_t number) const;
  void Wait(AgentId agent, std::int64_t number);
  std::string DescribeWait(AgentId agent, std::int64_t number) const;
  std::int64_t ObjectOf(AgentId agent, std::int64_t number) const;  // of schedules

  void BlockEnds(BlockId block);

 private:
  using Key = std::pair<BlockId, std::int64_t>;
  Key KeyOf(AgentId agent, std::int64_t number) const { return {base_.residents.Of(agent).block, number}; }
  void Report(Finding finding) const;

  const MachineBase base_;
  std::map<Key, memory_model::NamedBarrier> barriers_;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_NAMED_BARRIERS_H_
