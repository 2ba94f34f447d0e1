// Schedules of a check without values: in a kernel whose values affect only other values, a schedule runs without
// computing them, and the writes that its reads saw stand for its outputs
// (docs/explanation/checks.md#schedules-without-values). Program order is repeated in this mode; other schedules follow
// only if the repetition matches the full run. A schedule with anything unusual is run again in full.
#ifndef PALLADION_EMU_CHECK_ELIDED_TRIALS_H_
#define PALLADION_EMU_CHECK_ELIDED_TRIALS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "emu/check.h"
#include "emu/check/trial_runner.h"
#include "emu/kernel/prepared_kernel.h"

namespace palladion::check {

class ElidedTrials {
 public:
  // All outlive it. `first`: program order, with everything watching.
  ElidedTrials(const TrialRunner& runner, const CheckOptions& options, const Trial& first,
               const scheduler::RunLengths& lengths);

  // What TrialRunner::Run would give, but for the outputs, which are the first's. nullopt: it has to run in full. Any
  // thread may call it.
  std::optional<Trial> Run(const scheduler::Schedule& schedule);

 private:
  struct Elided {
    Trial trial;
    std::uint64_t signature = 0;
  };
  std::optional<Elided> Try(const scheduler::Schedule& schedule) const;
  bool IsAsFirst(const Trial& trial) const;

  const TrialRunner& runner_;
  const CheckOptions& options_;
  const Trial& first_;
  const scheduler::RunLengths& lengths_;
  std::unique_ptr<const kernel::PreparedKernelState> kernel_;  // nullptr: everything runs in full
  std::uint64_t signature_ = 0;
  std::atomic<int> failed_ = 0;
};

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_ELIDED_TRIALS_H_
