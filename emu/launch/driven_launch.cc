#include "emu/launch/driven_launch.h"

#include <limits>
#include <optional>
#include <utility>

#include "emu/launch/joint_agents.h"
#include "emu/launch/launch_findings.h"
#include "semantics/base/status.h"

namespace palladion::launch {

ScheduledResult DrivenLaunch::Result(scheduler::LoopResult run, bool fair) {
  ScheduledResult result{.launch = Ended(run.outcome == scheduler::Outcome::kFinished), .run = std::move(run)};
  who().Tell(result, Loop());
  std::vector<Finding>& findings = result.launch.findings;
  if (result.run.outcome == scheduler::Outcome::kDeadlock) findings.push_back(DeadlockFinding(who(), result.run));
  if (result.run.outcome == scheduler::Outcome::kBudget && fair)
    findings.push_back(LivelockFinding(who(), result.run, budget_name()));
  return result;
}

absl::StatusOr<std::vector<ScheduledResult>> Drive(absl::Span<const LaunchOnDevice> launches,
                                                   scheduler::Policy& policy) {
  scheduler::LoopOptions options = launches[0].launch->Loop();
  std::optional<JointAgents> joint;
  if (launches.size() > 1) {
    std::vector<JointAgents::Launch> sources;
    for (const LaunchOnDevice& one : launches)
      sources.push_back({&one.launch->who().source(), one.launch->Loop().resident, one.device});
    joint.emplace(std::move(sources));
    options.resident = std::numeric_limits<std::size_t>::max();  // each launch has its own limit
  }
  scheduler::RunLoop loop(joint.has_value() ? *joint : launches[0].launch->who().source(), options);
  PALLADION_ASSIGN_OR_RETURN(scheduler::LoopResult run, loop.Run(policy));
  std::vector<ScheduledResult> results;
  for (std::size_t i = 0; i < launches.size(); ++i)
    results.push_back(
        launches[i].launch->Result(joint.has_value() ? joint->ResultOf(i, run) : std::move(run), /*fair=*/true));
  return results;
}

}  // namespace palladion::launch
