#include "emu/front/cpp/function_check.h"

#include <algorithm>
#include <optional>

#include "emu/check/compare.h"
#include "emu/check/other_operands.h"
#include "emu/run/launch/launch.h"
#include "scheduler/policies/pct_bound.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {

absl::Status FunctionCheck::Run() {
  report_ = {.kernel = kernel_.name, .target = "generic", .checked = true, .strict = options_.strict};
  report_.programs = static_cast<std::int64_t>(kernel_.threads.size());
  for (const std::int64_t size : kernel_.grid) report_.programs *= size;
  absl::Status status = RunSchedules();
  if (IsInterrupted(status)) {
    report_.interrupted = true;
    status = absl::OkStatus();
  }
  if (status.ok() && !report_.interrupted) check::ChallengeEqualValues(trials_, options_, lengths_, log_);
  if (!status.ok() && log_.size() == 0) return status;
  if (!status.ok()) report_.error = ErrorReport(status, "", "").error;
  Conclude();
  return absl::OkStatus();
}

absl::Status FunctionCheck::RunSchedules() {
  if (!options_.replay.empty()) return Replay();
  PALLADION_ASSIGN_OR_RETURN(check::Trial first,
                             trials_.Run(FunctionTrials::ScheduleOfSeed(0), check::Watch::kEverything, lengths_));
  TakeBaseline(std::move(first));
  PALLADION_RETURN_IF_ERROR(Take(baseline_));
  if (options_.run.control != nullptr) options_.run.control->BeginSchedules(options_.seeds);
  for (std::int64_t seed = 1; seed < options_.seeds && !livelock_ && !Interrupted(); ++seed) {
    if (options_.run.control != nullptr) options_.run.control->EndSchedules(seed);
    PALLADION_ASSIGN_OR_RETURN(const check::Trial trial,
                               trials_.Run(FunctionTrials::ScheduleOfSeed(seed), check::Watch::kEverything, lengths_));
    PALLADION_RETURN_IF_ERROR(Take(trial));
    Compare(trial);
  }
  return absl::OkStatus();
}

// A replay shows its own schedule; program order says how long runs are, and what the outputs are compared with.
absl::Status FunctionCheck::Replay() {
  PALLADION_ASSIGN_OR_RETURN(const scheduler::Schedule schedule, scheduler::ParseSchedule(options_.replay));
  PALLADION_RETURN_IF_ERROR(scheduler::ExpectMadeFor(schedule, trials_.Origin()));
  PALLADION_ASSIGN_OR_RETURN(check::Trial first,
                             trials_.Run(FunctionTrials::ScheduleOfSeed(0), check::Watch::kOutputs, lengths_));
  TakeBaseline(std::move(first));
  PALLADION_RETURN_IF_ERROR(baseline_.trouble);
  PALLADION_ASSIGN_OR_RETURN(const check::Trial trial, trials_.Run(schedule, check::Watch::kEverything, lengths_));
  PALLADION_RETURN_IF_ERROR(Take(trial));
  Compare(trial);
  return absl::OkStatus();
}

void FunctionCheck::TakeBaseline(check::Trial trial) {
  baseline_ = std::move(trial);
  report_.printed = baseline_.printed;
  lengths_ = {.steps = std::max<std::int64_t>(1, baseline_.run.steps),
              .operations = baseline_.run.operations,
              .work = baseline_.run.work};
}

// Its findings, and then its trouble.
absl::Status FunctionCheck::Take(const check::Trial& trial) {
  report_.schedules += IsInterrupted(trial.trouble) ? 0 : 1;
  livelock_ |= trial.run.outcome == scheduler::Outcome::kBudget;
  for (const auto& [kind, times] : trial.tallies) tallies_[kind] += times;
  for (const Finding& finding : trial.findings)
    log_.Add(finding, trial.schedule, [&] { return shortener_.ReplayOf(trial, finding); });
  return trial.trouble;
}

void FunctionCheck::Compare(const check::Trial& trial) {
  if (differs_ || trial.run.outcome != scheduler::Outcome::kFinished ||
      baseline_.run.outcome != scheduler::Outcome::kFinished)
    return;
  const std::optional<check::OutputDifference> difference = check::FirstDifference(baseline_.outputs, trial.outputs);
  if (!difference.has_value()) return;
  differs_ = true;  // one pair of schedules shows it
  const KernelOutput& declared = kernel_.outputs[difference->output];
  Finding finding = check::DifferenceFinding({declared.name, declared.shape}, *difference, baseline_, trial);
  finding.why =
      "blocks, threads and asynchronous operations run in any order that barriers, semaphores and atomics leave";
  const check::WatchedElement element{.operand = kernel_.inputs.size() + difference->output,
                                      .element = difference->element};
  const auto writer = [&](const scheduler::Schedule& schedule) {
    return check::LastWriterIn(trials_, schedule, lengths_, element, trials_.Naming()).value_or(std::nullopt);
  };
  finding.first = writer(baseline_.schedule);
  finding.second = writer(trial.schedule);
  if (finding.second.has_value()) finding.loc = finding.second->loc;
  if (const Finding* cause = log_.AnyUnordered(); cause != nullptr)
    finding.fix = Cat("resolve the ", Code(cause->code), " first");
  log_.AddDifference(std::move(finding), trial.schedule, trials_.NameOf(trial.schedule));
}

bool FunctionCheck::Interrupted() {
  report_.interrupted |= palladion::Interrupted(options_.run.control);
  report_.interrupted |= options_.interrupted && options_.interrupted();
  return report_.interrupted;
}

void FunctionCheck::Conclude() {
  for (std::size_t i = 0; i < log_.size(); ++i) {
    report_.findings.push_back(launch::Reported(log_.finding(i), places_.module()));
    report_.findings.back().replay = log_.shown(i).replay;
  }
  for (const auto& [kind, times] : tallies_) report_.checks.push_back({kind, times});
  report_.argument = Argument();
  report_.verdict = VerdictOf(report_);
}

std::string FunctionCheck::Argument() const {
  const std::string schedules = Cat(report_.schedules, report_.schedules == 1 ? " schedule" : " schedules");
  if (report_.interrupted && report_.schedules == 0) return "the check was interrupted before a schedule ended";
  if (!options_.replay.empty()) return "one schedule was replayed, beside program order";
  if (livelock_) return Cat("the check stopped after ", schedules, ", at one that does not end");
  return Cat(scheduler::PctSentence(baseline_.run.agents, lengths_.steps, report_.schedules),
             "; not proved: what a C++ function decides by is not known");
}

}  // namespace palladion
