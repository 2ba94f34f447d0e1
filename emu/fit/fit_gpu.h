// What a Mosaic GPU kernel holds: shared memory and tensor memory of a block, registers of a lane, blocks of an SM.
// Registers are a lower bound (emu/time/registers.h), as is what limits the blocks of an SM.
#ifndef PALLADION_EMU_FIT_FIT_GPU_H_
#define PALLADION_EMU_FIT_FIT_GPU_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "emu/fit/fit.h"

namespace palladion::fit {

// Without the kernel's name, target and frames. Errors as PrepareText.
absl::StatusOr<KernelFit> FitOfGpu(std::string_view text, const PrepareOptions& options);

}  // namespace palladion::fit

#endif  // PALLADION_EMU_FIT_FIT_GPU_H_
