#include "emu/checks/check_trial.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "emu/arrays.h"
#include "emu/checks/clock_races.h"
#include "emu/checks/replay_origin.h"
#include "emu/gpu/schedule_choice.h"
#include "emu/launch/grid_checks.h"
#include "emu/launch/interaction.h"
#include "emu/launch/thread_launch.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/inspections.h"

namespace palladion {
namespace {

bool UpdatesAtomically(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(),
                     [](const Step& step) { return step.atomic != AtomicStep::kNone; });
}

// Are programs agents of the scheduler? A list of moves means nothing to those that run one after another.
bool UnderPolicy(bool interact, const Schedule& schedule) { return interact || schedule.moves.has_value(); }

// Sums of floats depend on the order of their terms.
bool RoundsAtomically(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(), [&](const Step& step) {
    return step.atomic != AtomicStep::kNone && step.ref.valid() && IsFloat(program.refs[step.ref.index()].dtype);
  });
}

bool IsReverse(const Schedule& schedule) {
  return !schedule.moves.has_value() && schedule.policy == PolicyKind::kReverse;
}

}  // namespace

std::string InWords(const Schedule& schedule) {
  if (schedule.moves.has_value()) return Cat("the schedule of ", schedule.moves->size(), " moves");
  if (schedule.policy == PolicyKind::kProgramOrder) return "program order";
  if (schedule.policy == PolicyKind::kReverse) return "reverse order";
  return Cat("seed ", schedule.seed, " (", RowOf(schedule.policy).name, ")");
}

absl::StatusOr<TrialRunner> TrialRunner::Create(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                                                const CheckOptions& options) {
  TrialRunner runner(kernel, inputs, options);
  PALLADION_ASSIGN_OR_RETURN(runner.fill_, ParseFill(options.fill));
  runner.interact_ = ProgramsInteract(kernel.state().program());
  runner.threads_ = NeedsThreads(kernel.state().program());
  const Module& module = kernel.state().module();
  for (const Kernel& text : module.kernels) {
    if (runner.threads_ && text.name == kernel.name()) runner.schedule_choice_ = ScheduleChoice(module, text);
  }
  return runner;
}

Schedule TrialRunner::ScheduleOfSeed(std::int64_t seed) const {
  const auto number = static_cast<std::uint64_t>(seed);
  return {.policy = PolicyOfSeed(number), .seed = number, .moves = {}};
}

const ScheduleOrigin& TrialRunner::Origin() const {
  if (!origin_.has_value()) origin_ = OriginOf(kernel_.state(), inputs_, options_);
  return *origin_;
}

std::string TrialRunner::NameOf(Schedule schedule) const {
  schedule.origin = Origin();
  return ToString(schedule);
}

absl::StatusOr<Trial> TrialRunner::Run(const Schedule& schedule, Watch watch, const RunLengths& lengths,
                                       const LaunchOptions* extra) const {
  Trial trial{.schedule = schedule};
  PALLADION_ASSIGN_OR_RETURN(trial.outputs, NewOutputs(kernel_));
  LaunchOptions launch = extra == nullptr ? LaunchOptions{} : *extra;
  launch.run = options_.run;
  launch.fill = fill_;
  launch.found_before_error = &trial.findings;
  const bool everything = watch == Watch::kEverything;
  Inspections inspections(kernel_.state().program());
  if (everything) {
    launch.definedness = options_.definedness;
    if (options_.contracts) launch.contracts = &inspections;
  }
  const absl::Status ran = RunAs(launch, lengths, trial, everything && options_.races);
  if (!ran.ok()) trial.trouble = ran;
  if (trial.trouble.ok() && everything && IsReverse(schedule)) trial.trouble = AskStartOrder(trial);
  if (everything && options_.contracts) {
    for (Finding& finding : inspections.Findings()) trial.findings.push_back(std::move(finding));
  }
  if (!ran.ok() && trial.findings.empty()) return ran;
  if (everything) {
    trial.tallies["bounds"] = trial.accesses;
    if (options_.contracts) trial.tallies["values"] = inspections.looks();
    FactSet checked = trial.facts;
    checked.Set(Fact::kNoConflict, checked.Has(Fact::kNoConflict) && trial.trouble.ok());
    checked.Set(Fact::kNothingUndefined, options_.definedness && trial.trouble.ok());
    trial.facts = Undenied(checked, trial.findings);
  }
  return trial;
}

// The reverse order is where it is asked: begun backwards, would it hang? (docs/schedules.md)
absl::Status TrialRunner::AskStartOrder(Trial& trial) const {
  if (trial.all_fit || trial.run.outcome != Outcome::kFinished) return absl::OkStatus();
  PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> unused, NewOutputs(kernel_));
  const ScheduledOptions options{.launch = {.run = options_.run, .fill = fill_}, .loop = LoopOf()};
  PALLADION_ASSIGN_OR_RETURN(std::optional<Finding> note,
                             StartOrderNote(kernel_.state(), inputs_, MutableArraysOf(unused), options));
  if (note.has_value()) trial.findings.push_back(*std::move(note));
  return absl::OkStatus();
}

absl::Status TrialRunner::RunAs(const LaunchOptions& launch, const RunLengths& lengths, Trial& trial,
                                bool races) const {
  const std::vector<MutableArray> outputs = MutableArraysOf(trial.outputs);
  if (UnderPolicy(interact_, trial.schedule)) return RunUnderPolicy(launch, outputs, lengths, trial, races);
  PALLADION_RETURN_IF_ERROR(RunInOrder(launch, outputs, trial, races));
  const Program& program = kernel_.state().program();
  const bool several = std::count(program.dim_order.begin(), program.dim_order.end(), DimOrder::kParallel) > 0;
  if (trial.run.outcome != Outcome::kDeadlock || !several || program.grid_in_agent) return absl::OkStatus();
  // Alone it waits for ever; beside others, which may write without atomics what it looks at, perhaps not.
  trial = Trial{.schedule = trial.schedule, .outputs = std::move(trial.outputs)};
  return RunUnderPolicy(launch, MutableArraysOf(trial.outputs), lengths, trial, races);
}

namespace {

// Another block of the cluster may have arrived at a barrier that its own block did not wait for: in another schedule
// that block has ended by then. On the safe side: not every arrival at such a barrier is a peer's.
bool LeavesArrivalsOfPeers(const Program& program, absl::Span<const Finding> findings) {
  if (!program.mesh.has_value() || program.mesh->cluster_dims == 0) return false;
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.code == FindingCode::kBarrierUnawaited || finding.code == FindingCode::kBarrierPending;
  });
}

// What a check had seen before its run failed. It cannot run again to see more.
template <class Checks>
void TellBefore(const absl::Status& failed, Checks& checks, Trial& trial) {
  checks.Finish([&](const LaunchOptions&) { return failed; }).IgnoreError();
  trial.findings.insert(trial.findings.end(), checks.findings().begin(), checks.findings().end());
}

bool BothWrite(const Finding& finding) { return finding.code == FindingCode::kRaceWriteWrite; }

// As in races.md#findings. Values are compared in a run of their own, which only a kernel with such races pays for;
// where it fails, the races stay what they are.
absl::Status NameEqualWrites(std::vector<Finding>& found, ThreadOptions options,
                             const std::function<absl::Status(const ThreadOptions& again)>& run) {
  std::vector<std::string> one_value;
  options.one_value = &one_value;
  PALLADION_RETURN_IF_ERROR(run(options));
  for (Finding& finding : found) {
    if (!BothWrite(finding) || std::count(one_value.begin(), one_value.end(), finding.second->object) == 0) continue;
    finding.code = FindingCode::kSameValue;
    finding.severity = RowOf(finding.code).severity;
    finding.message += "; every write stores the same bytes";
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status TrialRunner::RunInOrder(const LaunchOptions& given, absl::Span<const MutableArray> outputs, Trial& trial,
                                     bool sweep) const {
  LaunchOptions launch = given;
  launch.order = IsReverse(trial.schedule) ? WalkOrder::kReverse : WalkOrder::kRowMajor;
  GridChecks grid(kernel_.state(), inputs_, sweep ? GridChecks::Looks::kAll : GridChecks::Looks::kRevisits);
  const bool watched = sweep || !IsReverse(trial.schedule);
  if (watched) grid.Attach(launch);
  absl::StatusOr<LaunchResult> ran = RunLaunch(kernel_.state(), inputs_, outputs, launch);
  if (!ran.ok()) {
    if (sweep) TellBefore(ran.status(), grid, trial);
    return ran.status();
  }
  LaunchResult result = *std::move(ran);
  if (sweep) {
    trial.trouble = grid.Finish([&](const LaunchOptions& again) -> absl::Status {
      PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> unused, NewOutputs(kernel_));
      return RunLaunch(kernel_.state(), inputs_, MutableArraysOf(unused), again).status();
    });
    for (const CheckTally& tally : grid.tallies()) trial.tallies[tally.name] += tally.times;
  } else if (watched) {
    PALLADION_RETURN_IF_ERROR(grid.Finish({}));
  }
  if (result.stuck) trial.run.outcome = Outcome::kDeadlock;
  trial.programs = result.programs;
  trial.accesses = result.accesses;
  trial.printed = std::move(result.printed);
  trial.findings = result.findings;
  trial.findings.insert(trial.findings.end(), grid.findings().begin(), grid.findings().end());
  trial.facts.Set(Fact::kExactUpdates, !RoundsAtomically(kernel_.state().program()));
  trial.facts.Set(Fact::kNoConflict, sweep && !result.stuck && grid.order_is_no_matter());
  // docs/checks.md: why the reverse order need not be watched.
  trial.every_order_alike = sweep && launch.definedness && result.findings.empty() && grid.order_is_no_matter() &&
                            !UpdatesAtomically(kernel_.state().program());
  if (launch.definedness) trial.tallies["definedness"] = result.definedness_checks;
  return absl::OkStatus();
}

absl::Status TrialRunner::RunUnderPolicy(const LaunchOptions& given, absl::Span<const MutableArray> outputs,
                                         const RunLengths& lengths, Trial& trial, bool clocks) const {
  if (threads_) return RunThreadsOf(given, outputs, lengths, trial, clocks);
  LaunchOptions launch = given;
  ClockRaces races(kernel_.state());
  if (clocks) races.Attach(launch);
  const auto run = [&](const LaunchOptions& options, absl::Span<const MutableArray> arrays) {
    const std::unique_ptr<Policy> policy = MakePolicy(trial.schedule, lengths);
    return RunScheduled(kernel_.state(), inputs_, arrays, {.launch = options, .loop = LoopOf()}, *policy);
  };
  absl::StatusOr<ScheduledResult> ran = run(launch, outputs);
  if (!ran.ok()) {
    if (clocks) TellBefore(ran.status(), races, trial);
    return ran.status();
  }
  ScheduledResult result = *std::move(ran);
  if (clocks) {
    trial.trouble = races.Finish([&](const LaunchOptions& again) -> absl::Status {
      PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> unused, NewOutputs(kernel_));
      return run(again, MutableArraysOf(unused)).status();
    });
    trial.tallies["races between programs"] = races.accesses();
  }
  if (launch.definedness) trial.tallies["definedness"] = result.launch.definedness_checks;
  TakeResult(std::move(result), trial);
  trial.findings.insert(trial.findings.end(), races.findings().begin(), races.findings().end());
  trial.facts.Set(Fact::kNoConflict, clocks);
  return absl::OkStatus();
}

absl::Status TrialRunner::RunThreadsOf(const LaunchOptions& given, absl::Span<const MutableArray> outputs,
                                       const RunLengths& lengths, Trial& trial, bool races) const {
  LaunchOptions launch = given;
  if (IsReverse(trial.schedule)) launch.order = WalkOrder::kReverse;
  ThreadOptions options{
      .scheduled = {.launch = launch, .loop = LoopOf(), .fences = *FencePolicyFromName(options_.proxy)},
      .races = races,
      .together = trial.schedule.moves.has_value()};
  const auto run = [&](absl::Span<const MutableArray> arrays) {
    return RunThreads(kernel_.state(), inputs_, arrays, options, *MakePolicy(trial.schedule, lengths));
  };
  PALLADION_ASSIGN_OR_RETURN(ScheduledResult result, run(outputs));
  std::vector<Finding>& found = result.launch.findings;
  if (std::any_of(found.begin(), found.end(), BothWrite)) {
    options = {
        .scheduled = {.launch = {.run = launch.run, .order = launch.order, .definedness = true, .fill = launch.fill},
                      .loop = options.scheduled.loop,
                      .fences = options.scheduled.fences},
        .together = options.together};
    trial.trouble = NameEqualWrites(found, options, [&](const ThreadOptions& again) -> absl::Status {
      PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> unused, NewOutputs(kernel_));
      options = again;
      return run(MutableArraysOf(unused)).status();
    });
  }
  if (launch.definedness) trial.tallies["definedness"] = result.launch.definedness_checks;
  trial.facts.Set(Fact::kNoConflict, races);
  trial.facts.Set(Fact::kNothingDecides, schedule_choice_.empty());
  const bool left = LeavesArrivalsOfPeers(kernel_.state().program(), found);
  trial.facts.Set(Fact::kOrderedArrivals, races && !result.arrivals_race && !left);
  TakeResult(std::move(result), trial);
  if (races) trial.tallies["races between threads"] = trial.accesses;
  return absl::OkStatus();
}

void TrialRunner::TakeResult(ScheduledResult result, Trial& trial) {
  trial.programs = result.launch.programs;
  trial.accesses = result.launch.accesses;
  trial.printed = std::move(result.launch.printed);
  trial.findings = std::move(result.launch.findings);
  trial.run = std::move(result.run);
  trial.all_fit = result.all_fit;
  trial.engines = result.engines;
  trial.tallies["deadlocks"] = trial.run.steps;
}

absl::StatusOr<std::vector<Tensor>> TrialRunner::RunOn(const PreparedKernel& kernel,
                                                       absl::Span<const ConstArray> inputs, const Schedule& schedule,
                                                       const RunLengths& lengths) const {
  PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, NewOutputs(kernel));
  LaunchOptions launch{.run = options_.run, .fill = fill_};
  // As Run does it: programs under a policy are put in order by the policy.
  if (IsReverse(schedule) && (threads_ || !interact_)) launch.order = WalkOrder::kReverse;
  const std::vector<MutableArray> arrays = MutableArraysOf(outputs);
  if (UnderPolicy(interact_, schedule)) {
    const std::unique_ptr<Policy> policy = MakePolicy(schedule, lengths);
    const ScheduledOptions options{.launch = launch, .loop = LoopOf(), .fences = *FencePolicyFromName(options_.proxy)};
    if (NeedsThreads(kernel.state().program())) {
      const ThreadOptions threads{.scheduled = options, .together = schedule.moves.has_value()};
      PALLADION_RETURN_IF_ERROR(RunThreads(kernel.state(), inputs, arrays, threads, *policy).status());
    } else {
      PALLADION_RETURN_IF_ERROR(RunScheduled(kernel.state(), inputs, arrays, options, *policy).status());
    }
  } else {
    PALLADION_RETURN_IF_ERROR(RunLaunch(kernel.state(), inputs, arrays, launch).status());
  }
  return outputs;
}

}  // namespace palladion
