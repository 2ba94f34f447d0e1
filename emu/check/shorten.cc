#include "emu/check/shorten.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "emu/check/log.h"
#include "scheduler/search/shrink.h"
#include "semantics/base/status.h"

namespace palladion::check {

namespace {

std::int64_t WorkOf(const scheduler::LoopResult& run) { return std::max<std::int64_t>({1, run.steps, run.work}); }

// Of runs with other moves: one that polls for ever would take the whole budget, and as a replay it would be of no use.
// A power of two, so that runs of about as much work have the same.
std::int64_t MostWorkOf(const scheduler::LoopResult& run) {
  constexpr std::int64_t kTimes = 2, kLeast = 1 << 14;
  if (run.outcome == scheduler::Outcome::kBudget) return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max(kLeast, kTimes * WorkOf(run)))));
}

// The same finding with its accesses in the same order, so that a replay reads as the report does.
bool ShownAlike(const Finding& found, const Finding& finding) {
  if (!SameFinding(found, finding)) return false;
  if (!finding.first.has_value() || !finding.second.has_value()) return true;
  const FindingAccess &first = *finding.first, &second = *finding.second;
  const auto is = [](const FindingAccess& a, const FindingAccess& b) {
    return a.loc == b.loc && a.text_line == b.text_line && a.kind == b.kind;
  };
  if (!is(*found.first, first)) return false;
  if (!is(first, second) || first.agent == second.agent) return true;
  return found.first->agent != second.agent || found.second->agent != first.agent;
}

bool IsCutShort(const Trial& trial, std::int64_t most_work) {
  return trial.run.outcome == scheduler::Outcome::kBudget && most_work != std::numeric_limits<std::int64_t>::max();
}

}  // namespace

// How many runs a finding may have: a share of what is left, and none where that is too few to be of use.
std::int64_t Shortener::RunsFor(const scheduler::LoopResult& run) const {
  constexpr std::int64_t kMostRuns = 400, kFewestRuns = 10, kShare = 5;
  const std::int64_t by_work = work_left_ / WorkOf(run);
  if (by_work < kFewestRuns) return 0;
  return std::clamp(std::min(runs_left_, by_work) / kShare, kFewestRuns, kMostRuns);
}

void Shortener::Shrink(scheduler::Schedule& schedule, const scheduler::LoopResult& run,
                       const std::function<absl::StatusOr<bool>(const Moves&)>& shows) {
  const std::int64_t runs = RunsFor(run);
  if (runs == 0) return;
  const absl::StatusOr<scheduler::Shrunk> shrunk = scheduler::Shrink(run.moves, run.operations, shows, runs);
  if (!shrunk.ok()) return;
  runs_left_ -= shrunk->runs;
  work_left_ -= shrunk->runs * WorkOf(run);
  if (shrunk->reproduced) schedule.moves = shrunk->moves;
}

absl::StatusOr<Trial> Shortener::Run(const Moves& moves, Watch watch, std::int64_t most_work) {
  ++trials_;
  scheduler::RunLengths lengths = lengths_;
  lengths.most_work = most_work;
  return runner_.Run({.moves = moves}, watch, lengths);
}

void Shortener::Shorten(scheduler::Schedule& schedule, const scheduler::LoopResult& run,
                        const std::function<bool(const Trial&)>& shows) {
  const std::int64_t most_work = MostWorkOf(run);
  Shrink(schedule, run, [&](const Moves& moves) -> absl::StatusOr<bool> {
    PALLADION_ASSIGN_OR_RETURN(const Trial again, Run(moves, Watch::kOutputs, most_work));
    return !IsCutShort(again, most_work) && shows(again);
  });
}

absl::StatusOr<bool> Shortener::Finds(const Moves& moves, const Finding& finding, std::int64_t most_work) {
  constexpr std::size_t kMostLists = 32, kMostMoves = 4096;  // of a list: long ones are seldom tried twice
  const auto has = [&](const std::vector<Finding>& findings) {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const Finding& found) { return ShownAlike(found, finding); });
  };
  const auto known = std::find_if(found_.begin(), found_.end(),
                                  [&](const Known& one) { return one.most_work == most_work && one.moves == moves; });
  if (known != found_.end()) return has(known->findings);
  PALLADION_ASSIGN_OR_RETURN(Trial again, Run(moves, Watch::kEverything, most_work));
  if (IsCutShort(again, most_work)) again.findings.clear();
  if (moves.size() > kMostMoves) return has(again.findings);
  if (found_.size() == kMostLists) found_.erase(found_.begin() + (found_.front().moves.empty() ? 1 : 0));
  found_.push_back({moves, most_work, std::move(again.findings)});
  return has(found_.back().findings);
}

std::string Shortener::ReplayOf(const Trial& trial, const Finding& finding) {
  scheduler::Schedule schedule = trial.schedule;
  const bool plain = runner_.names_program_order() && schedule.policy == scheduler::PolicyKind::kProgramOrder &&
                     !schedule.moves.has_value();
  const bool worth = !plain && finding.severity != Severity::kNote && finding.code != FindingCode::kLivelock;
  if (runner_.interact() && !trial.run.moves.empty() && worth && RunsFor(trial.run) > 0) {
    // All of the moves need not be run where none of them is needed.
    const std::int64_t most_work = MostWorkOf(trial.run);
    const absl::StatusOr<bool> none_needed = Finds({}, finding, most_work);
    Shrink(schedule, trial.run, [&](const Moves& moves) -> absl::StatusOr<bool> {
      if (none_needed.ok() && *none_needed && moves == trial.run.moves) return true;
      return Finds(moves, finding, most_work);
    });
  }
  return runner_.NameOf(schedule);
}

}  // namespace palladion::check
