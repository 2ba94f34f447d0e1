// Can a schedule of threads decide more than when things happen? Where it cannot, what is ordered before what is the
// same in every schedule, and one clean run is a proof for its inputs (docs/explanation/checks.md). Based on the
// operations that the kernel has; what barriers see, and what waits for counts take, is known only in a run
// (Barrier::arrivals_race, CreditLayers::race).
#ifndef PALLADION_EMU_RUN_THREADS_SCHEDULE_CHOICE_H_
#define PALLADION_EMU_RUN_THREADS_SCHEDULE_CHOICE_H_

#include <string>

#include "semantics/ir/module.h"

namespace palladion::threads {

// "the semaphore_wait at kernel.py:12"; "" where there is no such operation. `kernel` is one of `module`.
std::string ScheduleChoice(const Module& module, const Kernel& kernel);

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_SCHEDULE_CHOICE_H_
