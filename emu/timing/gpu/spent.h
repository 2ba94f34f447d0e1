// What one instruction of kernel text took in a timed run on a GPU, over all that ran it: a timer adds to it, the
// report reads it. Based on: the stall classes of stalls.h. Limits: sums alone; which run took how long is the
// timeline's.
#ifndef PALLADION_EMU_TIMING_GPU_SPENT_H_
#define PALLADION_EMU_TIMING_GPU_SPENT_H_

#include <cstdint>
#include <map>

#include "emu/timing/gpu/stalls.h"
#include "scheduler/virtual_clock.h"

namespace palladion::timing::gpu {

struct Spent {
  std::int64_t runs = 0;
  scheduler::Ticks busy, waited;
  std::map<std::int32_t, scheduler::Ticks> waited_for;  // by instruction that ended the wait, in the timer's plans
  StallTimes stalls = {};                               // what makes up `waited`
};

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_SPENT_H_
