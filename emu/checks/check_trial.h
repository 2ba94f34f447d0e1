// One schedule of one launch, with what a check has watching it: the unit that a check repeats, compares and replays.
#ifndef PALLADION_EMU_CHECKS_CHECK_TRIAL_H_
#define PALLADION_EMU_CHECKS_CHECK_TRIAL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/agents/prepared_kernel.h"
#include "emu/check.h"
#include "emu/checks/evidence.h"
#include "emu/checks/race_check.h"
#include "emu/launch/launch.h"
#include "emu/launch/scheduled_launch.h"
#include "emu/launch/way.h"
#include "scheduler/policies/schedule.h"
#include "scheduler/run_loop.h"

namespace palladion::launch {
class ReadsFrom;  // emu/launch/reads_from.h
}  // namespace palladion::launch

namespace palladion::checks {

struct Trial {
  scheduler::Schedule schedule;
  std::vector<Tensor> outputs;
  std::vector<Finding> findings;
  std::map<std::string, std::int64_t> tallies;  // how often each check looked at something
  std::vector<std::string> printed;
  std::int64_t programs = 0, accesses = 0;
  FactSet facts;                    // that this schedule showed, where everything watched
  bool every_order_alike = false;   // programs in order: other orders make the same outputs and findings
  std::vector<NeverRan> never_ran;  // where somebody looked
  bool all_fit = true;              // all that interacts could be under way at once
  bool engines = false;             // asynchronous operations ran
  scheduler::LoopResult run;        // of programs under a policy only
  bool values_of_first = false;     // outputs are those of program order: it ran without values
  agents::LaunchLeft left;          // to later launches
  absl::Status trouble;             // why it did not come to its end, or what is told of a finding is not all
};

enum class Watch : std::uint8_t {
  kEverything,  // what the options ask for
  kOutputs,     // nothing: only the outputs are wanted
};

class TrialRunner {
 public:
  // All outlive the runner. InvalidArgument: a fill that is none.
  static absl::StatusOr<TrialRunner> Create(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                                            const CheckOptions& options);

  const PreparedKernel& kernel() const { return kernel_; }
  absl::Span<const ConstArray> inputs() const { return inputs_; }

  // Do programs see each other's effects while they run? Else they run one after another, in one of two orders.
  bool interact() const { return way_ != launch::Way::kInOrder; }
  bool threads() const { return way_ == launch::Way::kThreads; }  // programs are threads of GPU blocks
  // Of those: the operation that lets a schedule decide more than timing; "": there is none.
  const std::string& schedule_choice() const { return schedule_choice_; }
  Fill fill() const { return fill_; }

  // What a schedule of this runner is made for. The first call computes it, so one thread at a time.
  const scheduler::ScheduleOrigin& Origin() const;

  scheduler::Schedule ScheduleOfSeed(std::int64_t seed) const;  // without its origin
  std::string NameOf(scheduler::Schedule schedule) const;  // as a report gives it for a replay; one thread at a time

  // `lengths`: of seed 0, for policies that need them. `extra`: what else watches; its observers see every access too.
  // An error that comes after findings is in the trial, as `trouble`.
  absl::StatusOr<Trial> Run(const scheduler::Schedule& schedule, Watch watch, const scheduler::RunLengths& lengths,
                            const agents::LaunchOptions* extra = nullptr) const;

  // The schedule without values (emu/launch/elided_program.h), of threads: findings of values and outputs are missing.
  // `elided` is made of the runner's kernel; `reads` is one of its program. An error: it could not be told so far.
  absl::StatusOr<Trial> RunElided(const scheduler::Schedule& schedule, const scheduler::RunLengths& lengths,
                                  const agents::PreparedKernelState& elided, launch::ReadsFrom& reads) const;

  // The same schedule of another kernel of the same shape (over the ring), for its outputs only.
  absl::StatusOr<std::vector<Tensor>> RunOn(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                                            const scheduler::Schedule& schedule,
                                            const scheduler::RunLengths& lengths) const;

 private:
  TrialRunner(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs, const CheckOptions& options)
      : kernel_(kernel), inputs_(inputs), options_(options) {}

  // What a trial runs, and what judges it.
  struct Judged {
    const agents::PreparedKernelState& kernel;
    bool races = false;
    bool without_values = false;  // no second run can follow
  };

  launch::Way WayOf(const scheduler::Schedule& schedule) const;
  launch::ScheduledOptions OptionsOf(const agents::LaunchOptions& launch, const scheduler::Schedule& schedule) const;
  absl::Status RunAs(const agents::LaunchOptions& launch, const scheduler::RunLengths& lengths, Trial& trial,
                     bool races) const;
  absl::Status RunAs(launch::Way way, const agents::LaunchOptions& launch, const scheduler::RunLengths& lengths,
                     Trial& trial, const Judged& judged) const;
  void TakeEvidence(Trial& trial) const;
  static absl::StatusOr<launch::ScheduledResult> RunOnce(launch::Way way, const launch::ScheduledCall& call,
                                                         scheduler::Policy& policy);
  scheduler::LoopOptions LoopOf() const {
    return {.resident = launch::ProgramsAtOnce(kernel_.state().program()), .budget = options_.step_budget};
  }
  absl::Status AskStartOrder(Trial& trial) const;
  static void TakeResult(launch::ScheduledResult result, Trial& trial);

  const PreparedKernel& kernel_;
  absl::Span<const ConstArray> inputs_;
  const CheckOptions& options_;
  Fill fill_;
  launch::Way way_ = launch::Way::kInOrder;  // of schedules that are not lists of moves
  std::string schedule_choice_;
  mutable std::optional<scheduler::ScheduleOrigin> origin_;
};

// "program order", "reverse order", or the schedule's policy and seed.
std::string InWords(const scheduler::Schedule& schedule);

}  // namespace palladion::checks

#endif  // PALLADION_EMU_CHECKS_CHECK_TRIAL_H_
