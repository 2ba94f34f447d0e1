#include "emu/checks/check_trial.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "emu/arrays.h"
#include "emu/checks/check_options.h"
#include "emu/checks/race_check.h"
#include "emu/checks/replay_origin.h"
#include "emu/launch/reads_from.h"
#include "emu/threads/schedule_choice.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/inspections.h"

namespace palladion::checks {
namespace {

bool IsReverse(const scheduler::Schedule& schedule) {
  return !schedule.moves.has_value() && schedule.policy == scheduler::PolicyKind::kReverse;
}

// The reverse order is where it is asked; and program order, where its proof may be the end of the check.
bool AsksStartOrder(const Trial& trial) {
  const bool in_order = !trial.schedule.moves.has_value() && trial.schedule.seed == 0;
  const FactSet waits = {Fact::kNothingDecides, Fact::kDeterminateWaits};
  return IsReverse(trial.schedule) || (in_order && trial.facts.Holds(waits));
}

}  // namespace

std::string InWords(const scheduler::Schedule& schedule) {
  if (schedule.moves.has_value()) return Cat("the schedule of ", schedule.moves->size(), " moves");
  if (schedule.policy == scheduler::PolicyKind::kProgramOrder) return "program order";
  if (schedule.policy == scheduler::PolicyKind::kReverse) return "reverse order";
  return Cat("seed ", schedule.seed, " (", RowOf(schedule.policy).name, ")");
}

absl::StatusOr<TrialRunner> TrialRunner::Create(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                                                const CheckOptions& options) {
  TrialRunner runner(kernel, inputs, options);
  PALLADION_ASSIGN_OR_RETURN(runner.fill_, ParseFill(options.fill));
  runner.way_ = launch::WayOf(kernel.state().program(), {.purpose = launch::Purpose::kSchedule});
  const Module& module = kernel.state().module();
  for (const Kernel& text : module.kernels) {
    if (runner.threads() && text.name == kernel.name()) runner.schedule_choice_ = threads::ScheduleChoice(module, text);
  }
  return runner;
}

scheduler::Schedule TrialRunner::ScheduleOfSeed(std::int64_t seed) const {
  const auto number = static_cast<std::uint64_t>(seed);
  return {.policy = scheduler::PolicyOfSeed(number), .seed = number, .moves = {}};
}

const scheduler::ScheduleOrigin& TrialRunner::Origin() const {
  if (!origin_.has_value()) origin_ = OriginOf(kernel_.state(), inputs_, options_);
  return *origin_;
}

std::string TrialRunner::NameOf(scheduler::Schedule schedule) const {
  schedule.origin = Origin();
  return ToString(schedule);
}

absl::StatusOr<std::unique_ptr<Trials>> TrialRunner::With(absl::Span<const ConstArray> inputs,
                                                          const CheckOptions& options) const {
  PALLADION_ASSIGN_OR_RETURN(TrialRunner runner, Create(kernel_, inputs, options));
  return std::unique_ptr<Trials>(std::make_unique<TrialRunner>(std::move(runner)));
}

std::vector<std::size_t> TrialRunner::InputsOfNumbers() const {
  std::vector<std::size_t> numbers;
  std::size_t input = 0;
  for (const OperandInfo& info : kernel_.state().program().operand_infos) {
    if (info.role == Role::kOut || info.role == Role::kScratch) continue;
    const std::size_t i = input++;
    if (info.role == Role::kIn && !agents::IsSemaphore(info.type)) numbers.push_back(i);
  }
  return numbers;
}

bool TrialRunner::races_are_defects() const {
  return kernel_.state().program().target.backend != TargetBackend::kGeneric;
}

absl::StatusOr<Trial> TrialRunner::RunOnce(const scheduler::Schedule& schedule, Watch watch,
                                           const scheduler::RunLengths& lengths,
                                           const agents::LaunchOptions* extra) const {
  Trial trial{.schedule = schedule};
  PALLADION_ASSIGN_OR_RETURN(trial.outputs, NewOutputs(kernel_));
  agents::LaunchOptions launch = extra == nullptr ? agents::LaunchOptions{} : *extra;
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
  if (trial.trouble.ok() && everything && AsksStartOrder(trial)) trial.trouble = AskStartOrder(trial);
  if (everything && options_.contracts) {
    for (Finding& finding : inspections.Findings()) trial.findings.push_back(std::move(finding));
  }
  if (!ran.ok() && trial.findings.empty()) return ran;
  if (everything) {
    if (options_.contracts) trial.tallies["values"] = inspections.looks();
    TakeEvidence(trial);
  }
  return trial;
}

void TrialRunner::PrepareSearch(launch::ScheduledOptions* options) const {
  options->launch.run = options_.run;
  options->launch.fill = fill_;                                // branches may look at it
  options->launch.tasks_apart = options_.races && !threads();  // as what it finds runs
  options->fences = *memory_model::FencePolicyFromName(options_.proxy);
  options->ordered_links = HasOrderedLinks(options_);
  options->loop.budget = std::min(options->loop.budget, options_.step_budget);
}

void TrialRunner::TakeEvidence(Trial& trial) const {
  trial.tallies["bounds"] = trial.accesses;
  FactSet checked = trial.facts;
  checked.Set(Fact::kNoConflict, checked.Has(Fact::kNoConflict) && trial.trouble.ok());
  checked.Set(Fact::kOrderedLanes, checked.Has(Fact::kOrderedLanes) && trial.trouble.ok());
  checked.Set(Fact::kNothingUndefined, options_.definedness && trial.trouble.ok() && !trial.undefined_arrived);
  trial.facts = Undenied(checked, trial.findings);
}

absl::StatusOr<Trial> TrialRunner::RunElided(const scheduler::Schedule& schedule, const scheduler::RunLengths& lengths,
                                             const agents::PreparedKernelState& elided,
                                             launch::ReadsFrom& reads) const {
  Trial trial{.schedule = schedule};
  PALLADION_ASSIGN_OR_RETURN(trial.outputs, NewOutputs(kernel_));
  const agents::LaunchOptions launch{.run = options_.run, .observers = {&reads}, .fill = fill_, .moves_nothing = true};
  PALLADION_RETURN_IF_ERROR(
      RunAs(launch::Way::kThreads, launch, lengths, trial, {elided, options_.races, /*without_values=*/true}));
  PALLADION_RETURN_IF_ERROR(trial.trouble);
  if (IsReverse(schedule)) PALLADION_RETURN_IF_ERROR(AskStartOrder(trial));
  TakeEvidence(trial);
  return trial;
}

// Begun backwards, would it hang? (docs/schedules.md)
absl::Status TrialRunner::AskStartOrder(Trial& trial) const {
  if (trial.all_fit || trial.run.outcome != scheduler::Outcome::kFinished) return absl::OkStatus();
  PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> unused, NewOutputs(kernel_));
  const std::vector<MutableArray> outputs = MutableArraysOf(unused);
  const launch::ScheduledOptions options{.launch = {.run = options_.run, .fill = fill_}, .loop = LoopOf()};
  PALLADION_ASSIGN_OR_RETURN(std::optional<Finding> note,
                             launch::StartOrderNote({kernel_.state(), inputs_, outputs, options}));
  if (note.has_value()) trial.findings.push_back(*std::move(note));
  return absl::OkStatus();
}

launch::Way TrialRunner::WayOf(const scheduler::Schedule& schedule) const {
  if (!schedule.moves.has_value()) return way_;
  return launch::WayOf(kernel_.state().program(), {.purpose = launch::Purpose::kMoves});
}

launch::ScheduledOptions TrialRunner::OptionsOf(const agents::LaunchOptions& launch,
                                                const scheduler::Schedule& schedule) const {
  launch::ScheduledOptions options{.launch = launch,
                                   .loop = LoopOf(),
                                   .fences = *memory_model::FencePolicyFromName(options_.proxy),
                                   .ordered_links = HasOrderedLinks(options_),
                                   .together = schedule.moves.has_value() && schedule.at_once == 0,
                                   .clusters_at_once = schedule.at_once};
  if (schedule.at_once > 0) options.loop.patience = std::numeric_limits<std::int64_t>::max();
  // Whichever core a task runs on, and whenever: it has a core of its own.
  const bool cores = WayOf(schedule) != launch::Way::kInOrder && kernel_.state().program().grid_in_agent;
  options.launch.tasks_apart |= cores && options_.races;
  // Programs under a policy are put in order by the policy.
  if (IsReverse(schedule) && WayOf(schedule) != launch::Way::kPrograms) options.launch.order = WalkOrder::kReverse;
  return options;
}

absl::Status TrialRunner::RunAs(const agents::LaunchOptions& launch, const scheduler::RunLengths& lengths, Trial& trial,
                                bool races) const {
  const launch::Way way = WayOf(trial.schedule);
  const Judged judged{kernel_.state(), races};
  PALLADION_RETURN_IF_ERROR(RunAs(way, launch, lengths, trial, judged));
  if (way != launch::Way::kInOrder || trial.run.outcome != scheduler::Outcome::kDeadlock) return absl::OkStatus();
  const launch::Way again =
      launch::WayOf(judged.kernel.program(), {.purpose = launch::Purpose::kSchedule, .stuck = true});
  if (again == way) return absl::OkStatus();
  trial = Trial{.schedule = trial.schedule, .outputs = std::move(trial.outputs)};
  return RunAs(again, launch, lengths, trial, judged);
}

absl::Status TrialRunner::RunAs(launch::Way way, const agents::LaunchOptions& launch,
                                const scheduler::RunLengths& lengths, Trial& trial, const Judged& judged) const {
  launch::ScheduledOptions options = OptionsOf(launch, trial.schedule);
  if (way == launch::Way::kPrograms) options.launch.order = launch.order;
  options.loop.budget = std::min(options.loop.budget, lengths.most_work);
  const std::unique_ptr<RaceCheck> check = MakeRaceCheck(
      judged.kernel, inputs_,
      {.way = way, .judges = judged.races, .backwards = IsReverse(trial.schedule), .values = !judged.without_values});
  check->Attach(options);
  const auto run = [&](std::vector<Tensor>& outputs, const launch::ScheduledOptions& as) {
    return Launched(way, {judged.kernel, inputs_, MutableArraysOf(outputs), as},
                    *scheduler::MakePolicy(trial.schedule, lengths));
  };
  absl::StatusOr<launch::ScheduledResult> ran = run(trial.outputs, options);
  if (!ran.ok()) {
    for (Finding& finding : check->FoundBefore(ran.status())) trial.findings.push_back(std::move(finding));
    return ran.status();
  }
  launch::ScheduledResult result = *std::move(ran);
  trial.trouble = check->Finish(result, [&](const launch::ScheduledOptions& again) -> absl::Status {
    if (judged.without_values) return absl::CancelledError("a second run would look at values");
    PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> unused, NewOutputs(kernel_));
    return run(unused, again).status();
  });
  trial.facts = check->evidence().facts;
  trial.why = check->evidence().why;
  trial.every_order_alike = check->evidence().every_order_alike;
  trial.tallies = check->evidence().tallies;
  if (launch.definedness) trial.tallies["definedness"] = result.launch.definedness_checks;
  if (way == launch::Way::kThreads) trial.facts.Set(Fact::kNothingDecides, schedule_choice_.empty());
  if (way != launch::Way::kInOrder) trial.tallies["deadlocks"] = result.run.steps;
  TakeResult(std::move(result), trial);
  return absl::OkStatus();
}

absl::StatusOr<launch::ScheduledResult> TrialRunner::Launched(launch::Way way, const launch::ScheduledCall& call,
                                                              scheduler::Policy& policy) {
  if (way != launch::Way::kInOrder) return launch::RunScheduled(call, policy);
  launch::ScheduledResult result;
  PALLADION_ASSIGN_OR_RETURN(result.launch,
                             launch::RunLaunch({call.kernel, call.inputs, call.outputs, call.options.launch}));
  if (result.launch.stuck) result.run.outcome = scheduler::Outcome::kDeadlock;
  return result;
}

void TrialRunner::TakeResult(launch::ScheduledResult result, Trial& trial) {
  trial.programs = result.launch.programs;
  trial.accesses = result.launch.accesses;
  trial.undefined_arrived = result.launch.undefined_arrived;
  trial.printed = std::move(result.launch.printed);
  trial.findings = std::move(result.launch.findings);
  trial.run = std::move(result.run);
  trial.all_fit = result.all_fit;
  trial.engines = result.engines;
  trial.left = std::move(result.launch.left);
}

absl::StatusOr<std::vector<Tensor>> TrialRunner::RunOn(const PreparedKernel& kernel,
                                                       absl::Span<const ConstArray> inputs,
                                                       const scheduler::Schedule& schedule,
                                                       const scheduler::RunLengths& lengths) const {
  PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, NewOutputs(kernel));
  const launch::ScheduledOptions options = OptionsOf({.run = options_.run, .fill = fill_}, schedule);
  const std::vector<MutableArray> arrays = MutableArraysOf(outputs);
  const launch::ScheduledCall call{kernel.state(), inputs, arrays, options};
  PALLADION_RETURN_IF_ERROR(Launched(WayOf(schedule), call, *scheduler::MakePolicy(schedule, lengths)).status());
  return outputs;
}

}  // namespace palladion::checks
