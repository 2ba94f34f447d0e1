// The driver of a check: which schedules run, with which observers, and how their outputs are compared. Rules:
// docs/explanation/checks.md. Two orders suffice where programs do not synchronise: what the sweep finds holds for
// every order. Else: seeds.
#include "emu/check.h"

#include <algorithm>
#include <new>
#include <utility>

#include "emu/check/argument.h"
#include "emu/check/causes.h"
#include "emu/check/compare.h"
#include "emu/check/contracts.h"
#include "emu/check/coverage.h"
#include "emu/check/elided_trials.h"
#include "emu/check/evidence.h"
#include "emu/check/for_tests.h"
#include "emu/check/log.h"
#include "emu/check/not_finite.h"
#include "emu/check/options.h"
#include "emu/check/orders.h"
#include "emu/check/other_operands.h"
#include "emu/check/results_of_chip.h"
#include "emu/check/seed_parts.h"
#include "emu/check/shorten.h"
#include "emu/check/shown_so_far.h"
#include "emu/check/trial_runner.h"
#include "emu/kernel/arrays.h"
#include "emu/kernel/float_environment.h"
#include "emu/kernel/operand_check.h"
#include "emu/kernel/out_of_memory.h"
#include "emu/run/agents/host_memory.h"
#include "emu/run/launch/launch.h"
#include "emu/run/launch/meeting_blocks.h"
#include "emu/run/launch/run.h"
#include "scheduler/search/parallel_seeds.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {
namespace {

class Checker {
 public:
  Checker(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs, const CheckOptions& options,
          const check::TrialRunner& runner)
      : kernel_(kernel), inputs_(inputs), options_(options), runner_(runner) {}

  absl::Status Run() {
    report_ = {.kernel = kernel_.name(),
               .target = kernel_.target(),
               .steps = static_cast<std::int64_t>(kernel_.state().program().steps.size()),
               .remarks = kernel_.state().remarks(),
               .fidelity = check::StaticReportOf(kernel_.state()).fidelity,
               .checked = true,
               .strict = options_.strict};
    absl::Status status = RunSchedules();
    if (IsInterrupted(status)) {
      report_.interrupted = true;
      status = absl::OkStatus();
    }
    if (status.ok() && !report_.interrupted) check::ChallengeEqualValues(runner_, options_, lengths_, log_);
    if (launch::HaveMet(status) || (!status.ok() && log_.size() == 0)) return status;
    if (!status.ok()) report_.error = ErrorReport(status, "", "").error;
    Conclude();
    return absl::OkStatus();
  }

  // The seeds of a part; the whole check reports what is wrong with them.
  absl::Status RunPart(CheckPart* part) {
    part_ = part;
    part->made_for = check::MadeFor(runner_, options_);
    const absl::Status status = RunSchedules();
    if (launch::HaveMet(status)) return status;
    if (IsInterrupted(status) || report_.interrupted) return absl::CancelledError("interrupted");
    part->stopped = shown_.livelock() || !status.ok();
    if (phase_ != Phase::kSeeds) return absl::OkStatus();
    part->schedules = report_.schedules;
    for (const auto& [kind, times] : tallies_) part->checks.push_back({kind, times});
    return absl::OkStatus();
  }

  Report TakeReport() { return std::move(report_); }
  // And what goes with them to later launches.
  absl::StatusOr<std::vector<Tensor>> TakeOutputs() {
    Taken& taken = replayed_;
    if (options_.replay.empty()) taken = {std::move(baseline_.outputs), baseline_.left};
    if (!taken.outputs.empty()) {
      const std::vector<MutableArray> arrays = kernel::MutableArraysOf(taken.outputs);
      PALLADION_RETURN_IF_ERROR(launch::LeaveTo(options_.run.session, {kernel_.state(), inputs_, arrays, taken.left}));
    }
    return std::move(taken.outputs);
  }

 private:
  enum class Phase : std::uint8_t {
    kFirst,  // program order, and the other orders where these suffice
    kSeeds,  // which were needed beside it
  };
  // Seeds that ran elsewhere are counted there; here only those that added something run again.
  bool counts() const { return phase_ == Phase::kFirst || !options_.parts.has_value(); }

  struct Taken {  // what the caller gets of one schedule
    std::vector<Tensor> outputs;
    agents::LaunchLeft left;
  };

  absl::Status RunSchedules() {
    const auto known =
        check::KnownBefore(kernel_.state(), options_.contracts ? options_.run.legality : LegalityMode::kOff);
    report_.checks = known.tallies;
    for (const Finding& finding : known.findings) Add(finding, nullptr);
    if (part_ != nullptr && options_.exhaustive) return absl::OkStatus();
    if (part_ != nullptr && !runner_.interact()) return runner_.blocks_may_meet() ? RunOrders() : absl::OkStatus();
    if (!options_.replay.empty()) return Replay();
    if (!options_.exhaustive && !check::ForTestsOf(options_).by_policy && !runner_.interact()) return RunOrders();
    PALLADION_RETURN_IF_ERROR(RunBaseline(check::Watch::kEverything));
    if (options_.exhaustive) return RunAll();
    return shown_.livelock() ? absl::OkStatus() : RunSeeds();
  }

  absl::Status RunBaseline(check::Watch watch) {
    PALLADION_ASSIGN_OR_RETURN(check::Trial trial, ProgramOrder(watch));
    return TakeBaseline(std::move(trial), watch);
  }

  absl::StatusOr<check::Trial> ProgramOrder(check::Watch watch) {
    if (watch == check::Watch::kOutputs) return runner_.Run(runner_.ScheduleOfSeed(0), watch, lengths_);
    check::Coverage coverage(kernel_.state());  // what program order does not reach is seldom reached otherwise
    agents::LaunchOptions covered;
    coverage.Attach(covered);
    PALLADION_ASSIGN_OR_RETURN(check::Trial trial, runner_.Run(runner_.ScheduleOfSeed(0), watch, lengths_, &covered));
    if (!IsInterrupted(trial.trouble)) trial.never_ran = coverage.Missing(trial.programs);
    return trial;
  }

  absl::Status TakeBaseline(check::Trial trial, check::Watch watch) {
    baseline_ = std::move(trial);
    lengths_ = {.steps = std::max<std::int64_t>(1, baseline_.run.steps),
                .operations = baseline_.run.operations,
                .work = baseline_.run.work};
    report_.programs = baseline_.programs;
    report_.printed = baseline_.printed;
    if (watch == check::Watch::kOutputs) return baseline_.trouble;
    report_.never_ran = baseline_.never_ran;
    return Take(baseline_, watch);
  }

  // Program order and its reverse, at the same time where a thread is worth it. The reverse is not watched where
  // program order shows that it can add nothing but its outputs (docs/explanation/checks.md); begun too early, it runs
  // again.
  absl::Status RunOrders() {
    constexpr std::int64_t kForward = 0;  // and 1, the reverse
    const std::int64_t orders = check::HasParallelDimension(kernel_.state().program(), inputs_) ? 2 : 1;
    const bool together = options_.threads != 1 && check::WorthAThread(kernel_.state().program(), inputs_);
    if (options_.run.control != nullptr) options_.run.control->BeginSchedules(orders);
    absl::Status status;
    scheduler::ParallelSeeds<absl::StatusOr<check::Trial>> both(kForward, orders, together ? options_.threads : 1);
    both.Do(
        [&](std::int64_t order) {
          const kernel::FloatEnvironment environment;
          if (order == kForward) return ProgramOrder(check::Watch::kEverything);
          return Reverse(ReverseWatch(together));
        },
        [&](std::int64_t order, absl::StatusOr<check::Trial> trial) {
          status = order != kForward ? TakeReverse(std::move(trial), together)
                   : trial.ok()      ? TakeBaseline(*std::move(trial), check::Watch::kEverything)
                                     : trial.status();
          if (!status.ok() || order + 1 == orders) return false;
          Done(order + 1);
          return !Interrupted();
        });
    return status;
  }

  // `too_early`: it ran before program order had shown whether it must be watched.
  check::Watch ReverseWatch(bool too_early) const {
    return too_early || baseline_.every_order_alike ? check::Watch::kOutputs : check::Watch::kEverything;
  }

  absl::Status TakeReverse(absl::StatusOr<check::Trial> trial, bool too_early) {
    if (too_early && !baseline_.every_order_alike) trial = Reverse(check::Watch::kEverything);
    PALLADION_RETURN_IF_ERROR(trial.status());
    PALLADION_RETURN_IF_ERROR(Take(*trial, ReverseWatch(false)));
    return Compare(*trial);
  }

  absl::StatusOr<check::Trial> Reverse(check::Watch watch) const {
    scheduler::Schedule schedule = runner_.ScheduleOfSeed(2);
    schedule.policy = scheduler::PolicyKind::kReverse;
    const agents::LaunchOptions as_watched{.tasks_apart = options_.races};
    return runner_.Run(schedule, watch, lengths_, &as_watched);
  }

  absl::Status RunOne(const scheduler::Schedule& schedule, Taken* taken = nullptr) {
    PALLADION_ASSIGN_OR_RETURN(check::Trial trial, runner_.Run(schedule, check::Watch::kEverything, lengths_));
    if (taken != nullptr) *taken = {trial.outputs, trial.left};
    PALLADION_RETURN_IF_ERROR(Take(trial, check::Watch::kEverything));
    return Compare(trial);
  }

  absl::Status Replay() {
    PALLADION_ASSIGN_OR_RETURN(const scheduler::Schedule schedule, scheduler::ParseSchedule(options_.replay));
    PALLADION_RETURN_IF_ERROR(scheduler::ExpectMadeFor(schedule, runner_.Origin()));
    PALLADION_RETURN_IF_ERROR(RunBaseline(check::Watch::kOutputs));
    PALLADION_ASSIGN_OR_RETURN(std::vector<Finding> notes, check::GridOrderNotes(runner_, lengths_));
    for (Finding& note : notes) Add(std::move(note), &baseline_);
    return RunOne(schedule, &replayed_);
  }

  // Results are taken in the order of the seeds, so the report does not depend on the number of threads.
  absl::Status RunSeeds() {
    if (check::ProofOf(Facts()) != nullptr && !log_.AnyForbidsProof() && !options_.all_seeds) return absl::OkStatus();
    phase_ = Phase::kSeeds;
    if (part_ != nullptr) report_.schedules = 0, tallies_.clear();
    const check::SeedPlan plan(options_, part_);
    if (options_.run.control != nullptr) options_.run.control->BeginSchedules(1 + plan.size());
    Done(1);
    absl::Status status;
    check::ElidedTrials elided(runner_, options_, baseline_, lengths_);
    scheduler::ParallelSeeds<absl::StatusOr<check::Trial>> seeds(0, plan.size(), options_.threads);
    seeds.Do(
        [&](std::int64_t i) -> absl::StatusOr<check::Trial> {
          const kernel::FloatEnvironment environment;
          const scheduler::Schedule schedule = runner_.ScheduleOfSeed(plan[i]);
          if (std::optional<check::Trial> trial = elided.Run(schedule)) return *std::move(trial);
          return runner_.Run(schedule, check::Watch::kEverything, lengths_);
        },
        [&](std::int64_t i, absl::StatusOr<check::Trial> trial) {
          shown_.ForgetNews();
          status = trial.status();
          if (status.ok()) status = Take(*trial, check::Watch::kEverything);
          if (status.ok()) status = Compare(*trial);
          if (part_ != nullptr && (shown_.news() || !status.ok())) part_->news.push_back(plan[i]);
          Done(i + 2);
          return status.ok() && !shown_.livelock() && !Interrupted();
        });
    if (options_.parts.has_value()) CountParts(shown_.livelock() || !status.ok());
    return status;
  }

  // What ran elsewhere is part of this check; seeds that did not run, or a part that stopped where this check went on,
  // are not.
  void CountParts(bool stopped) {
    check::PartsTogether parts = check::Together(*options_.parts, options_.seeds);
    report_.schedules += parts.schedules;
    for (const auto& [kind, times] : parts.tallies) tallies_[kind] += times;
    report_.interrupted |= parts.gap || parts.stopped != stopped;
    ran_ = std::move(parts.ran);
  }

  // The search finds the schedules; each then runs once more under all checks.
  absl::Status RunAll() {
    PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> unused, kernel::NewOutputs(kernel_));
    const agents::LaunchOptions options = runner_.OptionsOfSearch(baseline_.programs);
    const auto visit = [&](const agents::Ran& result) -> absl::StatusOr<bool> {
      if (result.run.outcome == scheduler::Outcome::kBudget) return !Interrupted();  // cut: it did not show how it ends
      PALLADION_RETURN_IF_ERROR(RunOne(runner_.ScheduleOfSearch(result, options)));
      Done(report_.schedules);
      return !Interrupted();
    };
    PALLADION_ASSIGN_OR_RETURN(
        explored_, launch::RunExhaustive({kernel_.state(), inputs_, kernel::MutableArraysOf(unused)}, options,
                                         launch::SearchOptions(), visit));
    return absl::OkStatus();
  }

  bool Interrupted() {
    return report_.interrupted |=
           palladion::Interrupted(options_.run.control) || (options_.interrupted && options_.interrupted());
  }

  void Done(std::int64_t schedules) const {
    if (options_.run.control != nullptr) options_.run.control->EndSchedules(schedules);
  }

  // Its findings, and then its trouble.
  absl::Status Take(const check::Trial& trial, check::Watch watch) {
    if (counts()) report_.schedules += IsInterrupted(trial.trouble) ? 0 : 1;
    shown_.Take(trial, watch);
    for (const auto& [kind, times] : trial.tallies) tallies_[kind] += counts() ? times : 0;
    for (const Finding& finding : trial.findings) Add(finding, &trial);
    return trial.trouble;
  }

  // Equal findings of several schedules are one, which the first of these schedules replays. The whole check reports
  // those of a part.
  void Add(Finding finding, const check::Trial* trial) {
    const auto schedule = trial == nullptr ? std::nullopt : std::optional(trial->schedule);
    const auto replay = [&] { return schedule && !part_ ? shortener_.ReplayOf(*trial, finding) : std::string(); };
    shown_.TakeFinding(log_.Add(finding, schedule, replay));
  }

  absl::Status Compare(check::Trial& trial) {
    if (trial.run.outcome != scheduler::Outcome::kFinished || baseline_.run.outcome != scheduler::Outcome::kFinished)
      return absl::OkStatus();
    if (shown_.outputs_differ() || trial.values_of_first || check::SameOutputs(baseline_, trial))
      return absl::OkStatus();
    shown_.TakeDifference();
    if (part_ != nullptr) return absl::OkStatus();
    if (runner_.interact() && !trial.run.moves.empty()) {
      shortener_.Shorten(trial.schedule, trial.run,
                         [&](const check::Trial& again) { return !check::SameOutputs(baseline_, again); });
      PALLADION_ASSIGN_OR_RETURN(trial, runner_.Run(trial.schedule, check::Watch::kOutputs, lengths_));
    }
    PALLADION_ASSIGN_OR_RETURN(std::optional<Finding> finding,
                               check::CompareOutputs(runner_, {baseline_, trial, lengths_, log_.AnyUnordered()}));
    if (!finding.has_value()) return absl::OkStatus();
    log_.AddDifference(*std::move(finding), trial.schedule, runner_.NameOf(trial.schedule));
    return absl::OkStatus();
  }

  // What holds of all that ran.
  check::FactSet Facts() const {
    check::FactSet facts = runner_.WithFactsOfKernel(shown_.facts());
    facts.Set(Fact::kSameOutputs, !shown_.outputs_differ());
    facts.Set(Fact::kEverySchedule, options_.exhaustive && explored_.complete);
    return facts;
  }

  void Conclude() {
    report_.findings = check::FindingsOf(log_, kernel_.state().module());
    for (const auto& [kind, times] : tallies_) report_.checks.push_back({kind, times});
    check::Argue({.options = options_,
                  .runner = runner_,
                  .facts = Facts(),
                  .why = shown_.why(),
                  .forbids_proof = log_.AnyForbidsProof(),
                  .livelock = shown_.livelock(),
                  .agents = baseline_.run.agents,
                  .steps = lengths_.steps,
                  .explored = explored_,
                  .seeds = ran_},
                 &report_);
    check::SayWhereNotFinite(kernel_, inputs_, baseline_.outputs, options_.run, &report_);
    report_.verdict = VerdictOf(report_);
    if (!shown_.livelock()) check::TakeResultsOfChip(kernel_, inputs_, options_, &report_, &baseline_);
  }

  const PreparedKernel& kernel_;
  const absl::Span<const ConstArray> inputs_;
  const CheckOptions& options_;
  const check::TrialRunner& runner_;
  check::Trial baseline_;
  Taken replayed_;  // of the schedule that was to be replayed
  scheduler::RunLengths lengths_;
  check::Shortener shortener_{runner_, lengths_};
  scheduler::Explored explored_;
  check::ShownSoFar shown_;
  CheckPart* part_ = nullptr;  // of another check; nullptr: all of one
  Phase phase_ = Phase::kFirst;
  std::vector<scheduler::SeedRange> ran_;  // elsewhere, seed 0 among them; empty: all that ran is this check's
  check::CheckLog log_{kernel_.state().program().target.backend == TargetBackend::kGeneric};
  std::map<CheckKind, std::int64_t> tallies_;
  Report report_;
};

// Calls `work` with a checker of these inputs; once more, with the kernel's pipeline, where that is what shows.
template <class Work>
absl::Status WithChecker(const PreparedKernel& kernel, absl::Span<const Tensor> inputs, const CheckOptions& options,
                         const Work& work) {
  PALLADION_RETURN_IF_ERROR(check::ExpectCheckOptions(options));
  const kernel::FloatEnvironment environment;
  const std::vector<ConstArray> arrays = kernel::ArraysOf(inputs);
  PALLADION_RETURN_IF_ERROR(kernel::CheckInputs(kernel, arrays));
  PALLADION_RETURN_IF_ERROR(agents::CheckMemory(kernel.state(), agents::MemoryLimitOf(options.run)));
  try {
    const check::TrialRunner runner = check::TrialRunner::Create(kernel, arrays, options);
    PALLADION_RETURN_IF_ERROR(check::ExpectParts(options, runner));
    const absl::Status status = work(Checker(kernel, arrays, options, runner));
    if (!launch::HaveMet(status)) return status;
    PALLADION_ASSIGN_OR_RETURN(const PreparedKernel pipelined, launch::WithPipeline(kernel));
    return WithChecker(pipelined, inputs, options, work);
  } catch (const std::bad_alloc&) {
    return kernel::OutOfMemory(Cat("kernel @", kernel.name(), ": out of memory; use smaller shapes or a larger host"));
  }
}

}  // namespace

absl::StatusOr<Report> Check(const PreparedKernel& kernel, absl::Span<const Tensor> inputs, const CheckOptions& options,
                             std::vector<Tensor>* outputs) {
  Report report;
  const absl::Status status = WithChecker(kernel, inputs, options, [&](Checker checker) -> absl::Status {
    PALLADION_RETURN_IF_ERROR(checker.Run());
    if (outputs != nullptr) {
      PALLADION_ASSIGN_OR_RETURN(*outputs, checker.TakeOutputs());
    }
    report = checker.TakeReport();
    return absl::OkStatus();
  });
  return status.ok() ? absl::StatusOr<Report>(std::move(report)) : status;
}

absl::StatusOr<CheckPart> CheckSeeds(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                     const CheckOptions& options, std::int64_t first, std::int64_t last) {
  CheckPart part{.first = first, .last = last};
  PALLADION_RETURN_IF_ERROR(check::ExpectSeeds(part, options));
  if (options.parts.has_value()) return absl::InvalidArgumentError("a part runs its seeds itself: it takes no parts");
  PALLADION_RETURN_IF_ERROR(
      WithChecker(kernel, inputs, options, [&](Checker checker) { return checker.RunPart(&part); }));
  return part;
}

}  // namespace palladion
