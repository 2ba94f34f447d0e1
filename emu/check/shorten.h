// Shrinks a failing schedule to the few moves that the finding needs. It does not look for the minimum: it tries a
// bounded number of runs with bounded total work, and an interrupt ends it; where one run is much work, few or none are
// tried, and the schedule stays that of its policy.
#ifndef PALLADION_EMU_CHECK_SHORTEN_H_
#define PALLADION_EMU_CHECK_SHORTEN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "emu/check/trial.h"

namespace palladion::check {

class Shortener {
 public:
  // Visible operations, as a budget counts them, that all shortening of a check may take: a count and no time, so that
  // a report is the same on each machine.
  static constexpr std::int64_t kMostWork = 20'000'000;

  // Both outlive it.
  Shortener(const Trials& runner, const scheduler::RunLengths& lengths, std::int64_t most_work = kMostWork)
      : runner_(runner), lengths_(lengths), work_left_(most_work) {}

  // Of a run whose outputs showed something: the moves of `schedule` become those that still show it.
  void Shorten(scheduler::Schedule& schedule, const scheduler::LoopResult& run,
               const std::function<bool(const Trial&)>& shows);

  // The name of the trial's schedule; where it took a policy's choices to get to the finding, of the shortened one.
  std::string ReplayOf(const Trial& trial, const Finding& finding);

  std::int64_t trials() const { return trials_; }  // that were run so far

 private:
  using Moves = std::vector<scheduler::Move>;

  void Shrink(scheduler::Schedule& schedule, const scheduler::LoopResult& run,
              const std::function<absl::StatusOr<bool>(const Moves&)>& shows);
  std::int64_t RunsFor(const scheduler::LoopResult& run) const;
  absl::StatusOr<Trial> Run(const Moves& moves, Watch watch, std::int64_t most_work);
  absl::StatusOr<bool> Finds(const Moves& moves, const Finding& finding, std::int64_t most_work);

  const Trials& runner_;
  const scheduler::RunLengths& lengths_;
  // Of all findings of a check together. The first get what they need; of many that one mistake makes, the last get
  // few.
  std::int64_t runs_left_ = 2000;
  std::int64_t work_left_;
  std::int64_t trials_ = 0;
  // Each finding of a check tries many of the lists of moves that others have tried, the empty one above all; a list
  // always makes the same run. The latest are kept.
  struct Known {
    Moves moves;
    std::int64_t most_work = 0;     // that the run was let do
    std::vector<Finding> findings;  // none, where it did not come to an end
  };
  std::vector<Known> found_;
};

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_SHORTEN_H_
