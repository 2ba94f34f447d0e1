// The program of an oblivious kernel without the steps that only compute values, for a schedule without values
// (docs/explanation/checks.md#schedules-without-values). Every step keeps its number and its place in the text, so
// waits, accesses, allocations and the findings about them are the same.
#ifndef PALLADION_EMU_RUN_LAUNCH_ELIDED_PROGRAM_H_
#define PALLADION_EMU_RUN_LAUNCH_ELIDED_PROGRAM_H_

#include <memory>
#include <vector>

#include "emu/kernel/prepared_kernel.h"

namespace palladion::launch {

// nullptr: the kernel is not oblivious, its programs are no threads, or something of it looks at values after all.
std::unique_ptr<const kernel::PreparedKernelState> ElidedKernel(const kernel::PreparedKernelState& kernel);

// The same, for observers of one run that do not need its values: programs need not be threads, and scalars in memory
// may decide what happens. They are computed, and what holds them moves.
struct WithoutValues {
  std::shared_ptr<const kernel::PreparedKernelState> kernel;  // nullptr also where the kernel prints
  std::vector<bool> moved;                                    // by operand: LaunchOptions::moved
};
WithoutValues KernelWithoutValues(const kernel::PreparedKernelState& kernel);

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_ELIDED_PROGRAM_H_
