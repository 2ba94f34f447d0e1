#include "emu/tools/hunt/hunt_ends.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "emu/check.h"
#include "emu/check/trial_runner.h"
#include "emu/emulate.h"
#include "emu/kernel/arrays.h"
#include "emu/run/launch/run.h"
#include "emu/tools/hunt/hunt_oracle.h"
#include "emu/tools/hunt/reference_explore.h"
#include "emu/tools/hunt/reference_machine.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::hunt {
namespace {

// As ReferenceMachine::Outcome has it: o, then the two cells of each half of a row of m.
std::string OutcomeOf(const std::vector<Tensor>& outputs) {
  std::string outcome;
  for (const std::int32_t number : outputs[0].span<std::int32_t>()) Append(&outcome, number, ",");
  const auto elements = outputs[1].span<std::int32_t>();
  for (std::size_t i = 0; i < elements.size(); i += 64) Append(&outcome, elements[i], ",", elements[i + 1], ",");
  return outcome;
}

// What is wrong with the kernel is such that no outcome is promised (hunt_oracle.cc).
bool PromisesNothing(const Finding& finding) {
  return finding.code == FindingCode::kPeerLifetime || finding.code == FindingCode::kBarrierPhaseSkip ||
         finding.code == FindingCode::kBarrierDouble || finding.code == FindingCode::kBarrierBytes ||
         finding.code == FindingCode::kCollectiveMismatch || finding.code == FindingCode::kUseAfterScope;
}

// How a schedule ends, and what is found on the way.
std::string EndOf(const check::Trial& trial) {
  std::set<std::string> codes;
  for (const Finding& finding : trial.findings) {
    if (finding.code != FindingCode::kStartOrder) codes.emplace(Code(finding.code));  // of an order of beginning
  }
  std::string way = trial.run.outcome == scheduler::Outcome::kDeadlock ? "deadlock" : OutcomeOf(trial.outputs);
  for (const std::string& code : codes) Append(&way, " ", code);
  return way;
}

// Other schedules must end in ways that the search has seen.
class Comparison {
 public:
  Comparison(const PreparedKernel& kernel, const std::vector<ConstArray>& inputs, Ends* ends)
      : kernel_(kernel), inputs_(inputs), ends_(ends) {}

  absl::Status Run(const EndsOptions& options) {
    const check::TrialRunner runner = check::TrialRunner::Create(kernel_, inputs_, check_);
    runner_ = &runner;
    PALLADION_ASSIGN_OR_RETURN(outputs_, kernel::NewOutputs(kernel_));
    launch_ = runner.OptionsOfSearch(kernel_.state().program().grid_in_agent ? 2 : 0);
    PALLADION_ASSIGN_OR_RETURN(const bool complete, Explore({}, &seen_));
    if (!complete) return absl::OkStatus();
    PALLADION_RETURN_IF_ERROR(Seeds(options.seeds));
    return Interleavings(options.interleavings);
  }

 private:
  absl::StatusOr<std::string> EndOfSchedule(const scheduler::Schedule& schedule) const {
    PALLADION_ASSIGN_OR_RETURN(const check::Trial trial, runner_->Run(schedule, check::Watch::kEverything, {}));
    return trial.run.outcome == scheduler::Outcome::kBudget ? "" : EndOf(trial);
  }

  // Did it end? `ways`: nullptr: only that.
  absl::StatusOr<bool> Explore(const launch::SearchOptions& search, std::set<std::string>* ways) {
    const std::vector<MutableArray> out = kernel::MutableArraysOf(outputs_);
    const auto visit = [&](const agents::Ran& ran) -> absl::StatusOr<bool> {
      if (ways == nullptr) return true;
      PALLADION_ASSIGN_OR_RETURN(std::string way, EndOfSchedule(runner_->ScheduleOfSearch(ran, launch_)));
      ways->insert(std::move(way));
      return true;
    };
    PALLADION_ASSIGN_OR_RETURN(const scheduler::Explored explored,
                               launch::RunExhaustive({kernel_.state(), inputs_, out}, launch_, search, visit));
    schedules_ = explored.schedules;
    return explored.complete;
  }

  absl::Status Seeds(std::int64_t seeds) {
    for (std::int64_t seed = 0; seed < seeds; ++seed) {
      scheduler::Schedule schedule = runner_->ScheduleOfSeed(seed);
      if (seed % 2 == 1) schedule.policy = scheduler::PolicyKind::kRandomWalk;
      PALLADION_ASSIGN_OR_RETURN(const std::string way, EndOfSchedule(schedule));
      if (!way.empty() && seen_.insert(way).second) ends_->unseen.insert(Cat(way, " of seed ", seed));
    }
    return absl::OkStatus();
  }

  absl::Status Interleavings(std::int64_t most) {
    if (most == 0) return absl::OkStatus();
    const launch::SearchOptions all{.max_schedules = most, .reduce = false};
    PALLADION_ASSIGN_OR_RETURN(const bool few, Explore(all, nullptr));
    if (!few) return absl::OkStatus();
    std::set<std::string> ways;
    PALLADION_RETURN_IF_ERROR(Explore(all, &ways).status());
    ends_->interleavings = schedules_;
    for (const std::string& way : ways) {
      if (seen_.insert(way).second) ends_->unseen.insert(Cat(way, " of ", schedules_, " interleavings"));
    }
    return absl::OkStatus();
  }

  const PreparedKernel& kernel_;
  const std::vector<ConstArray>& inputs_;
  Ends* const ends_;
  const CheckOptions check_ = {.contracts = false, .threads = 1};
  const check::TrialRunner* runner_ = nullptr;
  std::vector<Tensor> outputs_;
  agents::LaunchOptions launch_;
  std::set<std::string> seen_;
  std::int64_t schedules_ = 0;
};

}  // namespace

Ends EndsOf(const HuntKernel& kernel, const EndsOptions& options) {
  Ends ends;
  const Written written = Write(kernel);
  const ReferenceMachine machine(kernel, written);
  const Reached reached = ExploreFrom(machine, options.max_states + 1);
  ends.states = reached.states;
  ends.searched = reached.complete && reached.states <= options.max_states;
  if (!ends.searched) return ends;
  const absl::StatusOr<PreparedKernel> prepared =
      PrepareText(written.text, {.kernel = "", .target = kernel.target, .path = ""});
  if (!prepared.ok()) {
    ends.error = prepared.status().ToString();
    return ends;
  }
  const std::vector<Tensor> inputs = InputsOf(kernel);
  absl::StatusOr<std::vector<Tensor>> outputs = kernel::NewOutputs(*prepared);
  if (!outputs.ok()) return ends;
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  bool promised = !kernel.pipelined();  // what a hazard of a pipeline does need not show
  const auto visit = [&](const agents::Ran& ran) -> absl::StatusOr<bool> {
    ends.found.insert(ran.stuck() ? "deadlock" : OutcomeOf(*outputs));
    promised &= std::none_of(ran.findings.begin(), ran.findings.end(), PromisesNothing);
    return seconds() < options.seconds;
  };
  const std::vector<ConstArray> in = kernel::ArraysOf(inputs);
  const std::vector<MutableArray> out = kernel::MutableArraysOf(*outputs);
  const launch::SearchOptions search{.max_schedules = options.max_schedules, .snapshots = options.snapshots};
  const absl::StatusOr<scheduler::Explored> explored =
      launch::RunExhaustive({prepared->state(), in, out}, {}, search, visit);
  ends.seconds = seconds();
  if (!explored.ok()) {
    ends.error = explored.status().ToString();
    return ends;
  }
  ends.ended = explored->complete;
  ends.schedules = explored->schedules;
  ends.pruned = explored->pruned;
  for (const char* const nothing : {"broken", "stale", "undefined"}) promised &= reached.outcomes.count(nothing) == 0;
  if (ends.ended && promised) ends.expected = reached.outcomes;
  if (!ends.ended || options.seeds + options.interleavings == 0) return ends;
  const absl::Status compared = Comparison(*prepared, in, &ends).Run(options);
  if (!compared.ok()) ends.error = compared.ToString();
  return ends;
}

}  // namespace palladion::hunt
