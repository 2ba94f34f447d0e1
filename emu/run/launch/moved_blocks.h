// Blocks that are whole operands, as scalar prefetch has them, in a launch that moves nothing else
// (LaunchOptions::moves_nothing): their own memory moves, and holds what their arrays do from the first fetch on. An
// observer of the launch, since it is steps that allocate and fetch them, with engines or without.
#ifndef PALLADION_EMU_RUN_LAUNCH_MOVED_BLOCKS_H_
#define PALLADION_EMU_RUN_LAUNCH_MOVED_BLOCKS_H_

#include <set>
#include <utility>
#include <vector>

#include "emu/run/events.h"

namespace palladion::launch {

class MovedBlocks final : public run::Watcher {
 public:
  // By operand. Others than blocks that CanHold are nothing to it.
  explicit MovedBlocks(std::vector<bool> moved) : moved_(std::move(moved)) {}

  // Is it a whole array that one step fetches?
  static bool CanHold(const Program& program, std::size_t operand);

  run::EventSet wants() const override { return {run::EventKind::kStep}; }
  void Bound(memory_model::Memory& memory, absl::Span<const BufferId>) override { memory_ = &memory; }
  void Before(const Step& step, Frame& frame) override;
  void After(const Step& step, Frame& frame) override;

 private:
  const OperandInfo* BlockOf(const Step& step, const Frame& frame) const;

  const std::vector<bool> moved_;
  memory_model::Memory* memory_ = nullptr;
  std::set<std::int32_t> empty_;  // allocated, and not fetched yet
};

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_MOVED_BLOCKS_H_
