// What a check has found in all of its schedules: one entry for findings that are the same, with the schedule that
// shows it. One rule for what is the same: SameFinding, and that a race is a race although its writers stored the same
// bytes in some schedule.
#ifndef PALLADION_EMU_CHECKS_CHECK_LOG_H_
#define PALLADION_EMU_CHECKS_CHECK_LOG_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/policies/schedule.h"
#include "semantics/base/finding.h"

namespace palladion {

class CheckLog {
 public:
  struct Entry {
    Finding finding;
    std::optional<Schedule> schedule;  // none: it needs no run
    std::string replay;
  };

  // `replay` is asked for a finding that is new here, or takes another's place.
  void Add(Finding finding, const std::optional<Schedule>& schedule, const std::function<std::string()>& replay);

  const std::vector<Entry>& entries() const { return entries_; }
  std::vector<Entry>& entries() { return entries_; }

  // That outputs differ between schedules. Where no backend is named and the accesses that do it are known, that is the
  // same note: theirs says it, and shows it.
  void AddDifference(Finding finding, const Schedule& schedule, std::string replay);

  // The finding, whatever its severity, that says that something was not ordered: the worst of the first. nullptr:
  // none.
  const Finding* AnyUnordered() const;
  // Does any finding forbid that something is proved?
  bool AnyForbidsProof() const;

 private:
  std::vector<Entry> entries_;
};

// Is `race` RACE_WW (or GRID_ORDER, where nothing names a backend), and `same` the note SAME_VALUE on the same
// accesses?
bool SameButForTheValue(const Finding& race, Finding same);

}  // namespace palladion

#endif  // PALLADION_EMU_CHECKS_CHECK_LOG_H_
