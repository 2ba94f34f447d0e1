// Which stall class (emu/timing/gpu/stalls.h) a wait of a Mosaic GPU kernel's thread gets when it ends, by what ended
// it; stalls inside an operation of the thread itself (a busy unit, the latency of a memory) by the units of its SM.
// Based on: the plans of the two instructions (plan.h) and the servers that the operation used. Limits: where several
// units delayed an operation, the longest delay counts for all.
#ifndef PALLADION_EMU_TIMING_MOSAIC_GPU_STALL_CAUSES_H_
#define PALLADION_EMU_TIMING_MOSAIC_GPU_STALL_CAUSES_H_

#include "emu/timing/gpu/chip.h"
#include "emu/timing/gpu/stalls.h"
#include "emu/timing/mosaic_gpu/plan.h"
#include "scheduler/virtual_clock.h"

namespace palladion::timing::mosaic_gpu {

// What `ended` is to those whose wait it ends by itself; kOther: that depends on what they wait at.
gpu::Stall StallOf(const GpuPlan& ended);
// Of a wait at `waiting` that something of class `ended` has ended.
gpu::Stall StallAt(const GpuPlan& waiting, gpu::Stall ended);

// What an operation of `plan` that took `all` consists of, in this order.
struct Parts {
  gpu::Stall busy_unit = gpu::Stall::kOther;  // that others kept busy
  scheduler::Ticks queued, worked;
  gpu::Stall memory = gpu::Stall::kOther;  // whose latency is long
  scheduler::Ticks in_flight;
};
Parts PartsOf(const GpuPlan& plan, scheduler::Ticks all, const gpu::GpuChip::Recent& recent);

}  // namespace palladion::timing::mosaic_gpu

#endif  // PALLADION_EMU_TIMING_MOSAIC_GPU_STALL_CAUSES_H_
