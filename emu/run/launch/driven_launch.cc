#include "emu/run/launch/driven_launch.h"

#include <utility>

#include "emu/run/launch/launch_findings.h"
#include "semantics/base/status.h"

namespace palladion::launch {

agents::Ran DrivenLaunch::Result(scheduler::LoopResult run, bool fair) {
  agents::Ran ran = Ended(run.outcome == scheduler::Outcome::kFinished);
  ran.run = std::move(run);
  who().Complete(ran, Loop());
  if (ran.run.outcome == scheduler::Outcome::kDeadlock) ran.findings.push_back(DeadlockFinding(who(), ran.run));
  if (ran.run.outcome == scheduler::Outcome::kBudget && fair)
    ran.findings.push_back(LivelockFinding(who(), ran.run, budget_name()));
  return ran;
}

absl::StatusOr<agents::Ran> Drive(DrivenLaunch& launch, scheduler::Policy& policy) {
  scheduler::RunLoop loop(launch.who().source(), launch.Loop());
  PALLADION_ASSIGN_OR_RETURN(scheduler::LoopResult run, loop.Run(policy));
  return launch.Result(std::move(run), /*fair=*/true);
}

}  // namespace palladion::launch
