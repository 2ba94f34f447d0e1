// One run under the schedule that a string names, for observers and for users of a plain run's outputs: the agents run
// in the order in which the check that printed the string ran them. Based on: the trials of a check
// (trial_runner.h), with its checkers, because what is watched decides what tasks share and which operations a list of
// moves counts; so its findings are those of that schedule in the check. Limits: the string's own check has to have had
// the same options (fill, proxy, links, bounds): the error says which differs.
#ifndef PALLADION_EMU_CHECK_REPLAYED_RUN_H_
#define PALLADION_EMU_CHECK_REPLAYED_RUN_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/check.h"
#include "emu/emulate.h"
#include "emu/run/agents/launch_options.h"
#include "scheduler/policies/schedule.h"
#include "scheduler/run_loop.h"

namespace palladion::check {

class ReplayedRun {
 public:
  // Of options.replay. `kernel` and the inputs outlive it. InvalidArgument: a string that is none, or of another
  // kernel, other inputs or options. Else the errors of a run in program order, which is run first: some policies need
  // its length.
  static absl::StatusOr<ReplayedRun> Of(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                        const CheckOptions& options);

  // What runs: where the copies of its blocks overlap, its own pipeline makes them. Observers are made for this one.
  const PreparedKernel& kernel() const { return pipelined_.has_value() ? *pipelined_ : *kernel_; }

  // As RunWatched (plain_run.h), as often as it is called. Of `watched` the observers and run.control are taken.
  absl::StatusOr<RunResult> Run(const agents::LaunchOptions& watched) const;

 private:
  ReplayedRun(const PreparedKernel& kernel, absl::Span<const Tensor> inputs, const CheckOptions& options)
      : kernel_(&kernel), inputs_(inputs), options_(options) {}

  absl::Status Prepare();

  const PreparedKernel* kernel_;
  absl::Span<const Tensor> inputs_;
  CheckOptions options_;
  std::optional<PreparedKernel> pipelined_;
  scheduler::Schedule schedule_;
  scheduler::RunLengths lengths_;
  std::optional<agents::ExecutionMode> mode_;  // where programs in order come to an end; nullopt: the schedule's own
};

// RunWatched, or the replayed run where there is one.
absl::StatusOr<RunResult> RunOrReplay(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                      const agents::LaunchOptions& options, const ReplayedRun* replayed);

// The replay of options.replay, into the caller's arrays.
absl::StatusOr<Report> ReplayInto(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                                  absl::Span<const MutableArray> outputs, const CheckOptions& options);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_REPLAYED_RUN_H_
