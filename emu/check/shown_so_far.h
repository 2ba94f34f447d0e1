// What the schedules of a check have shown so far, and whether the last ones added to it. A part of a check
// (seed_parts.h) reports the seeds that did.
#ifndef PALLADION_EMU_CHECK_SHOWN_SO_FAR_H_
#define PALLADION_EMU_CHECK_SHOWN_SO_FAR_H_

#include "emu/check/evidence.h"
#include "emu/check/trial.h"

namespace palladion::check {

class ShownSoFar {
 public:
  void Take(const Trial& trial, Watch watch) {
    livelock_ |= trial.run.outcome == scheduler::Outcome::kBudget;
    const FactSet before = facts_;
    if (watch == Watch::kEverything) facts_ &= trial.facts;
    why_.TakeWhatIsNew(trial.why);
    news_ |= livelock_ || !facts_.Holds(before);
  }
  void TakeFinding(bool is_new) { news_ |= is_new; }
  void TakeDifference() { outputs_differ_ = news_ = true; }

  FactSet facts() const { return facts_; }                 // that every watched schedule showed
  const WhyWithheld& why() const { return why_; }          // others are, of them all
  bool livelock() const { return livelock_; }              // one spends the whole budget: no more are tried
  bool outputs_differ() const { return outputs_differ_; }  // one pair of schedules shows it

  void ForgetNews() { news_ = false; }
  bool news() const { return news_; }  // since then

 private:
  FactSet facts_ = FactSet::All();
  WhyWithheld why_;
  bool livelock_ = false, outputs_differ_ = false, news_ = false;
};

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_SHOWN_SO_FAR_H_
