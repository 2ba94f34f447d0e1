// The report of a Triton kernel's time, made from the records of its timer.
#ifndef PALLADION_EMU_TIMING_TRITON_REPORT_H_
#define PALLADION_EMU_TIMING_TRITON_REPORT_H_

#include <string>

#include "emu/chip/machines/description.h"
#include "emu/timing/gpu/registers.h"
#include "emu/timing/report/timing.h"
#include "emu/timing/triton/timer.h"

namespace palladion::timing::triton {

// All outlive the call.
struct TritonReportInputs {
  const kernel::PreparedKernelState& kernel;
  const machines::Machine& machine;
  const TritonCosts& costs;
  const TritonTimer& timer;
  gpu::RegisterNeed registers;
  std::string limit;  // why an SM holds no more blocks
};
report::Timing TritonReport(const TritonReportInputs& what);

}  // namespace palladion::timing::triton

#endif  // PALLADION_EMU_TIMING_TRITON_REPORT_H_
