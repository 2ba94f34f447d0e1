// Loops that wait, for the random kernels of the hunt.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_LOOPS_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_LOOPS_H_

#include <vector>

#include "emu/tools/hunt/hunt_kernel.h"
#include "scheduler/policies/random.h"

namespace palladion::hunt {

// `from` stores and raises a flag, `to` looks at it until it is there, and loads.
void WaitInALoop(scheduler::Random* random, HuntKernel* kernel, std::vector<Op>* from, std::vector<Op>* to);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_LOOPS_H_
