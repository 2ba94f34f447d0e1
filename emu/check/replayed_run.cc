#include "emu/check/replayed_run.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "emu/check/contracts.h"
#include "emu/check/into_arrays.h"
#include "emu/check/plain_run.h"
#include "emu/check/trial_runner.h"
#include "emu/kernel/arrays.h"
#include "emu/kernel/float_environment.h"
#include "emu/kernel/operand_check.h"
#include "emu/kernel/out_of_memory.h"
#include "emu/run/agents/host_memory.h"
#include "emu/run/launch/launch.h"
#include "emu/run/launch/meeting_blocks.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::check {
namespace {

absl::Status NoMemory(const PreparedKernel& kernel) {
  return kernel::OutOfMemory(Cat("kernel @", kernel.name(), ": out of memory; use smaller shapes or a larger host"));
}

bool IsObservable(const PreparedKernel& kernel) {
  const std::vector<Step>& steps = kernel.state().program().steps;
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) { return step.kind == StepKind::kMark; });
}

bool Holds(const std::vector<Finding>& findings, const Finding& finding) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& one) { return SameFinding(one, finding); });
}

// As far as it shows: the same findings at the same places, and the same outputs.
bool SameRun(const Trial& a, const Trial& b) {
  const auto all_in = [](const Trial& one, const Trial& other) {
    return std::all_of(one.findings.begin(), one.findings.end(),
                       [&](const Finding& finding) { return Holds(other.findings, finding); });
  };
  if (a.run.outcome != b.run.outcome || !all_in(a, b) || !all_in(b, a)) return false;
  for (std::size_t i = 0; i < a.outputs.size(); ++i) {
    const std::size_t bytes = a.outputs[i].num_bytes();
    if (bytes > 0 && std::memcmp(a.outputs[i].bytes(), b.outputs[i].bytes(), bytes) != 0) return false;
  }
  return true;
}

// A schedule counts the visible operations of the kernel as a check runs it. Where every instruction runs by itself
// some kernels have others, and the same moves are another run: that one must not be shown for it.
absl::Status ExpectSameRun(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                           const CheckOptions& options, const scheduler::Schedule& schedule) {
  const auto replayed = [&](const PreparedKernel& of) -> absl::StatusOr<Trial> {
    const TrialRunner runner = TrialRunner::Create(of, inputs, options);
    PALLADION_ASSIGN_OR_RETURN(const Trial first, runner.Run(runner.ScheduleOfSeed(0), Watch::kOutputs, {}));
    const scheduler::RunLengths lengths{.steps = std::max<std::int64_t>(1, first.run.steps),
                                        .operations = first.run.operations,
                                        .work = first.run.work};
    return runner.Run(schedule, Watch::kEverything, lengths);
  };
  PALLADION_ASSIGN_OR_RETURN(const PreparedKernel plain, kernel::PreparedAgain(kernel, {.observable = false}));
  PALLADION_ASSIGN_OR_RETURN(const Trial wanted, replayed(plain));
  PALLADION_ASSIGN_OR_RETURN(const Trial found, replayed(kernel));
  if (IsInterrupted(wanted.trouble) || IsInterrupted(found.trouble)) return absl::CancelledError("interrupted");
  if (SameRun(wanted, found)) return absl::OkStatus();
  return absl::UnimplementedError(
      Cat("kernel @", kernel.name(),
          ": this schedule counts operations that the kernel does not have one by one where each instruction is "
          "observed, so it is another run there; a check, a plain run and a picture of the schedule replay it"));
}

}  // namespace

absl::Status ReplayedRun::Prepare() {
  const std::vector<ConstArray> arrays = kernel::ArraysOf(inputs_);
  const TrialRunner runner = TrialRunner::Create(kernel(), arrays, options_);
  PALLADION_RETURN_IF_ERROR(scheduler::ExpectMadeFor(schedule_, runner.Origin()));
  if (pipelined_ == std::nullopt && IsObservable(kernel()) && runner.interact())
    PALLADION_RETURN_IF_ERROR(ExpectSameRun(kernel(), arrays, options_, schedule_));
  PALLADION_ASSIGN_OR_RETURN(const Trial first, runner.Run(runner.ScheduleOfSeed(0), Watch::kOutputs, {}));
  PALLADION_RETURN_IF_ERROR(first.trouble);
  lengths_ = {
      .steps = std::max<std::int64_t>(1, first.run.steps), .operations = first.run.operations, .work = first.run.work};
  if (runner.interact() || schedule_.moves.has_value()) return absl::OkStatus();
  // Programs in order begin again, in another mode, where one waits for ever: observers are to see one run.
  PALLADION_ASSIGN_OR_RETURN(const Trial trial, runner.Run(schedule_, Watch::kOutputs, lengths_));
  mode_ = trial.mode;
  return IsInterrupted(trial.trouble) ? trial.trouble : absl::OkStatus();
}

absl::StatusOr<ReplayedRun> ReplayedRun::Of(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                            const CheckOptions& options) {
  const kernel::FloatEnvironment environment;
  PALLADION_RETURN_IF_ERROR(kernel::CheckInputs(kernel, kernel::ArraysOf(inputs)));
  PALLADION_RETURN_IF_ERROR(agents::CheckMemory(kernel.state(), agents::MemoryLimitOf(options.run)));
  ReplayedRun run(kernel, inputs, options);
  PALLADION_ASSIGN_OR_RETURN(run.schedule_, scheduler::ParseSchedule(options.replay));
  try {
    absl::Status prepared = run.Prepare();
    if (launch::HaveMet(prepared)) {
      PALLADION_ASSIGN_OR_RETURN(run.pipelined_, launch::WithPipeline(kernel));
      prepared = run.Prepare();
    }
    PALLADION_RETURN_IF_ERROR(prepared);
  } catch (const std::bad_alloc&) {
    return NoMemory(kernel);
  }
  return run;
}

absl::StatusOr<RunResult> ReplayedRun::Run(const agents::LaunchOptions& watched) const {
  const kernel::FloatEnvironment environment;
  CheckOptions options = options_;
  options.run.control = watched.run.control;
  const std::vector<ConstArray> arrays = kernel::ArraysOf(inputs_);
  const TrialRunner runner = TrialRunner::Create(kernel(), arrays, options);
  const agents::LaunchOptions extra{.mode = mode_, .observers = watched.observers};
  try {
    PALLADION_ASSIGN_OR_RETURN(Trial trial, runner.Run(schedule_, Watch::kEverything, lengths_, &extra));
    Report report = ReportBeforeRun(kernel().state(), options.run.legality);
    report.programs = trial.programs;
    report.printed = std::move(trial.printed);
    report.interrupted = IsInterrupted(trial.trouble);
    if (!trial.trouble.ok() && !report.interrupted) report.error = ErrorReport(trial.trouble, "", "").error;
    for (const Finding& finding : trial.findings)
      report.findings.push_back(launch::Reported(finding, kernel().state().module()));
    report.verdict = VerdictOf(report);
    if (trial.trouble.ok()) {
      const std::vector<MutableArray> outputs = kernel::MutableArraysOf(trial.outputs);
      PALLADION_RETURN_IF_ERROR(launch::LeaveTo(options.run.session, {kernel().state(), arrays, outputs, trial.left}));
    }
    return RunResult{std::move(trial.outputs), std::move(report)};
  } catch (const std::bad_alloc&) {
    return NoMemory(kernel());
  }
}

absl::StatusOr<RunResult> RunOrReplay(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                      const agents::LaunchOptions& options, const ReplayedRun* replayed) {
  return replayed == nullptr ? RunWatched(kernel, inputs, options) : replayed->Run(options);
}

absl::StatusOr<Report> ReplayInto(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                                  absl::Span<const MutableArray> outputs, const CheckOptions& options) {
  PALLADION_RETURN_IF_ERROR(kernel::CheckOutputs(kernel, outputs));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> in, CopiesOf(kernel, inputs));
  PALLADION_ASSIGN_OR_RETURN(const ReplayedRun replayed, ReplayedRun::Of(kernel, in, options));
  PALLADION_ASSIGN_OR_RETURN(const RunResult result, replayed.Run({.run = options.run}));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (result.outputs[i].num_bytes() > 0)
      std::memcpy(outputs[i].data, result.outputs[i].bytes(), result.outputs[i].num_bytes());
  }
  return result.report;
}

}  // namespace palladion::check
