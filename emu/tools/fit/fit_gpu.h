// Memory use of a GPU kernel: shared memory and tensor memory of a block, registers of a lane, blocks of an SM.
// Registers, and the limit of blocks that follows from them, are a lower bound (emu/timing/gpu/registers.h). For
// Triton, shared memory is an estimate (emu/chip/layouts/triton_memory.h).
#ifndef PALLADION_EMU_TOOLS_FIT_FIT_GPU_H_
#define PALLADION_EMU_TOOLS_FIT_FIT_GPU_H_

#include "absl/status/statusor.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/tools/fit/fit.h"

namespace palladion::fit {

// Without the kernel's name, target, frames and refusals. NotFound: its chip's description lacks a number.
absl::StatusOr<KernelFit> FitOfGpu(const kernel::PreparedKernelState& kernel);

}  // namespace palladion::fit

#endif  // PALLADION_EMU_TOOLS_FIT_FIT_GPU_H_
