// The schedules of a kernel in text, as trials: which agents run, with which observers, and what each schedule shows.
#ifndef PALLADION_EMU_CHECK_TRIAL_RUNNER_H_
#define PALLADION_EMU_CHECK_TRIAL_RUNNER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/check.h"
#include "emu/check/checkers.h"
#include "emu/check/evidence.h"
#include "emu/check/trial.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/launch/execution_mode.h"
#include "emu/run/launch/run.h"
#include "scheduler/policies/schedule.h"
#include "scheduler/run_loop.h"

namespace palladion::launch {
class ReadsFrom;  // emu/run/launch/reads_from.h
}  // namespace palladion::launch

namespace palladion::check {

class TrialRunner final : public Trials {
 public:
  // All outlive the runner.
  static TrialRunner Create(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                            const CheckOptions& options);

  const PreparedKernel& kernel() const { return kernel_; }
  absl::Span<const ConstArray> inputs() const override { return inputs_; }

  // Do programs see each other's effects while they run? Else two orders of them suffice.
  bool interact() const override { return interact_; }
  // Are there blocks of which a trial says whether they do? It ends with launch::BlocksMeet where they do.
  bool blocks_may_meet() const { return may_meet_; }
  bool threads() const { return mode_ == launch::ExecutionMode::kThreads; }  // programs are threads of GPU blocks
  // Of those: the operation that lets a schedule decide more than timing; "": there is none.
  const std::string& schedule_choice() const { return schedule_choice_; }
  // What the kernel adds to what its trials showed, or takes from it.
  FactSet WithFactsOfKernel(FactSet facts) const;
  const Fill& fill() const { return options_.fill; }
  // Of a search whose schedules this runner runs once more, of a launch of so many programs: as its trials, with no
  // more operations than a step budget.
  agents::LaunchOptions OptionsOfSearch(std::int64_t programs) const;
  scheduler::Schedule ScheduleOfSearch(const agents::Ran& ran, const agents::LaunchOptions& options) const;

  // What a schedule of this runner is made for. The first call computes it, so one thread at a time.
  const scheduler::ScheduleOrigin& Origin() const;

  scheduler::Schedule ScheduleOfSeed(std::int64_t seed) const;      // without its origin
  std::string NameOf(scheduler::Schedule schedule) const override;  // one thread at a time

  absl::StatusOr<std::unique_ptr<Trials>> With(absl::Span<const ConstArray> inputs,
                                               const CheckOptions& options) const override;
  std::vector<std::size_t> InputsOfNumbers() const override;
  bool races_are_defects() const override;

  // Runs a schedule of threads without values (emu/run/launch/elided_program.h), so findings about values and outputs
  // are missing. `elided` is made from the runner's kernel, and `reads` belongs to its program. An error means that the
  // schedule could not be run to its end without values.
  absl::StatusOr<Trial> RunElided(const scheduler::Schedule& schedule, const scheduler::RunLengths& lengths,
                                  const kernel::PreparedKernelState& elided, launch::ReadsFrom& reads) const;

  // The same schedule of another kernel of the same shape (over the ring), for its outputs only.
  absl::StatusOr<std::vector<Tensor>> RunOn(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                                            const scheduler::Schedule& schedule,
                                            const scheduler::RunLengths& lengths) const;

 private:
  TrialRunner(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs, const CheckOptions& options)
      : kernel_(kernel), inputs_(inputs), options_(options) {}

  absl::StatusOr<Trial> RunOnce(const scheduler::Schedule& schedule, Watch watch, const scheduler::RunLengths& lengths,
                                const agents::LaunchOptions* extra) const override;
  launch::ExecutionMode ExecutionModeOf(const scheduler::Schedule& schedule) const;
  agents::LaunchOptions OptionsOf(const agents::LaunchOptions& launch, const scheduler::Schedule& schedule) const;
  // `wanted`: what is run, and which checks it is to make; the execution mode is chosen here.
  absl::Status RunAs(const agents::LaunchOptions& launch, const scheduler::RunLengths& lengths, Trial& trial,
                     const CheckedRun& wanted) const;
  absl::Status RunChecked(const agents::LaunchOptions& launch, const scheduler::RunLengths& lengths, Trial& trial,
                          const CheckedRun& run) const;
  static void TakeEvidence(Trial& trial);
  scheduler::LoopOptions LoopOf() const {
    return {.resident = launch::ProgramsAtOnce(kernel_.state().program()), .budget = options_.step_budget};
  }
  absl::Status TryStartOrder(Trial& trial) const;
  static void TakeResult(agents::Ran result, Trial& trial);

  const PreparedKernel& kernel_;
  absl::Span<const ConstArray> inputs_;
  const CheckOptions& options_;
  launch::ExecutionMode mode_ = launch::ExecutionMode::kInOrder;  // of schedules that are not lists of moves
  bool interact_ = false, may_meet_ = false;
  std::string schedule_choice_;
  mutable std::optional<scheduler::ScheduleOrigin> origin_;
};

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_TRIAL_RUNNER_H_
