// Can a schedule of threads decide more than when things happen? Where it cannot, what is ordered before what is the
// same in every schedule, and one clean run is a proof for its inputs (docs/checks.md). Based on the operations that
// the kernel has; what barriers see is known only in a run (Barrier::arrivals_race).
#ifndef PALLADION_EMU_GPU_SCHEDULE_CHOICE_H_
#define PALLADION_EMU_GPU_SCHEDULE_CHOICE_H_

#include <string>

#include "semantics/ir/module.h"

namespace palladion {

// "the semaphore_wait at line 12 of the kernel text"; "" where there is no such operation.
std::string ScheduleChoice(const Kernel& kernel);

}  // namespace palladion

#endif  // PALLADION_EMU_GPU_SCHEDULE_CHOICE_H_
