// A launch under a policy as its driver sees it, whether its agents run kernel text (run.cc) or functions in C++
// (emu/front/cpp): one loop runs its agents under the policy, and the report of its end is made in one place. Limits:
// each launch binds its own operands and attaches its own observers.
#ifndef PALLADION_EMU_RUN_LAUNCH_DRIVEN_LAUNCH_H_
#define PALLADION_EMU_RUN_LAUNCH_DRIVEN_LAUNCH_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/run/launch/agents_of_launch.h"
#include "emu/run/launch/run.h"
#include "scheduler/policy.h"
#include "scheduler/run_loop.h"

namespace palladion::launch {

class DrivenLaunch {
 public:
  virtual ~DrivenLaunch() = default;

  virtual AgentsOfLaunch& who() = 0;
  virtual scheduler::LoopOptions Loop() const = 0;
  virtual std::string_view budget_name() const = 0;  // as the user knows it
  virtual std::vector<Finding> FoundSoFar() = 0;
  // No agent goes any more. `finished`: each has come to its end.
  virtual agents::Ran Ended(bool finished) = 0;

  // `fair`: no agent is starved, so agents that do not come to an end are a livelock.
  agents::Ran Result(scheduler::LoopResult run, bool fair);
};

absl::StatusOr<agents::Ran> Drive(DrivenLaunch& launch, scheduler::Policy& policy);

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_DRIVEN_LAUNCH_H_
