// Scratch is a core's or a block's own: what programs of another index along a parallel dimension left there is
// undefined for the next, and what a program's own index left stays, as long as nobody else writes there. Tells memory
// so where such an index changes; the bytes stay, so results are those of one core.
#ifndef PALLADION_EMU_AGENTS_SCRATCH_OF_TASKS_H_
#define PALLADION_EMU_AGENTS_SCRATCH_OF_TASKS_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "memory_model/bytes/memory.h"
#include "memory_model/sweep/sweep.h"

namespace palladion::agents {

class ScratchOfTasks final : public memory_model::MemoryWatcher {
 public:
  // `scratch` says which buffers these are, once the first program has begun: the core makes them before that.
  ScratchOfTasks(std::vector<memory_model::TaskDim> dims, memory_model::Memory& memory,
                 std::function<std::vector<BufferId>()> scratch)
      : clock_(std::move(dims)), memory_(memory), scratch_(std::move(scratch)) {}

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kTurn, memory_model::EventKind::kAccess};
  }
  void Running(const RunningAgent& now) override;
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;

 private:
  struct Element {
    std::uint32_t writer = 0;  // the task that wrote it last; 0: nobody has
    bool defined = false;      // when that task was left
  };
  struct Watched {
    BufferId id;
    std::vector<Element> elements;  // empty: no task goes on after another one
  };
  void Watch();
  void HandOver(Watched& watched, std::uint32_t from, std::uint32_t to);
  Watched* Find(BufferId buffer);

  memory_model::TaskClock clock_;
  memory_model::Memory& memory_;
  const std::function<std::vector<BufferId>()> scratch_;
  std::vector<Watched> watched_;
};

}  // namespace palladion::agents

#endif  // PALLADION_EMU_AGENTS_SCRATCH_OF_TASKS_H_
