#include "emu/cpp/function_check.h"

#include <algorithm>
#include <utility>

#include "emu/agents/run_observer.h"
#include "emu/agents/run_observer.h"
#include "emu/arrays.h"
#include "emu/checks/check_compare.h"
#include "emu/checks/check_trial.h"
#include "emu/checks/replay_origin.h"
#include "emu/launch/launch.h"
#include "emu/values.h"
#include "emu/watch/last_writer.h"
#include "scheduler/policies/pct_bound.h"
#include "scheduler/search/shrink.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/tensor/element_index.h"

namespace palladion {
namespace {

// What a function does is not seen: the same string may be of another function of the same shape.
scheduler::ScheduleOrigin OriginOf(const FunctionKernel& kernel, absl::Span<const Tensor> inputs,
                                   const CheckOptions& options) {
  scheduler::ScheduleHash shape, arrays;
  shape.Add("C++").Add(kernel.threads.size());
  for (const std::int64_t size : kernel.grid) shape.Add(static_cast<std::uint64_t>(size));
  const auto add = [&arrays](std::string_view name, DType dtype, const std::vector<std::int64_t>& sizes) {
    arrays.Add(name).Add(Name(dtype));
    for (const std::int64_t size : sizes) arrays.Add(static_cast<std::uint64_t>(size));
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) add(kernel.inputs[i], inputs[i].dtype(), inputs[i].shape());
  for (const KernelOutput& output : kernel.outputs) add(output.name, output.dtype, output.shape);
  return {.kernel = checks::OriginWord(kernel.name),
          .target = "generic",
          .options = checks::OptionsText(options),
          .operations = scheduler::Folded(shape.value()),
          .shapes = scheduler::Folded(arrays.value()),
          .inputs = scheduler::Folded(checks::HashOfInputs(ArraysOf(inputs)))};
}

scheduler::Schedule ScheduleOfSeed(std::int64_t seed) {
  const auto number = static_cast<std::uint64_t>(seed);
  return {.policy = scheduler::PolicyOfSeed(number), .seed = number, .moves = {}};
}

}  // namespace

FunctionCheck::FunctionCheck(const FunctionKernel& kernel, absl::Span<const Tensor> inputs, const CheckOptions& options,
                             Fill fill)
    : kernel_(kernel),
      inputs_(inputs),
      options_(options),
      watched_{.run = options.run,
               .step_budget = options.step_budget,
               .fill = fill,
               .fences = *memory_model::FencePolicyFromName(options.proxy),
               .races = options.races,
               .definedness = options.definedness},
      origin_(OriginOf(kernel, inputs, options)) {}

absl::Status FunctionCheck::Run() {
  report_ = {.kernel = kernel_.name, .target = "generic", .checked = true, .strict = options_.strict};
  report_.programs = static_cast<std::int64_t>(kernel_.threads.size());
  for (const std::int64_t size : kernel_.grid) report_.programs *= size;
  absl::Status status = RunSchedules();
  if (IsInterrupted(status)) {
    report_.interrupted = true;
    status = absl::OkStatus();
  }
  if (!status.ok() && log_.size() == 0) return status;
  if (!status.ok()) report_.error = ErrorReport(status, "", "").error;
  Conclude();
  return absl::OkStatus();
}

absl::Status FunctionCheck::RunSchedules() {
  const bool replays = !options_.replay.empty();
  // A replay shows its own schedule; the other says how long runs are, and what the outputs are compared with.
  if (replays) return Replay();
  PALLADION_ASSIGN_OR_RETURN(Trial first, Try(ScheduleOfSeed(0)));
  baseline_ = first.ran;
  report_.printed = baseline_.printed;
  lengths_ = {.steps = std::max<std::int64_t>(1, baseline_.run.steps),
              .operations = baseline_.run.operations,
              .work = baseline_.run.work};
  PALLADION_RETURN_IF_ERROR(Take(first));
  if (options_.run.control != nullptr) options_.run.control->BeginSchedules(options_.seeds);
  for (std::int64_t seed = 1; seed < options_.seeds && !livelock_ && !Interrupted(); ++seed) {
    if (options_.run.control != nullptr) options_.run.control->EndSchedules(seed);
    PALLADION_ASSIGN_OR_RETURN(const Trial trial, Try(ScheduleOfSeed(seed)));
    PALLADION_RETURN_IF_ERROR(Take(trial));
    Compare(trial);
  }
  return absl::OkStatus();
}

absl::Status FunctionCheck::Replay() {
  PALLADION_ASSIGN_OR_RETURN(const scheduler::Schedule schedule, scheduler::ParseSchedule(options_.replay));
  PALLADION_RETURN_IF_ERROR(scheduler::ExpectMadeFor(schedule, origin_));
  FunctionOptions outputs_only = watched_;
  outputs_only.races = outputs_only.definedness = false;
  PALLADION_ASSIGN_OR_RETURN(baseline_, Ran(ScheduleOfSeed(0), outputs_only));
  PALLADION_RETURN_IF_ERROR(baseline_.trouble);
  report_.printed = baseline_.printed;
  lengths_ = {.steps = std::max<std::int64_t>(1, baseline_.run.steps),
              .operations = baseline_.run.operations,
              .work = baseline_.run.work};
  PALLADION_ASSIGN_OR_RETURN(const Trial trial, Try(schedule));
  PALLADION_RETURN_IF_ERROR(Take(trial));
  Compare(trial);
  return absl::OkStatus();
}

absl::StatusOr<FunctionRun> FunctionCheck::Ran(const scheduler::Schedule& schedule, const FunctionOptions& options) {
  const std::unique_ptr<scheduler::Policy> policy = scheduler::MakePolicy(schedule, lengths_);
  return RunFunctions(kernel_, inputs_, options, places_, *policy);
}

absl::StatusOr<FunctionCheck::Trial> FunctionCheck::Try(const scheduler::Schedule& schedule) {
  PALLADION_ASSIGN_OR_RETURN(FunctionRun ran, Ran(schedule, watched_));
  return Trial{schedule, std::move(ran)};
}

// Its findings, and then its trouble.
absl::Status FunctionCheck::Take(const Trial& trial) {
  const FunctionRun& ran = trial.ran;
  report_.schedules += IsInterrupted(ran.trouble) ? 0 : 1;
  livelock_ |= ran.run.outcome == scheduler::Outcome::kBudget;
  tallies_["bounds"] += ran.accesses;
  tallies_["deadlocks"] += ran.run.steps;
  if (options_.races) tallies_["races"] += ran.raced;
  if (options_.definedness) tallies_["definedness"] += ran.accesses + ran.definedness;
  for (const Finding& finding : ran.findings)
    log_.Add(finding, trial.schedule, [&] { return ReplayOf(trial, finding); });
  return ran.trouble;
}

// The moves of the schedule that it takes to see the finding.
std::string FunctionCheck::ReplayOf(const Trial& trial, const Finding& finding) {
  constexpr std::int64_t kMaxRuns = 400;
  scheduler::Schedule shorter = trial.schedule;
  const bool worth = finding.severity != Severity::kNote && finding.code != FindingCode::kLivelock;
  if (trial.ran.run.moves.empty() || !worth) return NameOf(shorter);
  const auto shows = [&](const std::vector<scheduler::Move>& moves) -> absl::StatusOr<bool> {
    scheduler::Schedule schedule = trial.schedule;
    schedule.moves = moves;
    PALLADION_ASSIGN_OR_RETURN(const FunctionRun again, Ran(schedule, watched_));
    return std::any_of(again.findings.begin(), again.findings.end(),
                       [&](const Finding& found) { return SameFinding(found, finding); });
  };
  const absl::StatusOr<scheduler::Shrunk> shrunk =
      scheduler::Shrink(trial.ran.run.moves, trial.ran.run.operations, shows, kMaxRuns);
  if (shrunk.ok() && shrunk->reproduced) shorter.moves = shrunk->moves;
  return NameOf(shorter);
}

std::optional<FindingAccess> FunctionCheck::WriterOf(const scheduler::Schedule& schedule, std::size_t output,
                                                     std::int64_t element) {
  watch::LastWriter writer(ElementCount(element),
                           {.blocks = true, .thread_index = true, .many_threads = kernel_.threads.size() > 1});
  FunctionOptions options = watched_;
  options.races = options.definedness = false;
  agents::BoundAndFinished watch([&](memory_model::Memory& memory, absl::Span<const BufferId> outputs) {
    memory.Observe(&writer);
    writer.Watch(memory, outputs[output]);
  });
  options.observers = {&watch};
  return Ran(schedule, options).ok() ? writer.writer() : std::nullopt;
}

void FunctionCheck::Compare(const Trial& trial) {
  if (differs_ || trial.ran.run.outcome != scheduler::Outcome::kFinished ||
      baseline_.run.outcome != scheduler::Outcome::kFinished)
    return;
  const std::optional<checks::OutputDifference> difference =
      checks::FirstDifference(baseline_.outputs, trial.ran.outputs);
  if (!difference.has_value()) return;
  differs_ = true;  // one pair of schedules tells it
  const auto& [output, element, count] = *difference;
  const scheduler::Schedule first = ScheduleOfSeed(0);
  const KernelOutput& declared = kernel_.outputs[output];
  Finding finding{.code = FindingCode::kNondeterministic,
                  .severity = RowOf(FindingCode::kNondeterministic).severity,
                  .message = Cat("output '", declared.name, "'", IndexText(declared.shape, element), " is ",
                                 ElementText(baseline_.outputs[output], element), " in ", checks::InWords(first),
                                 " and ", ElementText(trial.ran.outputs[output], element), " in ",
                                 checks::InWords(trial.schedule), "; ", count, " of its elements differ"),
                  .first = WriterOf(first, output, element),
                  .second = WriterOf(trial.schedule, output, element),
                  .why =
                      "blocks, threads and asynchronous operations run in any order that barriers, semaphores and "
                      "atomics leave"};
  if (finding.second.has_value()) finding.loc = finding.second->loc;
  if (const Finding* cause = log_.AnyUnordered(); cause != nullptr)
    finding.fix = Cat("mend the ", Code(cause->code), " first");
  log_.AddDifference(std::move(finding), trial.schedule, NameOf(trial.schedule));
}

std::string FunctionCheck::NameOf(scheduler::Schedule schedule) const {
  schedule.origin = origin_;
  return ToString(schedule);
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
  for (const auto& [name, times] : tallies_) report_.checks.push_back({name, times});
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
