// Which stall class (stalls.h) a wait of a Mosaic GPU kernel's thread gets when it ends, by what ended it; stalls
// inside an operation of the thread itself (a busy unit, the latency of a memory) by the units of its SM. Based on: the
// plans of the two instructions (gpu_plan.h) and the servers that the operation used. Limits: where several units
// delayed an operation, the longest delay counts for all.
#ifndef PALLADION_EMU_TIMING_STALL_CAUSES_H_
#define PALLADION_EMU_TIMING_STALL_CAUSES_H_

#include "emu/timing/gpu_chip.h"
#include "emu/timing/gpu_plan.h"
#include "emu/timing/stalls.h"
#include "scheduler/virtual_clock.h"

namespace palladion::timing {

// What `ended` is to those whose wait it ends by itself; kOther: that depends on what they wait at.
Stall StallOf(const GpuPlan& ended);
// Of a wait at `waiting` that something of class `ended` has ended.
Stall StallAt(const GpuPlan& waiting, Stall ended);

// What an operation of `plan` that took `all` consists of, in this order.
struct Parts {
  Stall busy_unit = Stall::kOther;  // that others kept busy
  scheduler::Ticks queued, worked;
  Stall memory = Stall::kOther;  // whose latency is long
  scheduler::Ticks under_way;
};
Parts PartsOf(const GpuPlan& plan, scheduler::Ticks all, const GpuChip::Asked& asked);

}  // namespace palladion::timing

#endif  // PALLADION_EMU_TIMING_STALL_CAUSES_H_
