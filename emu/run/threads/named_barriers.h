// The named barriers of each block of a launch, made when somebody first comes to one. Based on bar.sync and bar.arrive
// of PTX. Limits: that numbers and counts are right is the operation's to say.
#ifndef PALLADION_EMU_RUN_THREADS_NAMED_BARRIERS_H_
#define PALLADION_EMU_RUN_THREADS_NAMED_BARRIERS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "emu/run/threads/machine_base.h"
#include "emu/run/threads/waitable.h"
#include "memory_model/sync/named_barrier.h"
#include "semantics/port/sync.h"

namespace palladion::threads {

class NamedBarriers final : public Waitable {
 public:
  explicit NamedBarriers(const MachineBase& base) : base_(base) {}

  void Arrive(AgentId agent, const NamedArrival& arrival, const Site& site);
  std::int64_t ObjectOf(AgentId agent, std::int64_t number) const;  // of schedules

  bool CanWait(AgentId agent, const WaitTarget& target) const override;
  void Wait(AgentId agent, const WaitTarget& target, const Site& site) override;
  std::string Describe(AgentId agent, const WaitTarget& target) const override;
  std::int64_t Object(AgentId agent, const WaitTarget& target) const override { return ObjectOf(agent, target.value); }
  void Retire(BlockId block) override;
  std::optional<bool> ThreadMaySignal(AgentId waiter, const Other& other) const override {
    return base_.residents.IsOf(waiter, other.index);
  }

 private:
  using Key = std::pair<BlockId, std::int64_t>;
  Key KeyOf(AgentId agent, std::int64_t number) const { return {base_.residents.Of(agent).block, number}; }
  void Report(Finding finding) const;

  const MachineBase base_;
  std::map<Key, memory_model::NamedBarrier> barriers_;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_NAMED_BARRIERS_H_
