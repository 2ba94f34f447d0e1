// Whether copies of blocks overlap in an array that two operands of a TPU's kernel share, so that results depend on
// when the pipeline makes them. It observes a run in which each copy is complete when it is issued, and looks for a
// fetch or a flush of elements that were flushed for one of the programs just before. Where no copies overlap, no order
// of the pipeline's copies is observable, and this run is equivalent to one with the pipeline
// (semantics/program/block_pipeline.h); where some do, a check begins again with the pipeline, which finds what is
// wrong. Based on: docs/spec/races.md#alias. Limits: it is conservative: copies that overlap may be ordered after all,
// as with one buffer.
#ifndef PALLADION_EMU_RUN_LAUNCH_MEETING_BLOCKS_H_
#define PALLADION_EMU_RUN_LAUNCH_MEETING_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/emulate.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/events.h"
#include "emu/run/launch/core_states.h"
#include "memory_model/sets/region.h"

namespace palladion::launch {

class MeetingBlocks final : public run::Watcher {
 public:
  // `kernel` outlives it. `inputs` are those of the launch, and hold the bounds of the grid; `take_turns`: the programs
  // of several tasks do.
  MeetingBlocks(const kernel::PreparedKernelState& kernel, absl::Span<const ConstArray> inputs, bool take_turns);

  // Are there blocks that could, and are not copied beside the bodies?
  static bool MayMeet(const kernel::PreparedKernelState& kernel);

  bool meet() const { return meet_; }              // after the launch
  std::int64_t copies() const { return copies_; }  // that were looked at

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kTurn, memory_model::EventKind::kIssue};
  }
  void Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override;
  void Running(const RunningAgent& now) override { cores_.Running(now); }
  void Issued(const Who& who, const AsyncRequest& request) override;

 private:
  struct Array {
    BufferId id;
    std::vector<std::int64_t> shape;
    // A copy has no order with the flushes of so many programs before: with two buffers the flush of program i - 1 is
    // awaited after the body of program i, and the fetch for program i + 1 starts before it.
    std::int64_t open = 0;
  };
  struct Flush {
    std::size_t array = 0;
    std::int64_t step = 0;  // of the program that was left
    memory_model::ElementBox box;
  };

  void Look(const BoxAccess& access, bool flush);

  const kernel::PreparedKernelState& kernel_;
  CoreStates<std::vector<Flush>> cores_;  // those that may be in flight
  std::vector<Array> arrays_;
  bool meet_ = false;
  std::int64_t copies_ = 0;
};

// What ends a check in which they do: it begins again, with the kernel's pipeline.
absl::Status BlocksMeet();
bool HaveMet(const absl::Status& status);

// The same kernel, with such blocks copied by its pipeline.
absl::StatusOr<PreparedKernel> WithPipeline(const PreparedKernel& kernel);

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_MEETING_BLOCKS_H_
