#include "emu/checks/finding_log.h"

#include <algorithm>
#include <utility>

#include "emu/checks/evidence.h"

namespace palladion {

bool SameButForTheValue(const Finding& race, Finding same) {
  const bool writes = race.code == FindingCode::kRaceWriteWrite || race.code == FindingCode::kGridOrder;
  if (!writes || same.code != FindingCode::kSameValue) return false;
  same.code = race.code;
  return SameFinding(race, same);
}

void FindingLog::Add(Finding finding, const std::optional<Schedule>& schedule,
                     const std::function<std::string()>& replay) {
  for (Entry& known : entries_) {
    if (SameFinding(known.finding, finding)) {
      known.finding.count = std::max(known.finding.count, finding.count);
      known.finding.severity = std::max(known.finding.severity, finding.severity);
      return;
    }
    // That two writes stored the same in one schedule is no comfort where they did not in another.
    if (SameButForTheValue(known.finding, finding)) return;
    if (SameButForTheValue(finding, known.finding)) {
      known = {std::move(finding), schedule, ""};
      known.replay = replay();
      return;
    }
  }
  entries_.push_back({std::move(finding), schedule, ""});
  entries_.back().replay = replay();
}

bool FindingLog::AnyUnordered() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return RowOf(entry.finding.code).denies == Denies::kOrder; });
}

bool FindingLog::AnyForbidsProof() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return ForbidsProof(entry.finding.code, entry.finding.severity); });
}

}  // namespace palladion
