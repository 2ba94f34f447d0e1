// The check of a FunctionKernel: its seeds one after another, or one replay. One finding for those that are the same,
// with the shortest schedule that was found to show it; outputs that differ between schedules.
// Limits: never a proof; equal bytes in a race of writes are no note; the schedules of one check do not run at the same
// time, for the functions are the user's and may share what they like.
#ifndef PALLADION_EMU_CPP_FUNCTION_CHECK_H_
#define PALLADION_EMU_CPP_FUNCTION_CHECK_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emu/checks/check_log.h"
#include "emu/cpp/function_launch.h"
#include "emu/kernel.h"
#include "scheduler/policies/schedule.h"

namespace palladion {

class FunctionCheck {
 public:
  // All outlive it; the kernel, the inputs and the options have been looked at.
  FunctionCheck(const FunctionKernel& kernel, absl::Span<const Tensor> inputs, const CheckOptions& options, Fill fill);

  absl::Status Run();
  Report TakeReport() { return std::move(report_); }
  std::vector<Tensor> TakeOutputs() { return std::move(baseline_.outputs); }

 private:
  struct Trial {
    scheduler::Schedule schedule;
    FunctionRun ran;
  };

  absl::Status RunSchedules();
  absl::Status Replay();
  absl::StatusOr<FunctionRun> Ran(const scheduler::Schedule& schedule, const FunctionOptions& options);
  absl::StatusOr<Trial> Try(const scheduler::Schedule& schedule);
  absl::Status Take(const Trial& trial);
  void Compare(const Trial& trial);
  std::string ReplayOf(const Trial& trial, const Finding& finding);
  std::optional<FindingAccess> WriterOf(const scheduler::Schedule& schedule, std::size_t output, std::int64_t element);
  std::string NameOf(scheduler::Schedule schedule) const;
  bool Interrupted();
  void Conclude();
  std::string Argument() const;

  const FunctionKernel& kernel_;
  const absl::Span<const Tensor> inputs_;
  const CheckOptions& options_;
  FunctionOptions watched_;
  const scheduler::ScheduleOrigin origin_;
  CodePlaces places_;
  scheduler::RunLengths lengths_;
  FunctionRun baseline_;
  bool differs_ = false, livelock_ = false;
  checks::CheckLog log_;
  std::map<std::string, std::int64_t> tallies_;
  Report report_;
};

}  // namespace palladion

#endif  // PALLADION_EMU_CPP_FUNCTION_CHECK_H_
