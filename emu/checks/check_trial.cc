#include "emu/checks/check_trial.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "emu/arrays.h"
#include "emu/checks/check_options.h"
#include "emu/checks/race_check.h"
#include "emu/checks/replay_origin.h"
#include "emu/launch/interaction.h"
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
  runner.interact_ = launch::ProgramsInteract(kernel.state().program());
  runner.threads_ = launch::NeedsThreads(kernel.state().program());
  const Module& module = kernel.state().module();
  for (const Kernel& text : module.kernels) {
    if (runner.threads_ && text.name == kernel.name()) runner.schedule_choice_ = threads::ScheduleChoice(module, text);
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
  if (trial.trouble.ok() && everything && IsReverse(schedule)) trial.trouble = AskStartOrder(trial);
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

void TrialRunner::TakeEvidence(Trial& trial) const {
  trial.tallies["bounds"] = trial.accesses;
  FactSet checked = trial.facts;
  checked.Set(Fact::kNoConflict, checked.Has(Fact::kNoConflict) && trial.trouble.ok());
  checked.Set(Fact::kNothingUndefined, options_.definedness && trial.trouble.ok());
  trial.facts = Undenied(checked, trial.findings);
}

absl::StatusOr<Trial> TrialRunner::RunElided(const scheduler::Schedule& schedule, const scheduler::RunLengths& lengths,
                                             const agents::PreparedKernelState& elided,
                                             launch::ReadsFrom& reads) const {
  Trial trial{.schedule = schedule};
  PALLADION_ASSIGN_OR_RETURN(trial.outputs, NewOutputs(kernel_));
  const agents::LaunchOptions launch{.run = options_.run, .observers = {&reads}, .fill = fill_, .moves_nothing = true};
  PALLADION_RETURN_IF_ERROR(
      RunAs(AgentKind::kThreads, launch, lengths, trial, {elided, options_.races, /*reads_from=*/&reads}));
  PALLADION_RETURN_IF_ERROR(trial.trouble);
  if (IsReverse(schedule)) PALLADION_RETURN_IF_ERROR(AskStartOrder(trial));
  TakeEvidence(trial);
  return trial;
}

// The reverse order is where it is asked: begun backwards, would it hang? (docs/schedules.md)
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

// A list of moves means nothing to programs that run one after another.
AgentKind TrialRunner::AgentsOf(const scheduler::Schedule& schedule) const {
  if (!interact_ && !schedule.moves.has_value()) return AgentKind::kInOrder;
  return threads_ ? AgentKind::kThreads : AgentKind::kPrograms;
}

launch::ScheduledOptions TrialRunner::OptionsOf(const agents::LaunchOptions& launch,
                                                const scheduler::Schedule& schedule) const {
  launch::ScheduledOptions options{.launch = launch,
                                   .loop = LoopOf(),
                                   .fences = *memory_model::FencePolicyFromName(options_.proxy),
                                   .ordered_links = HasOrderedLinks(options_),
                                   .together = schedule.moves.has_value()};
  // Whichever core a task runs on, and whenever: it has a core of its own.
  const bool cores = AgentsOf(schedule) == AgentKind::kThreads && kernel_.state().program().grid_in_agent;
  options.launch.tasks_apart |= cores && options_.races;
  // Programs under a policy are put in order by the policy.
  if (IsReverse(schedule) && AgentsOf(schedule) != AgentKind::kPrograms) options.launch.order = WalkOrder::kReverse;
  return options;
}

absl::Status TrialRunner::RunAs(const agents::LaunchOptions& launch, const scheduler::RunLengths& lengths, Trial& trial,
                                bool races) const {
  const AgentKind agents = AgentsOf(trial.schedule);
  const Judged judged{kernel_.state(), races};
  PALLADION_RETURN_IF_ERROR(RunAs(agents, launch, lengths, trial, judged));
  const Program& program = kernel_.state().program();
  const bool several = std::count(program.dim_order.begin(), program.dim_order.end(), DimOrder::kParallel) > 0;
  if (agents != AgentKind::kInOrder || trial.run.outcome != scheduler::Outcome::kDeadlock || !several ||
      program.grid_in_agent)
    return absl::OkStatus();
  // Alone it waits for ever; beside others, which may write without atomics what it looks at, perhaps not.
  trial = Trial{.schedule = trial.schedule, .outputs = std::move(trial.outputs)};
  return RunAs(AgentKind::kPrograms, launch, lengths, trial, judged);
}

absl::Status TrialRunner::RunAs(AgentKind agents, const agents::LaunchOptions& launch,
                                const scheduler::RunLengths& lengths, Trial& trial, const Judged& judged) const {
  launch::ScheduledOptions options = OptionsOf(launch, trial.schedule);
  options.reads_from = judged.reads_from;
  if (agents == AgentKind::kPrograms) options.launch.order = launch.order;
  const std::unique_ptr<RaceCheck> check = MakeRaceCheck(
      judged.kernel, inputs_, {.agents = agents, .judges = judged.races, .backwards = IsReverse(trial.schedule)});
  check->Attach(options);
  const Running running{judged.kernel, inputs_, agents};
  absl::StatusOr<launch::ScheduledResult> ran =
      Launched(running, MutableArraysOf(trial.outputs), options, *scheduler::MakePolicy(trial.schedule, lengths));
  if (!ran.ok()) {
    for (Finding& finding : check->FoundBefore(ran.status())) trial.findings.push_back(std::move(finding));
    return ran.status();
  }
  launch::ScheduledResult result = *std::move(ran);
  trial.trouble = check->Finish(result, [&](const launch::ScheduledOptions& again) -> absl::Status {
    if (judged.reads_from != nullptr) return absl::CancelledError("a second run would look at values");
    PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> unused, NewOutputs(kernel_));
    return Launched(running, MutableArraysOf(unused), again, *scheduler::MakePolicy(trial.schedule, lengths)).status();
  });
  trial.facts = check->evidence().facts;
  trial.every_order_alike = check->evidence().every_order_alike;
  trial.tallies = check->evidence().tallies;
  if (launch.definedness) trial.tallies["definedness"] = result.launch.definedness_checks;
  if (agents == AgentKind::kThreads) trial.facts.Set(Fact::kNothingDecides, schedule_choice_.empty());
  if (agents != AgentKind::kInOrder) trial.tallies["deadlocks"] = result.run.steps;
  TakeResult(std::move(result), trial);
  return absl::OkStatus();
}

absl::StatusOr<launch::ScheduledResult> TrialRunner::Launched(const Running& running,
                                                              absl::Span<const MutableArray> outputs,
                                                              const launch::ScheduledOptions& options,
                                                              scheduler::Policy& policy) {
  if (running.agents != AgentKind::kInOrder) {
    return launch::RunScheduled({running.kernel, running.inputs, outputs, options}, policy);
  }
  launch::ScheduledResult result;
  PALLADION_ASSIGN_OR_RETURN(result.launch, launch::RunLaunch(running.kernel, running.inputs, outputs, options.launch));
  if (result.launch.stuck) result.run.outcome = scheduler::Outcome::kDeadlock;
  return result;
}

void TrialRunner::TakeResult(launch::ScheduledResult result, Trial& trial) {
  trial.programs = result.launch.programs;
  trial.accesses = result.launch.accesses;
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
  const Running running{kernel.state(), inputs, AgentsOf(schedule)};
  PALLADION_RETURN_IF_ERROR(
      Launched(running, MutableArraysOf(outputs), options, *scheduler::MakePolicy(schedule, lengths)).status());
  return outputs;
}

}  // namespace palladion::checks
