// The report of a kernel's time on a GPU, made from the records of its timer.
#ifndef PALLADION_EMU_TIMING_MOSAIC_GPU_REPORT_H_
#define PALLADION_EMU_TIMING_MOSAIC_GPU_REPORT_H_

#include <string>

#include "emu/chip/machines/description.h"
#include "emu/timing/mosaic_gpu/timer.h"
#include "emu/timing/report/timing.h"

namespace palladion::timing::mosaic_gpu {

// All outlive the call.
struct GpuReportInputs {
  const kernel::PreparedKernelState& kernel;
  const machines::Machine& machine;
  const gpu::GpuCosts& costs;
  const GpuTimer& timer;
  std::string limit;  // why an SM holds no more blocks
};
report::Timing GpuReport(const GpuReportInputs& what);

}  // namespace palladion::timing::mosaic_gpu

#endif  // PALLADION_EMU_TIMING_MOSAIC_GPU_REPORT_H_
