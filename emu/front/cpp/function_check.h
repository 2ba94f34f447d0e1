// The check of a FunctionKernel: its seeds one after another, or one replay. One finding for those that are the same,
// with the shortest schedule that was found to show it; outputs that differ between schedules. A schedule is a trial as
// for any kernel; this file only decides which of them run, and combines their findings. Limits: never a proof; the
// schedules of one check do not run at the same time.
#ifndef PALLADION_EMU_FRONT_CPP_FUNCTION_CHECK_H_
#define PALLADION_EMU_FRONT_CPP_FUNCTION_CHECK_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "emu/check/log.h"
#include "emu/check/shorten.h"
#include "emu/check/trial.h"
#include "emu/front/cpp/function_trials.h"
#include "emu/kernel.h"
#include "scheduler/policies/schedule.h"

namespace palladion {

class FunctionCheck {
 public:
  // All outlive it; the kernel, the inputs and the options have been looked at.
  FunctionCheck(const FunctionKernel& kernel, absl::Span<const ConstArray> inputs, const CheckOptions& options)
      : kernel_(kernel), options_(options), trials_({kernel, places_}, inputs, options) {}

  absl::Status Run();
  Report TakeReport() { return std::move(report_); }
  std::vector<Tensor> TakeOutputs() { return std::move(baseline_.outputs); }

 private:
  absl::Status RunSchedules();
  absl::Status Replay();
  void TakeBaseline(check::Trial trial);
  absl::Status Take(const check::Trial& trial);
  void Compare(const check::Trial& trial);
  bool Interrupted();
  void Conclude();
  std::string Argument() const;

  const FunctionKernel& kernel_;
  const CheckOptions& options_;
  CodePlaces places_;
  const FunctionTrials trials_;
  scheduler::RunLengths lengths_;
  check::Shortener shortener_{trials_, lengths_};
  check::Trial baseline_;
  bool differs_ = false, livelock_ = false;
  check::CheckLog log_;
  std::map<CheckKind, std::int64_t> tallies_;
  Report report_;
};

}  // namespace palladion

#endif  // PALLADION_EMU_FRONT_CPP_FUNCTION_CHECK_H_
