// The time of a kernel on a GPU: one run in virtual time, and its report. Values that only affect other values are not
// computed (without_values.h): the report is the same, and large kernels take seconds.
#ifndef PALLADION_EMU_TIMING_GPU_TIMING_H_
#define PALLADION_EMU_TIMING_GPU_TIMING_H_

#include <vector>

#include "absl/status/statusor.h"
#include "emu/run/launch/run.h"
#include "emu/timing/timed_call.h"

namespace palladion::timing {

// As TimeKernel.
absl::StatusOr<Timed> TimeOnGpu(const TimedCall& call);

// The same, and what a test wants to know.
struct GpuRun {
  Timed timed;
  agents::Ran result;
  std::vector<Tensor> outputs;  // without TimedCall::values whatever they were
  std::int64_t clusters_at_once = 0;
};
struct GpuRunOptions {
  bool record = false;  // the moves
};
absl::StatusOr<GpuRun> RunOnGpu(const TimedCall& call, const GpuRunOptions& options);

}  // namespace palladion::timing

#endif  // PALLADION_EMU_TIMING_GPU_TIMING_H_
