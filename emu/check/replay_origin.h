// The identification of the run in a replay string: a hash of what the kernel computes, not of its source, so that
// comments, moved lines and renamed values, refs and kernels do not change it. Names with a meaning to the kernel (axes
// of a mesh) and reordered instructions do change it.
#ifndef PALLADION_EMU_CHECK_REPLAY_ORIGIN_H_
#define PALLADION_EMU_CHECK_REPLAY_ORIGIN_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "emu/check.h"
#include "emu/kernel/prepared_kernel.h"
#include "scheduler/policies/schedule.h"

namespace palladion::check {

scheduler::ScheduleOrigin OriginOf(const kernel::PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                                   const CheckOptions& options);

// The parts of it that any kernel has.
std::uint64_t HashOfInputs(absl::Span<const ConstArray> inputs);
std::string OriginWord(std::string text);  // what a string of a schedule cannot hold becomes "_"
std::string OptionsText(const CheckOptions& options);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_REPLAY_ORIGIN_H_
