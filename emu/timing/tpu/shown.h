// What a run on TensorCores shows of one of its cores (timeline.h), in the words of the kernel. Based on: run.h, which
// passes it what happens and when. Limits: those of the timeline.
#ifndef PALLADION_EMU_TIMING_TPU_SHOWN_H_
#define PALLADION_EMU_TIMING_TPU_SHOWN_H_

#include <cstdint>

#include "emu/timing/tpu/operands.h"
#include "emu/timing/tpu/timeline.h"
#include "semantics/program/program.h"

namespace palladion::timing::tpu {

class TpuShown {
 public:
  using Ticks = scheduler::Ticks;

  // All outlive it.
  TpuShown(const TpuCosts& costs, const TpuOperands& operands, timeline::TimelineRecorder& recorder,
           const timeline::TimelineOptions& options)
      : operands_(operands), timeline_(costs, recorder, options), core_(options.unit) {}

  std::int64_t core() const { return core_; }  // which one it shows
  TpuTimeline& timeline() { return timeline_; }

  // The use of main memory, by each of so many cores.
  void WatchMemory(TpuCore& core, std::int64_t cores);

  // Their numbers, by which waits name them.
  std::int32_t Block(const TpuBlockCopy& copy);
  std::int32_t Copy(const AsyncRequest& request, machines::Bytes bytes, Ticks begin, Ticks landed);
  void Wait(const TpuBlockCopy& copy, Ticks begin);
  // From the end of the body before it on.
  void Step(const Frame& frame, Ticks begin, Ticks end, int text_line);
  // Which block the instruction reads or writes.
  void SayBlock(const Instr& instr, TpuPart* part) const;

 private:
  const TpuOperands& operands_;
  TpuTimeline timeline_;
  const std::int64_t core_;
};

}  // namespace palladion::timing::tpu

#endif  // PALLADION_EMU_TIMING_TPU_SHOWN_H_
