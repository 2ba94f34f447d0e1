#include "emu/check/trial_runner.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "emu/check/checkers.h"
#include "emu/check/for_tests.h"
#include "emu/check/options.h"
#include "emu/check/orders.h"
#include "emu/check/replay_origin.h"
#include "emu/kernel/arrays.h"
#include "emu/run/launch/interaction.h"
#include "emu/run/launch/meeting_blocks.h"
#include "emu/run/launch/reads_from.h"
#include "emu/run/launch/run.h"
#include "emu/run/threads/schedule_choice.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::check {
namespace {

bool IsReverse(const scheduler::Schedule& schedule) {
  return !schedule.moves.has_value() && schedule.policy == scheduler::PolicyKind::kReverse;
}

// The start order is tried for the reverse order, and for program order where a proof from it may end the check.
bool NeedsStartOrder(const Trial& trial) {
  const bool in_order = !trial.schedule.moves.has_value() && trial.schedule.seed == 0;
  const FactSet waits = {Fact::kNothingDecides, Fact::kDeterminateWaits};
  return IsReverse(trial.schedule) || (in_order && trial.facts.Holds(waits));
}

}  // namespace

std::string InWords(const scheduler::Schedule& schedule) {
  if (schedule.moves.has_value())
    return Cat("the schedule with ", schedule.moves->size(), schedule.moves->size() == 1 ? " move" : " moves");
  if (schedule.policy == scheduler::PolicyKind::kProgramOrder) return "program order";
  if (schedule.policy == scheduler::PolicyKind::kReverse) return "reverse order";
  return Cat("seed ", schedule.seed, " (", RowOf(schedule.policy).name, ")");
}

TrialRunner TrialRunner::Create(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                                const CheckOptions& options) {
  TrialRunner runner(kernel, inputs, options);
  runner.mode_ = launch::ExecutionModeOf(kernel.state().program(), {.purpose = launch::Purpose::kSchedule});
  runner.interact_ = runner.mode_ != launch::ExecutionMode::kInOrder;
  runner.may_meet_ = launch::MeetingBlocks::MayMeet(kernel.state());
  if (ForTestsOf(options).by_policy && !kernel.state().program().grid_in_agent)
    runner.mode_ = launch::ExecutionModeOf(kernel.state().program(), {.purpose = launch::Purpose::kMoves});
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

FactSet TrialRunner::WithFactsOfKernel(FactSet facts) const {
  facts.Set(Fact::kOneOrder, !interact_ && !HasParallelDimension(kernel_.state().program(), inputs_));
  facts.Set(Fact::kNoInteraction, !interact_);
  facts.Set(Fact::kNothingDecides, threads() && facts.Has(Fact::kNothingDecides));
  return facts;
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
  return std::unique_ptr<Trials>(std::make_unique<TrialRunner>(Create(kernel_, inputs, options)));
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
  PALLADION_ASSIGN_OR_RETURN(trial.outputs, kernel::NewOutputs(kernel_));
  agents::LaunchOptions launch = extra == nullptr ? agents::LaunchOptions{} : *extra;
  launch.run = options_.run;
  launch.fill = options_.fill;
  launch.found_before_error = &trial.findings;
  const bool everything = watch == Watch::kEverything;
  const absl::Status ran = RunAs(launch, lengths, trial,
                                 {.program = kernel_.state().program(),
                                  .kernel = &kernel_.state(),
                                  .inputs = inputs_,
                                  .races = everything && options_.races,
                                  .definedness = everything && options_.definedness,
                                  .contracts = everything && options_.contracts,
                                  .counts = everything});
  if (!ran.ok()) trial.trouble = ran;
  if (trial.trouble.ok() && everything && NeedsStartOrder(trial)) trial.trouble = TryStartOrder(trial);
  if (!ran.ok() && trial.findings.empty()) return ran;
  if (everything) TakeEvidence(trial);
  return trial;
}

scheduler::Schedule TrialRunner::ScheduleOfSearch(const agents::Ran& ran, const agents::LaunchOptions& options) const {
  scheduler::Schedule schedule = ScheduleOfSeed(0);
  schedule.moves = ran.run.moves;
  schedule.at_once = options.clusters_at_once;
  return schedule;
}

agents::LaunchOptions TrialRunner::OptionsOfSearch(std::int64_t programs) const {
  agents::LaunchOptions options;
  const Program& program = kernel_.state().program();
  const bool cores = program.grid_in_agent;
  options.run = options_.run;
  options.fill = options_.fill;                                   // branches may look at it
  options.tasks_apart = options_.races && (cores || !threads());  // as what it finds runs
  // Every task has a core of its own, and all are there from the start.
  const bool tasks = std::count(program.dim_order.begin(), program.dim_order.end(), DimOrder::kParallel) > 0;
  if (cores && tasks && threads() && options_.races) options.clusters_at_once = programs;
  options.fences = PolicyOf(options_.proxy);
  options.ordered_links = options_.links == LinkOrder::kOrdered;
  options.loop.budget = options_.step_budget;
  return options;
}

void TrialRunner::TakeEvidence(Trial& trial) {
  FactSet checked = trial.facts;
  for (const Fact fact : {Fact::kNoConflict, Fact::kOrderedLanes, Fact::kNothingUndefined})
    checked.Set(fact, checked.Has(fact) && trial.trouble.ok());
  trial.facts = Undenied(checked, trial.findings);
}

absl::StatusOr<Trial> TrialRunner::RunElided(const scheduler::Schedule& schedule, const scheduler::RunLengths& lengths,
                                             const kernel::PreparedKernelState& elided,
                                             launch::ReadsFrom& reads) const {
  Trial trial{.schedule = schedule};
  PALLADION_ASSIGN_OR_RETURN(trial.outputs, kernel::NewOutputs(kernel_));
  const agents::LaunchOptions launch{
      .run = options_.run, .observers = {&reads}, .fill = options_.fill, .moves_nothing = true};
  PALLADION_RETURN_IF_ERROR(RunChecked(launch, lengths, trial,
                                       {.program = elided.program(),
                                        .kernel = &elided,
                                        .inputs = inputs_,
                                        .mode = launch::ExecutionMode::kThreads,
                                        .races = options_.races,
                                        .counts = true,
                                        .values = false}));
  PALLADION_RETURN_IF_ERROR(trial.trouble);
  if (IsReverse(schedule)) PALLADION_RETURN_IF_ERROR(TryStartOrder(trial));
  TakeEvidence(trial);
  return trial;
}

// Begun backwards, would it hang? (docs/explanation/schedules.md)
absl::Status TrialRunner::TryStartOrder(Trial& trial) const {
  if (trial.all_fit || trial.run.outcome != scheduler::Outcome::kFinished) return absl::OkStatus();
  PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> unused, kernel::NewOutputs(kernel_));
  const std::vector<MutableArray> outputs = kernel::MutableArraysOf(unused);
  const agents::LaunchOptions options{.run = options_.run, .fill = options_.fill, .loop = LoopOf()};
  PALLADION_ASSIGN_OR_RETURN(std::optional<Finding> note,
                             launch::StartOrderNote({kernel_.state(), inputs_, outputs}, options));
  if (note.has_value()) trial.findings.push_back(*std::move(note));
  return absl::OkStatus();
}

launch::ExecutionMode TrialRunner::ExecutionModeOf(const scheduler::Schedule& schedule) const {
  if (!schedule.moves.has_value()) return mode_;
  return launch::ExecutionModeOf(kernel_.state().program(), {.purpose = launch::Purpose::kMoves});
}

agents::LaunchOptions TrialRunner::OptionsOf(const agents::LaunchOptions& launch,
                                             const scheduler::Schedule& schedule) const {
  agents::LaunchOptions options = launch;
  options.mode = ExecutionModeOf(schedule);
  options.loop = LoopOf();
  options.fences = PolicyOf(options_.proxy);
  options.ordered_links = options_.links == LinkOrder::kOrdered;
  options.together = schedule.moves.has_value() && schedule.at_once == 0;
  options.clusters_at_once = schedule.at_once;
  if (schedule.at_once > 0) options.loop.patience = std::numeric_limits<std::int64_t>::max();
  // Whichever core a task runs on, and whenever: it has a core of its own.
  const bool cores =
      ExecutionModeOf(schedule) != launch::ExecutionMode::kInOrder && kernel_.state().program().grid_in_agent;
  options.tasks_apart |= cores && options_.races;
  // Programs under a policy are put in order by the policy.
  if (IsReverse(schedule) && ExecutionModeOf(schedule) != launch::ExecutionMode::kPrograms)
    options.order = WalkOrder::kReverse;
  return options;
}

absl::Status TrialRunner::RunAs(const agents::LaunchOptions& launch, const scheduler::RunLengths& lengths, Trial& trial,
                                const CheckedRun& wanted) const {
  CheckedRun run = wanted;
  run.mode = launch.mode.value_or(ExecutionModeOf(trial.schedule));
  PALLADION_RETURN_IF_ERROR(RunChecked(launch, lengths, trial, run));
  if (run.mode != launch::ExecutionMode::kInOrder || trial.run.outcome != scheduler::Outcome::kDeadlock)
    return absl::OkStatus();
  run.mode = launch::ExecutionModeOf(run.program, {.purpose = launch::Purpose::kSchedule, .stuck = true});
  if (run.mode == launch::ExecutionMode::kInOrder) return absl::OkStatus();
  trial = Trial{.schedule = trial.schedule, .outputs = std::move(trial.outputs)};
  return RunChecked(launch, lengths, trial, run);
}

absl::Status TrialRunner::RunChecked(const agents::LaunchOptions& launch, const scheduler::RunLengths& lengths,
                                     Trial& trial, const CheckedRun& run) const {
  agents::LaunchOptions options = OptionsOf(launch, trial.schedule);
  trial.mode = run.mode;
  options.mode = run.mode;
  if (run.mode == launch::ExecutionMode::kPrograms) options.order = launch.order;
  options.loop.budget = std::min(options.loop.budget, lengths.most_work);
  CheckedRun checked = run;
  checked.backwards = IsReverse(trial.schedule);
  Checkers checkers = Checkers::Of(checked);
  checkers.Attach(options);
  std::optional<launch::MeetingBlocks> blocks;
  if (may_meet_ && options_.races) {
    blocks.emplace(*run.kernel, inputs_, /*take_turns=*/run.mode != launch::ExecutionMode::kInOrder);
    options.observers.push_back(&*blocks);
  }
  const auto launched = [&](std::vector<Tensor>& outputs, const agents::LaunchOptions& as) {
    return launch::Run({*run.kernel, inputs_, kernel::MutableArraysOf(outputs)}, as,
                       *scheduler::MakePolicy(trial.schedule, lengths));
  };
  absl::StatusOr<agents::Ran> ran = launched(trial.outputs, options);
  if (blocks.has_value() && blocks->meet() && !IsInterrupted(ran.status())) return launch::BlocksMeet();
  if (!ran.ok()) {
    for (Finding& finding : checkers.FoundBefore(ran.status())) trial.findings.push_back(std::move(finding));
    return ran.status();
  }
  trial.trouble = checkers.Finish(*ran, [&](const agents::LaunchOptions& again) -> absl::Status {
    if (!run.values) return absl::CancelledError("a second run would look at values");
    PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> unused, kernel::NewOutputs(kernel_));
    return launched(unused, again).status();
  });
  trial.facts = checkers.looked().facts;
  trial.why = checkers.looked().why;
  trial.every_order_alike = checkers.looked().every_order_alike;
  trial.tallies = checkers.looked().tallies;
  if (blocks.has_value() && run.counts) trial.tallies[CheckKind::kBlockResidency] += blocks->copies();
  if (run.mode == launch::ExecutionMode::kThreads) trial.facts.Set(Fact::kNothingDecides, schedule_choice_.empty());
  TakeResult(*std::move(ran), trial);
  return absl::OkStatus();
}

void TrialRunner::TakeResult(agents::Ran result, Trial& trial) {
  trial.programs = result.programs;
  trial.accesses = result.accesses;
  trial.undefined_arrived = result.undefined_arrived;
  trial.printed = std::move(result.printed);
  trial.findings = std::move(result.findings);
  trial.run = std::move(result.run);
  trial.all_fit = result.all_fit;
  trial.engines = result.engines;
  trial.left = std::move(result.left);
}

absl::StatusOr<std::vector<Tensor>> TrialRunner::RunOn(const PreparedKernel& kernel,
                                                       absl::Span<const ConstArray> inputs,
                                                       const scheduler::Schedule& schedule,
                                                       const scheduler::RunLengths& lengths) const {
  PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, kernel::NewOutputs(kernel));
  const agents::LaunchOptions options = OptionsOf({.run = options_.run, .fill = options_.fill}, schedule);
  const std::vector<MutableArray> arrays = kernel::MutableArraysOf(outputs);
  PALLADION_RETURN_IF_ERROR(
      launch::Run({kernel.state(), inputs, arrays}, options, *scheduler::MakePolicy(schedule, lengths)).status());
  return outputs;
}

OtherMode OtherModeOf(const PreparedKernel& kernel) {
  const Program& program = kernel.state().program();
  if (launch::ProgramsInteract(program)) return OtherMode::kNone;
  if (program.grid_in_agent) return OtherMode::kAsCores;
  return OtherMode::kByPolicy;
}

}  // namespace palladion::check
