// The time of a Triton kernel as it runs: each operation (plan.h) is scheduled on the units of its block's SM
// (emu/timing/gpu/chip.h), and the block's time advances. It watches a launch whose policy is the timed one
// (scheduler/virtual_clock.h) and changes nothing of what the launch does. Based on: a block is one thread of control,
// whose warps go along together; instructions are issued in the text's order, and wait for an operand where they first
// need it (a scoreboard), not where it is loaded; loads that Triton fetches ahead (values.h) are requested as many
// iterations earlier as there are stages for, when that iteration began, and never before the loop. Limits: warps of a
// block that drift apart; a compiler that hoists loads over what needs earlier ones.
#ifndef PALLADION_EMU_TIMING_TRITON_TIMER_H_
#define PALLADION_EMU_TIMING_TRITON_TIMER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/events.h"
#include "emu/timing/base/critical_path.h"
#include "emu/timing/gpu/block_places.h"
#include "emu/timing/gpu/chip.h"
#include "emu/timing/gpu/l1_cache.h"
#include "emu/timing/gpu/operand_arrays.h"
#include "emu/timing/gpu/sector_lines.h"
#include "emu/timing/gpu/spent.h"
#include "emu/timing/gpu/stalls.h"
#include "emu/timing/triton/equal_blocks.h"
#include "emu/timing/triton/plan.h"
#include "emu/timing/triton/timeline.h"
#include "emu/timing/triton/totals.h"
#include "semantics/program/mark.h"

namespace palladion::timing::triton {

class TritonTimer final : public run::Watcher {
 public:
  struct On {
    gpu::BlockPlaces::Room room;
    std::int64_t l1_lines = 0;  // of an SM, beside the shared memory of its blocks
    EqualBlocks equal = {};     // that are not run; count 0: all are
  };
  // All outlive it. Unimplemented: an operation of the kernel has no cost.
  static absl::StatusOr<std::unique_ptr<TritonTimer>> Create(const kernel::PreparedKernelState& kernel,
                                                             const TritonCosts& costs, const On& on);

  // Both outlive it; before the run, and after it.
  void RecordTo(timeline::TimelineRecorder& recorder, const timeline::TimelineOptions& shown);
  scheduler::Ticks EndRecording();  // how long the timeline is

  scheduler::VirtualClock& clock() { return clock_; }
  const scheduler::VirtualClock& clock() const { return clock_; }
  const gpu::GpuChip& chip() const { return chip_; }
  const base::CriticalPath& path() const { return path_; }  // `how`: 0, or 1 + its Stall
  const gpu::BlockPlaces& places() const { return places_; }
  const std::vector<TritonPlan>& plans() const { return plans_; }  // in the text's order
  // When the run is over; of all blocks.
  TritonTotals Totals() const;
  const EqualBlocks& equal() const { return equal_; }
  // Blocks that stand for others began at the same pace, or there are none.
  bool Steady() const;
  scheduler::Ticks atomics() const;  // of the address with the most of them

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kStep, memory_model::EventKind::kAccess};
  }
  void Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override;
  void Before(const Step& step, Frame& frame) override;
  void After(const Step& step, Frame& frame) override;
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;

 private:
  static constexpr std::int32_t kNone = scheduler::VirtualClock::kNone;
  // When a value is there, and what it is waited for as.
  struct Ready {
    scheduler::Ticks at;
    std::int32_t by = kNone;  // in plans_
    gpu::Stall as = gpu::Stall::kOther;
    bool staged = false;  // it is in shared memory, too
  };
  struct Loop {
    const Instr* instr = nullptr;
    std::vector<scheduler::Ticks> begins;  // of the loop, then of its iterations
    std::vector<Ready> carried;            // into the next iteration, or out of the loop
  };
  struct Block {
    std::int64_t sm = 0, first_quadrant = 0;
    std::int32_t place = TritonTimeline::kNoPlace;          // in the timeline
    scheduler::Ticks done;                                  // all that it has requested without waiting
    std::int32_t done_by = kNone;                           // in plans_
    std::vector<Ready> ready;                               // by value
    std::vector<Loop> loops;                                // and other operations with regions, the innermost last
    absl::flat_hash_map<std::int32_t, Ready> last_product;  // by plan: of the iteration before
  };

  struct Planned {
    std::vector<TritonPlan> plans;
    std::vector<std::int32_t> of_step;
    std::int64_t warps = 0;
  };
  TritonTimer(const kernel::PreparedKernelState& kernel, const TritonCosts& costs, const On& on, Planned planned);
  Block& BlockOf(const Frame& frame);
  void NoteBegin(scheduler::Ticks at);
  TritonTotals TotalsAt(scheduler::Ticks at) const;
  // Ticks from one block to the next: from one of `beginnings_` to a later one.
  double PaceOf(std::size_t sooner, std::size_t later) const;
  void EndBlock(const Frame& frame);
  void Pass(const Mark& mark);
  void Enter(const Mark& mark);
  void Leave(const Mark& mark);
  void Finish(const TritonPlan& plan);
  void Reduce(const TritonPlan& plan);
  void Multiply(const TritonPlan& plan);
  void PlaceOperands(const TritonPlan& plan);
  void Fetch(const TritonPlan& plan, const gpu::Touched& touched, std::int64_t element_bytes);
  scheduler::Ticks Load(absl::Span<const gpu::SectorLine> lines, scheduler::Ticks at);
  scheduler::Ticks Copy(absl::Span<const gpu::SectorLine> lines, scheduler::Ticks at);
  void Store(const gpu::Touched& touched);
  void Update(const TritonPlan& plan, const gpu::Touched& touched, std::int64_t element_bytes);
  void Touch(AccessKind kind, const gpu::Touched& touched, std::int64_t element_bytes);
  void IssueAccess(const gpu::Touched& touched, std::int64_t element_bytes);
  scheduler::Ticks RequestedAt(const TritonPlan& plan) const;

  // ---- the timeline
  bool Shown() const { return timeline_.has_value() && block_->place != TritonTimeline::kNoPlace; }
  TritonTimeline::When Here(scheduler::Ticks begin, scheduler::Ticks end) const {
    return {.place = block_->place, .plan = now_, .begin = begin, .end = end};
  }
  void ShowBlock(const Frame& frame, Block& block, scheduler::Ticks launched);
  void ShowLoad(const TritonPlan& of, const Ready& ready, scheduler::Ticks at, const gpu::GpuChip::Traffic& before,
                std::int64_t array);
  void ShowProduct(const TritonPlan& of, scheduler::Ticks began, scheduler::Ticks result);

  // ---- the running block's time
  const TritonPlan& plan() const { return plans_[static_cast<std::size_t>(now_)]; }
  void Await(const Ready& ready);
  void Work(const gpu::Burst& burst);
  void Exchange(std::int64_t bytes);
  void Meet();
  void Charge(scheduler::Ticks time);
  void Stalled(gpu::Stall stall, scheduler::Ticks time, std::int32_t by = kNone);
  void DoneBy(scheduler::Ticks when);
  void Make(const Ready& ready);  // the results of the instruction
  Ready ReadyOf(const Arg& arg) const;
  Ready& At(ValueId value) { return block_->ready[value.index()]; }

  const kernel::PreparedKernelState& kernel_;
  const TritonCosts& costs_;
  const gpu::SectorSizes sectors_;
  gpu::GpuChip chip_;
  std::vector<gpu::L1Cache> l1_;  // by SM
  scheduler::VirtualClock clock_;
  base::CriticalPath path_;
  gpu::BlockPlaces places_;
  const std::vector<TritonPlan> plans_;
  const std::vector<std::int32_t> of_step_;
  const std::int64_t warps_;
  std::vector<gpu::Spent> spent_;
  const EqualBlocks equal_;
  std::int64_t begun_ = 0;                      // blocks
  std::array<scheduler::Ticks, 3> beginnings_;  // sums, in the waves from `like`, the middle and `first` on
  std::vector<TritonTotals> marks_;  // when the first of those began that stand for others, and when the next one did
  const memory_model::Memory* memory_ = nullptr;
  gpu::OperandArrays arrays_;
  absl::flat_hash_map<std::int32_t, Block> blocks_;                                          // by agent
  std::multimap<std::pair<std::int64_t, scheduler::Ticks>, base::CriticalPath::Held> left_;  // by SM and when
  absl::flat_hash_map<std::pair<std::int64_t, std::int64_t>, scheduler::Ticks> updated_;  // by address: free from then
  absl::flat_hash_map<std::pair<std::int64_t, std::int64_t>, std::int64_t> updates_;      // how many there were
  Block* block_ = nullptr;                                                                // the block in a step
  std::int32_t now_ = kNone;                                                              // of which instruction
  scheduler::Ticks launches_;
  double flops_ = 0;
  std::optional<TritonTimeline> timeline_;
  std::int64_t shown_sm_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace palladion::timing::triton

#endif  // PALLADION_EMU_TIMING_TRITON_TIMER_H_
