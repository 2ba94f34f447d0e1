// The frame of a random kernel around its operations: how many agents of which family, and how its text is written.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_DRESS_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_DRESS_H_

#include "emu/tools/hunt/hunt_kernel.h"
#include "scheduler/policies/random.h"

namespace palladion::hunt {

HuntKernel RandomSizes(scheduler::Random* random);  // with agents that do nothing

// Not too many operations; indices that are computed, masks, rows that depend on values, memory by its other name.
void Dress(scheduler::Random* random, HuntKernel* kernel);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_DRESS_H_
