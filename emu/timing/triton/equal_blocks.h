// Whether one wave of a Triton kernel's blocks stands for others: blocks in the middle of a large grid that need not be
// timed one by one, for they take the same steps, and ask the memories for the same. Based on: no condition of a branch
// or a loop differs between blocks or comes from memory, so all take the same steps; a run of all blocks in their order
// without a clock says what each finds in an L2 of the chip's size, and that the middle asks for as much, and misses as
// much, as the waves before it that are timed. Limits: kernels whose values are left out, without atomics; an order of
// requests within a wave other than that of the blocks.
#ifndef PALLADION_EMU_TIMING_TRITON_EQUAL_BLOCKS_H_
#define PALLADION_EMU_TIMING_TRITON_EQUAL_BLOCKS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/run/agents/launch_options.h"
#include "emu/run/events.h"
#include "emu/timing/gpu/costs.h"
#include "emu/timing/gpu/l2_cache.h"
#include "emu/timing/gpu/operand_arrays.h"
#include "emu/timing/gpu/sector_lines.h"

namespace palladion::timing::triton {

// By how much of it a time with blocks left out may differ from the whole one
// (emu/timing/triton/equal_blocks_test.cc, python/tests/test_equal_blocks.py).
inline constexpr double kEqualBlocksMiss = 0.06;

// Blocks by their number in the grid's order.
struct EqualBlocks {
  std::int64_t like = 0;              // from here on, until `first`, blocks are timed that stand for those left out
  std::int64_t first = 0, count = 0;  // that are left out
  double missed = 0;                  // sectors that these do not find in L2
};

// No branch and no loop of the text goes by a value that differs between blocks, or that is loaded.
bool BlocksTakeTheSameSteps(const Kernel& kernel);

// What one block asks for, in sectors.
struct BlockTraffic {
  std::int64_t read = 0, missed = 0, written = 0;
};

// Watches a run of blocks one after another.
class TrafficOfBlocks final : public run::Watcher {
 public:
  explicit TrafficOfBlocks(const gpu::GpuCosts& costs);

  const std::vector<BlockTraffic>& blocks() const { return blocks_; }  // those that touched any memory

  memory_model::EventSet wants() const override { return {memory_model::EventKind::kAccess}; }
  void Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override;
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;

 private:
  void Touch(const Who& who, AccessKind kind, const gpu::Touched& touched);

  gpu::L2Cache cache_;
  gpu::OperandArrays arrays_;
  std::vector<BlockTraffic> blocks_;
  std::int32_t agent_ = -1;
};

// `room`: blocks that the chip holds at once. Nothing: each block is timed.
std::optional<EqualBlocks> FindEqualBlocks(const std::vector<BlockTraffic>& blocks, std::int64_t room);

// The same of a launch, whose kernel has no values and no atomics; `options`: of a timed run, with no observer yet.
// Nothing also where that run finds something.
absl::StatusOr<std::optional<EqualBlocks>> EqualBlocksOf(const agents::LaunchCall& call,
                                                         const agents::LaunchOptions& options,
                                                         const gpu::GpuCosts& costs, std::int64_t room);

}  // namespace palladion::timing::triton

#endif  // PALLADION_EMU_TIMING_TRITON_EQUAL_BLOCKS_H_
