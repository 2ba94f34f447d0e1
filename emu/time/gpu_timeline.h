// What a GPU's operations show of themselves on a timeline: threads and warps of one SM as lanes, its copies and
// products beside them, what of the whole chip is used.
#ifndef PALLADION_EMU_TIME_GPU_TIMELINE_H_
#define PALLADION_EMU_TIME_GPU_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "emu/agents/prepared_kernel.h"
#include "emu/time/gpu_chip.h"
#include "emu/time/gpu_plan.h"
#include "emu/time/timeline_recorder.h"
#include "semantics/port/async.h"

namespace palladion::time {

inline constexpr std::int32_t kNoLane = -1;

class GpuTimeline {
 public:
  // All outlive it.
  GpuTimeline(const agents::PreparedKernelState& kernel, const std::vector<GpuPlan>& plans, TimelineRecorder& recorder)
      : kernel_(kernel), plans_(plans), recorder_(recorder) {}

  // kNoLane: of another SM.
  std::int32_t LaneOf(const Frame& frame, std::int64_t sm);
  // Of what a lane shows; `plan`: the instruction's, -1 of none.
  struct When {
    std::int32_t lane = kNoLane, plan = -1;
    scheduler::Ticks begin, end;
  };
  void Worked(const When& when);
  void Waited(const When& when, std::int32_t ended_by);
  void Copied(const When& when, SpanKind kind, const AsyncRequest& request);
  void Multiplied(const When& when);
  void Use(const GpuChip& chip, scheduler::Ticks now, std::int64_t sms);

 private:
  TimelineLine LineOf(std::int32_t plan) const;
  void RanBeside(const When& when, TimelineRecorder::Beside beside);

  const agents::PreparedKernelState& kernel_;
  const std::vector<GpuPlan>& plans_;
  TimelineRecorder& recorder_;
};

}  // namespace palladion::time

#endif  // PALLADION_EMU_TIME_GPU_TIMELINE_H_
