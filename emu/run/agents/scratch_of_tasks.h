// Scratch is private to a core or block: what programs of another index along a parallel dimension left there is
// undefined for the next, and what programs of the same index left stays; conflicts with other tasks are found in
// emu/run/launch/input_blocks.h, with both accesses. This marks the memory undefined where such an index changes; the
// bytes stay, so results are those of one core.
#ifndef PALLADION_EMU_RUN_AGENTS_SCRATCH_OF_TASKS_H_
#define PALLADION_EMU_RUN_AGENTS_SCRATCH_OF_TASKS_H_

#include <cstdint>
#include <functional>
#include <map>
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

  memory_model::EventSet wants() const override { return {memory_model::EventKind::kTurn}; }
  void Running(const RunningAgent& now) override;

 private:
  using Runs = std::vector<std::pair<std::int64_t, std::int64_t>>;  // of elements, the last one not
  struct Watched {
    BufferId id;
    std::int64_t elements = 0;
    std::map<std::uint32_t, Runs> defined;  // by task, when it was left; of tasks that go on after others
  };
  void Watch();
  void HandOver(Watched& watched, std::uint32_t from, std::uint32_t to);
  Runs DefinedIn(const Watched& watched) const;

  memory_model::TaskClock clock_;
  memory_model::Memory& memory_;
  const std::function<std::vector<BufferId>()> scratch_;
  std::vector<Watched> watched_;
};

}  // namespace palladion::agents

#endif  // PALLADION_EMU_RUN_AGENTS_SCRATCH_OF_TASKS_H_
