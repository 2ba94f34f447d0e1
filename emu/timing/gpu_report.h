// The report of a kernel's time on a GPU, made from the records of its timer.
#ifndef PALLADION_EMU_TIMING_GPU_REPORT_H_
#define PALLADION_EMU_TIMING_GPU_REPORT_H_

#include <string>

#include "emu/chip/machines/description.h"
#include "emu/timing/gpu_timer.h"
#include "emu/timing/timing.h"

namespace palladion::timing {

// All outlive the call.
struct GpuReportInputs {
  const kernel::PreparedKernelState& kernel;
  const machines::Machine& machine;
  const GpuCosts& costs;
  const GpuTimer& timer;
  std::string limit;  // why an SM holds no more blocks
};
Timing GpuReport(const GpuReportInputs& what);

}  // namespace palladion::timing

#endif  // PALLADION_EMU_TIMING_GPU_REPORT_H_
