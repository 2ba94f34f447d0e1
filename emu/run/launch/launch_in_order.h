// Programs one after another in a plain loop, without a policy: for kernels whose programs cannot see each other's
// effects while they run, where every order is alike but for what checks look at. Limits: a program that waits in a
// loop for what only a later one does is stuck.
#ifndef PALLADION_EMU_RUN_LAUNCH_LAUNCH_IN_ORDER_H_
#define PALLADION_EMU_RUN_LAUNCH_LAUNCH_IN_ORDER_H_

#include "absl/status/statusor.h"
#include "emu/run/agents/launch_options.h"

namespace palladion::launch {

// As Run (run.h).
absl::StatusOr<agents::Ran> RunInOrder(const agents::LaunchCall& call, const agents::LaunchOptions& options);

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_LAUNCH_IN_ORDER_H_
