#include "emu/checks/check_log.h"

#include <algorithm>
#include <utility>

#include "emu/checks/evidence.h"
#include "semantics/base/cat.h"

namespace palladion {

bool SameButForTheValue(const Finding& race, Finding same) {
  const bool writes = race.code == FindingCode::kRaceWriteWrite || race.code == FindingCode::kGridOrder;
  if (!writes || same.code != FindingCode::kSameValue) return false;
  same.code = race.code;
  return SameFinding(race, same);
}

void CheckLog::Add(Finding finding, const std::optional<Schedule>& schedule,
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

void CheckLog::AddDifference(Finding finding, const Schedule& schedule, std::string replay) {
  const auto told = [&](const Entry& entry) {
    return finding.code == FindingCode::kGridOrder && entry.finding.code == finding.code && entry.schedule.has_value();
  };
  const auto of_it = [&](const Entry& entry) {
    const std::optional<FindingAccess>&mine = finding.second, &its = entry.finding.second;
    return told(entry) && mine.has_value() && its.has_value() && mine->object == its->object;
  };
  auto at = std::find_if(entries_.begin(), entries_.end(), of_it);
  if (at == entries_.end()) at = std::find_if(entries_.begin(), entries_.end(), told);
  if (at == entries_.end()) {
    entries_.push_back({std::move(finding), schedule, std::move(replay)});
    return;
  }
  Append(&at->finding.message, ", and does: ", finding.message);
  at->schedule = schedule;
  at->replay = std::move(replay);
}

const Finding* CheckLog::AnyUnordered() const {
  const Finding* worst = nullptr;
  for (const Entry& entry : entries_) {
    const Finding& finding = entry.finding;
    if (RowOf(finding.code).denies != Denies::kOrder) continue;
    if (worst == nullptr || finding.severity > worst->severity) worst = &finding;
  }
  return worst;
}

bool CheckLog::AnyForbidsProof() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return ForbidsProof(entry.finding.code, entry.finding.severity); });
}

}  // namespace palladion
