// Scratch is a core's or a block's own: what programs of another index along a parallel dimension left there is
// undefined for the next. Tells memory so where such an index changes; the bytes stay, so results are those of one
// core.
#ifndef PALLADION_EMU_AGENTS_SCRATCH_OF_TASKS_H_
#define PALLADION_EMU_AGENTS_SCRATCH_OF_TASKS_H_

#include <utility>
#include <vector>

#include "memory_model/bytes/memory.h"
#include "memory_model/sweep/sweep.h"

namespace palladion::agents {

class ScratchOfTasks final : public memory_model::AccessObserver {
 public:
  ScratchOfTasks(std::vector<memory_model::TaskDim> dims, memory_model::Memory& memory, std::vector<BufferId> scratch)
      : clock_(std::move(dims)), memory_(memory), scratch_(std::move(scratch)) {}

  void Running(const RunningAgent& now) override {
    if (!now.begins || !clock_.Begin(now.index) || clock_.begun() == 1) return;
    for (const BufferId buffer : scratch_) memory_.SetUndefined(buffer);
  }
  void Box(AccessKind, const BoxAccess&, const memory_model::BoxReach&, const std::byte*) override {}
  void Points(AccessKind, const PointAccess&, const std::byte*) override {}

 private:
  memory_model::TaskClock clock_;
  memory_model::Memory& memory_;
  std::vector<BufferId> scratch_;
};

}  // namespace palladion::agents

#endif  // PALLADION_EMU_AGENTS_SCRATCH_OF_TASKS_H_
