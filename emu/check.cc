// The driver of a check: which schedules run, what watches them, and what their outputs say together. Rules:
// docs/checks.md. Where programs do not synchronise with each other, what the sweep of their accesses finds holds for
// every order, so two orders suffice; else there are as many schedules as seeds.
#include "emu/check.h"

#include <algorithm>
#include <new>
#include <utility>

#include "emu/agents/float_environment.h"
#include "emu/agents/host_memory.h"
#include "emu/agents/operand_check.h"
#include "emu/arrays.h"
#include "emu/checks/check_compare.h"
#include "emu/checks/check_log.h"
#include "emu/checks/check_options.h"
#include "emu/checks/check_trial.h"
#include "emu/checks/contracts.h"
#include "emu/checks/coverage.h"
#include "emu/checks/elided_trials.h"
#include "emu/checks/evidence.h"
#include "emu/checks/other_operands.h"
#include "emu/checks/shorten.h"
#include "emu/launch/grid_checks.h"
#include "emu/launch/scheduled_launch.h"
#include "scheduler/policies/pct_bound.h"
#include "scheduler/search/parallel_seeds.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {
namespace {

class Checker {
 public:
  Checker(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs, const CheckOptions& options,
          const checks::TrialRunner& runner)
      : kernel_(kernel), inputs_(inputs), options_(options), runner_(runner) {}

  absl::Status Run() {
    const agents::PreparedKernelState& state = kernel_.state();
    report_ = {.kernel = kernel_.name(),
               .target = kernel_.target(),
               .steps = static_cast<std::int64_t>(state.program().steps.size()),
               .checked = true,
               .strict = options_.strict};
    for (Finding& finding : options_.contracts ? checks::StaticFindings(state, &report_.checks) : state.always_found())
      Add(std::move(finding), nullptr);
    absl::Status status = RunSchedules();
    if (IsInterrupted(status)) {
      report_.interrupted = true;
      status = absl::OkStatus();
    }
    if (status.ok() && !report_.interrupted) checks::ChallengeEqualValues(runner_, options_, lengths_, log_);
    if (!status.ok() && log_.size() == 0) return status;
    if (!status.ok()) report_.error = ErrorReport(status, "", "").error;
    Conclude();
    return absl::OkStatus();
  }

  Report TakeReport() { return std::move(report_); }
  // And what goes with them to later launches.
  absl::StatusOr<std::vector<Tensor>> TakeOutputs() {
    Taken& taken = replayed_;
    if (options_.replay.empty()) taken = {std::move(baseline_.outputs), baseline_.left};
    if (!taken.outputs.empty()) {
      const std::vector<MutableArray> arrays = MutableArraysOf(taken.outputs);
      PALLADION_RETURN_IF_ERROR(launch::LeaveTo(options_.run.session, {kernel_.state(), inputs_, arrays, taken.left}));
    }
    return std::move(taken.outputs);
  }

 private:
  // What the caller gets of one schedule.
  struct Taken {
    std::vector<Tensor> outputs;
    agents::LaunchLeft left;
  };

  absl::Status RunSchedules() {
    if (!options_.replay.empty()) return Replay();
    if (!options_.exhaustive && !runner_.interact()) return RunOrders();
    PALLADION_RETURN_IF_ERROR(RunBaseline(checks::Watch::kEverything));
    if (options_.exhaustive) return RunAll();
    return livelock_ ? absl::OkStatus() : RunSeeds();
  }

  absl::Status RunBaseline(checks::Watch watch) {
    PALLADION_ASSIGN_OR_RETURN(checks::Trial trial, ProgramOrder(watch));
    return TakeBaseline(std::move(trial), watch);
  }

  absl::StatusOr<checks::Trial> ProgramOrder(checks::Watch watch) {
    if (watch == checks::Watch::kOutputs) return runner_.Run(runner_.ScheduleOfSeed(0), watch, lengths_);
    checks::Coverage coverage(kernel_.state());  // what program order does not reach is seldom reached otherwise
    agents::LaunchOptions covered;
    coverage.Attach(covered);
    PALLADION_ASSIGN_OR_RETURN(checks::Trial trial, runner_.Run(runner_.ScheduleOfSeed(0), watch, lengths_, &covered));
    trial.never_ran = coverage.Missing(trial.programs);
    return trial;
  }

  absl::Status TakeBaseline(checks::Trial trial, checks::Watch watch) {
    baseline_ = std::move(trial);
    lengths_ = {.steps = std::max<std::int64_t>(1, baseline_.run.steps),
                .operations = baseline_.run.operations,
                .work = baseline_.run.work};
    report_.programs = baseline_.programs;
    report_.printed = baseline_.printed;
    if (watch == checks::Watch::kOutputs) return baseline_.trouble;
    report_.never_ran = baseline_.never_ran;
    return Take(baseline_, watch);
  }

  // Program order and its reverse, at the same time where a thread is worth it. The reverse is not watched where
  // program order shows that nothing but its outputs can be news (docs/checks.md); begun too early, it runs again.
  absl::Status RunOrders() {
    constexpr std::int64_t kForward = 0;  // and 1, the reverse
    const std::int64_t orders = HasParallelDimension() ? 2 : 1;
    const bool together = options_.threads != 1 && WorthAThread();
    if (options_.run.control != nullptr) options_.run.control->BeginSchedules(orders);
    absl::Status status;
    scheduler::ParallelSeeds<absl::StatusOr<checks::Trial>> both(kForward, orders, together ? options_.threads : 1);
    both.Do(
        [&](std::int64_t order) {
          const agents::FloatEnvironment environment;
          if (order == kForward) return ProgramOrder(checks::Watch::kEverything);
          return Reverse(ReverseWatch(together));
        },
        [&](std::int64_t order, absl::StatusOr<checks::Trial> trial) {
          status = order == kForward ? TakeForward(std::move(trial)) : TakeReverse(std::move(trial), together);
          if (!status.ok() || order + 1 == orders) return false;
          Done(order + 1);
          return !Interrupted();
        });
    return status;
  }

  absl::Status TakeForward(absl::StatusOr<checks::Trial> trial) {
    return trial.ok() ? TakeBaseline(*std::move(trial), checks::Watch::kEverything) : trial.status();
  }

  // `too_early`: it ran before program order had shown whether it must be watched.
  checks::Watch ReverseWatch(bool too_early) const {
    return too_early || baseline_.every_order_alike ? checks::Watch::kOutputs : checks::Watch::kEverything;
  }

  absl::Status TakeReverse(absl::StatusOr<checks::Trial> trial, bool too_early) {
    if (too_early && !baseline_.every_order_alike) trial = Reverse(checks::Watch::kEverything);
    PALLADION_RETURN_IF_ERROR(trial.status());
    PALLADION_RETURN_IF_ERROR(Take(*trial, ReverseWatch(false)));
    return Compare(*trial);
  }

  absl::StatusOr<checks::Trial> Reverse(checks::Watch watch) const {
    scheduler::Schedule schedule = runner_.ScheduleOfSeed(2);
    schedule.policy = scheduler::PolicyKind::kReverse;
    const agents::LaunchOptions as_watched{.tasks_apart = options_.races};
    return runner_.Run(schedule, watch, lengths_, &as_watched);
  }

  bool HasParallelDimension() const {
    const std::vector<memory_model::TaskDim> dims = launch::GridDims(kernel_.state().program(), inputs_);
    const auto empty = [](const memory_model::TaskDim& dim) { return dim.size < 1; };
    return std::none_of(dims.begin(), dims.end(), empty) && launch::HasTasks(dims);
  }

  // Starting one takes some 20 microseconds; a step takes 20 nanoseconds, and more where values are large.
  bool WorthAThread() const {
    constexpr std::int64_t kEnough = std::int64_t{1} << 13, kBytesAsStep = 256;
    const Program& program = kernel_.state().program();
    std::int64_t work = static_cast<std::int64_t>(program.steps.size() + program.arena_bytes / kBytesAsStep);
    for (const memory_model::TaskDim& dim : launch::GridDims(program, inputs_)) {
      if (work < kEnough) work *= dim.size;
    }
    return work >= kEnough && checks::OutputBytes(kernel_.state().program()) <= kMaxOutputsTogether;
  }

  // Two orders together hold the outputs twice while the first is watched: large ones take turns instead.
  static constexpr std::size_t kMaxOutputsTogether = std::size_t{1} << 24;

  absl::Status RunOne(const scheduler::Schedule& schedule, Taken* taken = nullptr) {
    PALLADION_ASSIGN_OR_RETURN(checks::Trial trial, runner_.Run(schedule, checks::Watch::kEverything, lengths_));
    if (taken != nullptr) *taken = {trial.outputs, trial.left};
    PALLADION_RETURN_IF_ERROR(Take(trial, checks::Watch::kEverything));
    return Compare(trial);
  }

  absl::Status Replay() {
    PALLADION_ASSIGN_OR_RETURN(const scheduler::Schedule schedule, scheduler::ParseSchedule(options_.replay));
    PALLADION_RETURN_IF_ERROR(scheduler::ExpectMadeFor(schedule, runner_.Origin()));
    PALLADION_RETURN_IF_ERROR(RunBaseline(checks::Watch::kOutputs));
    return RunOne(schedule, &replayed_);
  }

  // Results are taken in the order of the seeds, so the report does not depend on the number of threads.
  absl::Status RunSeeds() {
    if (checks::ProofOf(Facts()) != nullptr && !log_.AnyForbidsProof() && !options_.all_seeds) return absl::OkStatus();
    if (options_.run.control != nullptr) options_.run.control->BeginSchedules(options_.seeds);
    Done(1);
    absl::Status status;
    checks::ElidedTrials elided(runner_, options_, baseline_, lengths_);
    scheduler::ParallelSeeds<absl::StatusOr<checks::Trial>> seeds(1, options_.seeds, options_.threads);
    seeds.Do(
        [&](std::int64_t seed) -> absl::StatusOr<checks::Trial> {
          const agents::FloatEnvironment environment;
          const scheduler::Schedule schedule = runner_.ScheduleOfSeed(seed);
          if (std::optional<checks::Trial> trial = elided.Run(schedule)) return *std::move(trial);
          return runner_.Run(schedule, checks::Watch::kEverything, lengths_);
        },
        [&](std::int64_t seed, absl::StatusOr<checks::Trial> trial) {
          status = trial.status();
          if (status.ok()) status = Take(*trial, checks::Watch::kEverything);
          if (status.ok()) status = Compare(*trial);
          Done(seed + 1);
          return status.ok() && !livelock_ && !Interrupted();
        });
    return status;
  }

  // The search tells the schedules; each then runs once more with everything watching.
  absl::Status RunAll() {
    PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> unused, NewOutputs(kernel_));
    launch::ExhaustiveOptions options;
    options.scheduled.launch.run = options_.run;
    options.scheduled.launch.fill = runner_.fill();  // branches may look at it
    options.scheduled.fences = *memory_model::FencePolicyFromName(options_.proxy);
    options.scheduled.ordered_links = checks::HasOrderedLinks(options_);
    options.scheduled.loop.budget = std::min(options.scheduled.loop.budget, options_.step_budget);
    const auto visit = [&](const launch::ScheduledResult& result) -> absl::StatusOr<bool> {
      if (result.run.outcome == scheduler::Outcome::kBudget) return !Interrupted();  // cut: it did not show how it ends
      scheduler::Schedule schedule = runner_.ScheduleOfSeed(0);
      schedule.moves = result.run.moves;
      PALLADION_RETURN_IF_ERROR(RunOne(schedule));
      Done(report_.schedules);
      return !Interrupted();
    };
    PALLADION_ASSIGN_OR_RETURN(
        explored_, launch::RunExhaustive(kernel_.state(), inputs_, MutableArraysOf(unused), options, visit));
    return absl::OkStatus();
  }

  bool Interrupted() {
    report_.interrupted |= palladion::Interrupted(options_.run.control);
    report_.interrupted |= options_.interrupted && options_.interrupted();
    return report_.interrupted;
  }

  void Done(std::int64_t schedules) const {
    if (options_.run.control != nullptr) options_.run.control->EndSchedules(schedules);
  }

  // Its findings, and then its trouble.
  absl::Status Take(const checks::Trial& trial, checks::Watch watch) {
    report_.schedules += IsInterrupted(trial.trouble) ? 0 : 1;
    livelock_ |= trial.run.outcome == scheduler::Outcome::kBudget;
    if (watch == checks::Watch::kEverything) facts_ &= trial.facts;
    for (const auto& [name, times] : trial.tallies) tallies_[name] += times;
    for (const Finding& finding : trial.findings) Add(finding, &trial);
    return trial.trouble;
  }

  // Equal findings of several schedules are one, and the first of these replays it.
  void Add(Finding finding, const checks::Trial* trial) {
    std::optional<scheduler::Schedule> schedule;
    if (trial != nullptr) schedule = trial->schedule;
    const auto replay = [&] { return trial == nullptr ? "" : shortener_.ReplayOf(*trial, finding); };
    log_.Add(finding, schedule, replay);
  }

  absl::Status Compare(checks::Trial& trial) {
    if (trial.run.outcome != scheduler::Outcome::kFinished || baseline_.run.outcome != scheduler::Outcome::kFinished)
      return absl::OkStatus();
    if (differs_ || trial.values_of_first || checks::SameOutputs(baseline_, trial)) return absl::OkStatus();
    differs_ = true;  // one pair of schedules tells it
    if (runner_.interact() && !trial.run.moves.empty()) {
      shortener_.Shorten(trial.schedule, trial.run, checks::Watch::kOutputs,
                         [&](const checks::Trial& again) { return !checks::SameOutputs(baseline_, again); });
      PALLADION_ASSIGN_OR_RETURN(trial, runner_.Run(trial.schedule, checks::Watch::kOutputs, lengths_));
    }
    PALLADION_ASSIGN_OR_RETURN(std::optional<Finding> finding,
                               checks::CompareOutputs(runner_, {baseline_, trial, lengths_, log_.AnyUnordered()}));
    if (!finding.has_value()) return absl::OkStatus();
    log_.AddDifference(*std::move(finding), trial.schedule, runner_.NameOf(trial.schedule));
    return absl::OkStatus();
  }

  // What holds of all that ran.
  checks::FactSet Facts() const {
    checks::FactSet facts = facts_;
    const bool in_order = !runner_.interact();
    facts.Set(checks::Fact::kOneOrder, in_order && !HasParallelDimension());
    facts.Set(checks::Fact::kNoInteraction, in_order);
    facts.Set(checks::Fact::kNothingDecides, runner_.threads() && facts.Has(checks::Fact::kNothingDecides));
    facts.Set(checks::Fact::kSameOutputs, !differs_);
    facts.Set(checks::Fact::kEverySchedule, options_.exhaustive && explored_.complete);
    return facts;
  }

  void Conclude() {
    for (std::size_t i = 0; i < log_.size(); ++i) {
      report_.findings.push_back(launch::Reported(log_.finding(i), kernel_.state().module()));
      report_.findings.back().replay = log_.shown(i).replay;
    }
    for (const auto& [name, times] : tallies_) report_.checks.push_back({name, times});
    Argue();
    report_.verdict = VerdictOf(report_);
  }

  // Why one clean run is enough, or what the schedules are worth: docs/verdicts.md.
  void Argue() {
    const checks::FactSet facts = Facts();
    const checks::ProofRow* proof = checks::ProofOf(facts);
    const bool ended = !report_.error.has_value() && !report_.interrupted;
    const bool whole = options_.replay.empty() && ended && !log_.AnyForbidsProof();
    report_.proved = proof != nullptr && whole;
    const checks::FactSet sought = proof != nullptr ? proof->rests_on : SoughtProof().rests_on;
    checks::Evidence evidence{.asked = checks::FactSet::All(), .shown = facts};
    evidence.asked.Set(checks::Fact::kNoConflict, options_.races);
    evidence.asked.Set(checks::Fact::kOrderedArrivals, options_.races);
    evidence.asked.Set(checks::Fact::kNothingUndefined, options_.definedness);
    if (report_.interrupted && report_.schedules == 0) {
      report_.argument = "the check was interrupted before a schedule came to its end";
      return;
    }
    if (options_.replay.empty()) report_.facts = checks::Told(sought, evidence);
    report_.argument = report_.proved && !options_.exhaustive ? std::string(proof->says) : WhatRan();
    const bool counts = std::any_of(report_.findings.begin(), report_.findings.end(),
                                    [&](const ReportedFinding& finding) { return Counts(finding, report_); });
    if (report_.proved || counts || !options_.replay.empty() || livelock_) return;
    if (const std::string missing = checks::MissingOf(sought, evidence); !missing.empty())
      Append(&report_.argument, "; not proved: ", missing);
  }

  // The proof that a kernel of this kind can have.
  const checks::ProofRow& SoughtProof() const {
    if (options_.exhaustive || (runner_.interact() && !runner_.threads())) return checks::ProofNamed("every schedule");
    if (runner_.threads()) return checks::ProofNamed("threads");
    return checks::ProofNamed(HasParallelDimension() ? "independent programs" : "one order");
  }

  std::string WhatRan() const {
    const std::string schedules = Cat(report_.schedules, report_.schedules == 1 ? " schedule" : " schedules");
    if (!options_.replay.empty()) return "one schedule was replayed, beside program order";
    if (options_.exhaustive && explored_.complete) {
      return Cat("all schedules were run: ", explored_.schedules, ", and ", explored_.pruned,
                 " more that differ only in the order of operations that do not conflict");
    }
    if (options_.exhaustive) return Cat("not all schedules were run: the search stopped after ", explored_.schedules);
    if (livelock_) return Cat("the check stopped after ", schedules, ", at one that does not end");
    if (runner_.interact()) return scheduler::PctSentence(baseline_.run.agents, lengths_.steps, report_.schedules);
    return HasParallelDimension() ? Cat(schedules, " tried: program order and its reverse")
                                  : "the programs of this grid have one order, and it ran";
  }

  const PreparedKernel& kernel_;
  const absl::Span<const ConstArray> inputs_;
  const CheckOptions& options_;
  const checks::TrialRunner& runner_;
  checks::Trial baseline_;
  Taken replayed_;  // of the schedule that was asked for
  scheduler::RunLengths lengths_;
  checks::Shortener shortener_{runner_, lengths_};
  scheduler::Explored explored_;
  bool differs_ = false;
  checks::FactSet facts_ = checks::FactSet::All();  // that every watched schedule showed
  bool livelock_ = false;                           // one spends the whole budget: no more are tried
  checks::CheckLog log_;
  std::map<std::string, std::int64_t> tallies_;
  Report report_;
};

}  // namespace

absl::StatusOr<Report> Check(const PreparedKernel& kernel, absl::Span<const Tensor> inputs, const CheckOptions& options,
                             std::vector<Tensor>* outputs) {
  PALLADION_RETURN_IF_ERROR(checks::ExpectCheckOptions(options));
  if (options.exhaustive && !options.replay.empty())
    return absl::InvalidArgumentError("a replay is one schedule, and exhaustive is all of them: give one of the two");
  const agents::FloatEnvironment environment;
  const std::vector<ConstArray> arrays = ArraysOf(inputs);
  PALLADION_RETURN_IF_ERROR(agents::CheckInputs(kernel, arrays));
  PALLADION_RETURN_IF_ERROR(agents::CheckMemory(
      kernel.state(), options.run.memory_limit == 0 ? agents::HostMemoryLimit() : options.run.memory_limit));
  try {
    PALLADION_ASSIGN_OR_RETURN(const checks::TrialRunner runner, checks::TrialRunner::Create(kernel, arrays, options));
    Checker checker(kernel, arrays, options, runner);
    PALLADION_RETURN_IF_ERROR(checker.Run());
    if (outputs != nullptr) {
      PALLADION_ASSIGN_OR_RETURN(*outputs, checker.TakeOutputs());
    }
    return checker.TakeReport();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        Cat("kernel @", kernel.name(), ": out of memory; use smaller shapes or a larger host"));
  }
}

}  // namespace palladion
