// The critical path of a run: from the agent that ended last back through the operations that ended each of its waits,
// to the start. It is notified of every advance of an agent's time, and keeps a path for each agent. Paths share their
// common prefix; a stretch that only one path has is reduced to sums, so memory is bounded by the number of agents, not
// by the length of a run. Limits: where two ended at once, the path of one of them; what made an engine's operation
// long is not broken down.
#ifndef PALLADION_EMU_TIMING_BASE_CRITICAL_PATH_H_
#define PALLADION_EMU_TIMING_BASE_CRITICAL_PATH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "scheduler/virtual_clock.h"

namespace palladion::timing::base {

class CriticalPath final : public scheduler::ClockListener {
 public:
  using Ticks = scheduler::Ticks;
  using Agent = scheduler::AgentOrdinal;

  // `enough`: so many parts are not yet made fewer.
  explicit CriticalPath(std::size_t enough = 65536) : enough_(enough), limit_(enough) {}

  // ---- Of the clock.
  void Entered(Agent agent, Agent by) override;
  void Spent(Agent agent, Ticks time, scheduler::Spending at) override;
  void Began(Agent agent) override;
  void Followed(Agent agent, Agent by) override;
  void Left(Agent agent, Ticks time) override;

  // ---- Of a place that one agent leaves to another.
  class Held {
   private:
    friend class CriticalPath;
    std::int32_t part = -1;
  };
  Held Hold(Agent agent);  // the path to where it is
  Held Copy(const Held& held);
  void Release(Held& held);  // not needed any more
  void StartFrom(Agent agent, const Held& held);

  struct Stretch {
    scheduler::Spending at;
    Ticks time;
  };
  // Of the one that left last: what it went to, in a fixed order. The times add up to when that was.
  std::vector<Stretch> Longest() const;

  std::size_t parts() const { return parts_.size() - free_.size(); }  // that are kept

 private:
  static constexpr std::int32_t kNone = -1;
  using Sums = absl::flat_hash_map<std::int64_t, std::int64_t>;  // ticks, by KeyOf; only summed up
  struct Part {
    std::int64_t key = 0;
    Ticks time;
    std::int32_t before = kNone, used_by = 0;  // paths and parts that go on from it; 0: free
    std::unique_ptr<Sums> more;                // of the same stretch
  };
  struct AgentPath {
    std::int32_t now = kNone, began = kNone;  // began: of its last operation
  };

  static std::int64_t KeyOf(scheduler::Spending at) {
    return std::int64_t{at.what} << 9 | std::int64_t{at.how} << 1 | std::int64_t{at.appointed};
  }
  static scheduler::Spending SpendingOf(std::int64_t key) {
    return {.what = static_cast<std::int32_t>(key >> 9),
            .how = static_cast<std::uint8_t>(key >> 1 & 0xff),
            .appointed = (key & 1) != 0};
  }
  Part& At(std::int32_t part) { return parts_[static_cast<std::size_t>(part)]; }
  const Part& At(std::int32_t part) const { return parts_[static_cast<std::size_t>(part)]; }
  std::int32_t Use(std::int32_t part);
  void Drop(std::int32_t part);
  std::int32_t NewPart();
  void MakeFewer();
  void TakeIn(Part& into, std::int32_t part);

  const std::size_t enough_;
  std::size_t limit_;
  std::vector<Part> parts_;
  std::vector<std::int32_t> free_;
  absl::flat_hash_map<std::int32_t, AgentPath> ways_;  // by agent; only looked up
  std::int32_t last_ = kNone;
  Ticks ended_{-1};
};

}  // namespace palladion::timing::base

#endif  // PALLADION_EMU_TIMING_BASE_CRITICAL_PATH_H_
