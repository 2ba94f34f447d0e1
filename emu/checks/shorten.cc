#include "emu/checks/shorten.h"

#include <algorithm>
#include <vector>

#include "emu/checks/check_log.h"
#include "scheduler/search/shrink.h"
#include "semantics/base/status.h"

namespace palladion::checks {

void Shortener::Shorten(scheduler::Schedule& schedule, const scheduler::LoopResult& run, Watch watch,
                        const std::function<bool(const Trial&)>& shows) {
  constexpr std::int64_t kMostRuns = 400, kFewestRuns = 10, kShare = 5;
  const std::int64_t runs = std::clamp(runs_left / kShare, kFewestRuns, kMostRuns);
  const absl::StatusOr<scheduler::Shrunk> shrunk = scheduler::Shrink(
      run.moves, run.operations,
      [&](const std::vector<scheduler::Move>& moves) -> absl::StatusOr<bool> {
        scheduler::Schedule shorter = schedule;
        shorter.moves = moves;
        PALLADION_ASSIGN_OR_RETURN(const Trial again, runner.Run(shorter, watch, lengths));
        return shows(again);
      },
      runs);
  if (shrunk.ok()) runs_left -= shrunk->runs;
  if (shrunk.ok() && shrunk->reproduced) schedule.moves = shrunk->moves;
}

std::string Shortener::ReplayOf(const Trial& trial, const Finding& finding) {
  scheduler::Schedule schedule = trial.schedule;
  const bool worth = finding.severity != Severity::kNote && finding.code != FindingCode::kLivelock;
  if (runner.interact() && !trial.run.moves.empty() && worth) {
    Shorten(schedule, trial.run, Watch::kEverything, [&](const Trial& again) {
      return std::any_of(again.findings.begin(), again.findings.end(),
                         [&](const Finding& found) { return SameFinding(found, finding); });
    });
  }
  return runner.NameOf(schedule);
}

}  // namespace palladion::checks
