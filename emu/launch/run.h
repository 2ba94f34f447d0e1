// Launches on the devices of one run. Those that are under way together are one system to the scheduler: one loop, one
// policy that says who of all their agents goes next, one schedule. Launches that follow one another on a device see
// what the earlier ones left in the caller's arrays, as they would see any array of the host.
//
//   RunState run(2);
//   RunLaunches(run, {{kernel, inputs, outputs, options, 0}, {kernel, others, outputs, options, 1}}, policy);
//
// Limits: no launch reaches another's memory or synchronisation yet, so none can wait for another.
#ifndef PALLADION_EMU_LAUNCH_RUN_H_
#define PALLADION_EMU_LAUNCH_RUN_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/agents/run_state.h"
#include "emu/launch/scheduled_launch.h"

namespace palladion::launch {

// Runs them together to their end; results in their order, with findings as each launch would have alone, and of the
// loop what it did for all. The loop's budget, patience and interruption are the first launch's.
// InvalidArgument: a device that is not there, or that two of them want. Other errors as RunScheduled.
absl::StatusOr<std::vector<ScheduledResult>> RunLaunches(agents::RunState& run, absl::Span<const ScheduledCall> calls,
                                                         scheduler::Policy& policy);

}  // namespace palladion::launch

#endif  // PALLADION_EMU_LAUNCH_RUN_H_
