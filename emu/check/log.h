// The findings of all schedules of a check: one entry for equal findings, with the schedule that shows it. FindingLog
// defines equality; a race stays a race even if its writers stored the same bytes in some schedule; the worst of
// several schedules is kept, with the largest count.
#ifndef PALLADION_EMU_CHECK_LOG_H_
#define PALLADION_EMU_CHECK_LOG_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/policies/schedule.h"
#include "semantics/base/finding.h"
#include "semantics/base/finding_log.h"

namespace palladion::check {

class CheckLog {
 public:
  // What shows a finding.
  struct Shown {
    std::optional<scheduler::Schedule> schedule;  // none: it needs no run
    std::string replay;
    bool difference = false;  // it says no more than that outputs differ
  };

  // `generic`: no backend is named, and that an array depends on the order at all is one finding, as in one run
  // (emu/run/launch/grid_words.h).
  explicit CheckLog(bool generic = false) : generic_(generic) {}

  // `replay` is called for a finding that is new here, or that replaces another. Returns true if the report
  // has changed.
  bool Add(Finding finding, const std::optional<scheduler::Schedule>& schedule,
           const std::function<std::string()>& replay);

  std::size_t size() const { return log_.size(); }
  Finding& finding(std::size_t i) { return log_[i]; }
  const Finding& finding(std::size_t i) const { return log_[i]; }
  const Shown& shown(std::size_t i) const { return shown_[i]; }

  // That outputs differ between schedules. Where no backend is named and the accesses that do it are known, that is the
  // same note: theirs says it, and shows it.
  void AddDifference(Finding finding, const scheduler::Schedule& schedule, std::string replay);

  // The finding, whatever its severity, that says that something was not ordered: the worst of the first. nullptr:
  // none.
  const Finding* AnyUnordered() const;
  // Does any finding forbid that something is proved?
  bool AnyForbidsProof() const;

 private:
  std::optional<std::size_t> Known(const Finding& finding) const;

  const bool generic_;
  FindingLog log_;
  std::vector<Shown> shown_;  // of each finding
};

// Is `race` RACE_WW (or GRID_ORDER, where nothing names a backend), and `same` the note SAME_VALUE on the same
// accesses?
bool SameButForTheValue(const Finding& race, Finding same);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_LOG_H_
