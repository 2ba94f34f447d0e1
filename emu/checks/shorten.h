// A schedule with the few choices of its policy that matter for what was found.
// What it does not do: look for the fewest; it tries a bounded number of runs, and an interrupted one ends it.
#ifndef PALLADION_EMU_CHECKS_SHORTEN_H_
#define PALLADION_EMU_CHECKS_SHORTEN_H_

#include <cstdint>
#include <functional>
#include <string>

#include "emu/checks/check_trial.h"

namespace palladion::checks {

struct Shortener {
  const TrialRunner& runner;
  const scheduler::RunLengths& lengths;
  // Of all findings of a check together. The first get what they need; of many that one mistake makes, the last get
  // few.
  std::int64_t runs_left = 2000;

  // Of a run that showed something: the moves of `schedule` become those that still show it.
  void Shorten(scheduler::Schedule& schedule, const scheduler::LoopResult& run, Watch watch,
               const std::function<bool(const Trial&)>& shows);

  // The name of the trial's schedule; where it took a policy's choices to get to the finding, of the shortened one.
  std::string ReplayOf(const Trial& trial, const Finding& finding);
};

}  // namespace palladion::checks

#endif  // PALLADION_EMU_CHECKS_SHORTEN_H_
