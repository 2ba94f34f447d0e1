// Predicts how long a kernel takes on a chip: it is run once, in virtual time. Each family of chips has a model of its
// own. Time changes no result and no finding; a run in virtual time is one of the legal schedules.
#ifndef PALLADION_EMU_TIMING_TIME_KERNEL_H_
#define PALLADION_EMU_TIMING_TIME_KERNEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/chip/machines/description.h"
#include "emu/timing/base/timed_call.h"

namespace palladion::timing {

// The chip that the kernel's target names, with these of its numbers changed (Machine::Set). InvalidArgument: the
// target names none, or a change is wrong.
absl::StatusOr<machines::Machine> MachineOf(const PreparedKernel& kernel, absl::Span<const std::string> changes);

// InvalidArgument: a kernel that cannot be compiled, or is for another family than the machine's; inputs that do not
// fit; a schedule to replay that is none, is another kernel's, or is not that of the chip's times: no other has a time.
// Unimplemented: an operation without a cost, with its line; a family without a model. NotFound: a number that the
// machine lacks.
absl::StatusOr<base::Timed> TimeKernel(const base::TimedCall& call);

}  // namespace palladion::timing

#endif  // PALLADION_EMU_TIMING_TIME_KERNEL_H_
