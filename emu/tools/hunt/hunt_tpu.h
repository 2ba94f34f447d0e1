// Random kernels of TPUs for the hunt: copies that semaphores count, of devices and of cores. Limits: copies are of
// rows and halves of them, and never in loops.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_TPU_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_TPU_H_

#include <cstdint>
#include <vector>

#include "emu/tools/hunt/hunt_kernel.h"

namespace palladion::hunt {

// The kernel with this number: the same on every host.
HuntKernel RandomTpuKernel(std::uint64_t seed);

// One whose c and m, or one of them, go by blocks, which a pipeline fetches and sends back.
HuntKernel RandomPipeline(std::uint64_t seed);

// What the pipeline does before and after the body of a program.
std::vector<Instr> PipelineBefore(const HuntKernel& kernel, int step);
std::vector<Instr> PipelineAfter(const HuntKernel& kernel, int step);

Written WriteTpu(const HuntKernel& kernel);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_TPU_H_
