// Whether the programs of a kernel can see each other's effects while they run. Where they cannot, what each does is
// fixed by the inputs, and two orders of the programs and the sweep of their accesses suffice; where they can,
// schedules are tried.
#ifndef PALLADION_EMU_RUN_LAUNCH_INTERACTION_H_
#define PALLADION_EMU_RUN_LAUNCH_INTERACTION_H_

#include <string>

#include "semantics/program/program.h"

namespace palladion::launch {

// Are its agents threads of GPU blocks, over a machine of their own?
bool NeedsThreads(const Program& program);

// Conservative for kernels without a data race: true too often, never too seldom. Programs that run at the same time
// interact through arrays that some program updates atomically, if
//   - the update is a compare-and-swap or an exchange, or its old value is used, or
//   - the array is also read without an atomic (it may be polled).
// What is read while another program writes it without atomics is a race, and the sweep's to find.
bool ProgramsInteract(const Program& program);

// Can nothing that they do order two tasks of a launch (docs/spec/races.md#tasks), in whichever mode they run? So it is
// of programs that do not interact, and of tasks of one TPU device, each of which has semaphores of its own. What all
// of them touch judges them then, else clocks do.
bool NothingOrdersTasks(const Program& program);

// Through what, for a report: "the old value of the atomic at line 7 of the kernel text"; "" when they do not.
std::string WhyProgramsInteract(const Program& program);

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_INTERACTION_H_
