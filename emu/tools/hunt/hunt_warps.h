// Patterns of warps for the hunt: what a thread does in a mesh of its warps, and what it does before and after. Limits:
// a thread has one such mesh, in which two warps do something, with single elements.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_WARPS_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_WARPS_H_

#include <vector>

#include "emu/tools/hunt/hunt_kernel.h"
#include "scheduler/policies/random.h"

namespace palladion::hunt {

// Makes it one of one or two threads of a block.
void MakeThreadsOfWarps(scheduler::Random* random, HuntKernel* kernel);
void WarpPattern(scheduler::Random* random, HuntKernel* kernel, std::vector<std::vector<Op>>* body);
// Leaves out what warps cannot do, and each thread's meshes but one.
void KeepToWarps(HuntKernel* kernel);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_WARPS_H_
