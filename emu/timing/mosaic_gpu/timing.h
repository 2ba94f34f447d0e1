// The time of a kernel on a GPU: one run in virtual time, and its report. Values that only affect other values are not
// computed (emu/timing/base/without_values.h): the report is the same, and large kernels take seconds.
#ifndef PALLADION_EMU_TIMING_MOSAIC_GPU_TIMING_H_
#define PALLADION_EMU_TIMING_MOSAIC_GPU_TIMING_H_

#include <vector>

#include "absl/status/statusor.h"
#include "emu/run/launch/run.h"
#include "emu/timing/base/timed_call.h"

namespace palladion::timing::mosaic_gpu {

// As TimeKernel.
absl::StatusOr<base::Timed> TimeOnGpu(const base::TimedCall& call);

// The same, and what a test wants to know.
struct GpuRun {
  base::Timed timed;
  agents::Ran result;
  std::vector<Tensor> outputs;  // without TimedCall::values whatever they were
  std::int64_t clusters_at_once = 0;
};
struct GpuRunOptions {
  bool record = false;  // the moves
};
absl::StatusOr<GpuRun> RunOnGpu(const base::TimedCall& call, const GpuRunOptions& options);

}  // namespace palladion::timing::mosaic_gpu

#endif  // PALLADION_EMU_TIMING_MOSAIC_GPU_TIMING_H_
