// What is told of a kernel's time on a GPU, from what its timer has seen.
#ifndef PALLADION_EMU_TIME_GPU_TOLD_H_
#define PALLADION_EMU_TIME_GPU_TOLD_H_

#include <string>

#include "emu/machines/description.h"
#include "emu/time/gpu_timer.h"
#include "emu/time/timing.h"

namespace palladion::time {

// All outlive the call.
struct ToTell {
  const agents::PreparedKernelState& kernel;
  const machines::Machine& machine;
  const GpuCosts& costs;
  const GpuTimer& timer;
  std::string limit;  // why an SM holds no more blocks
};
Timing Told(const ToTell& what);

}  // namespace palladion::time

#endif  // PALLADION_EMU_TIME_GPU_TOLD_H_
