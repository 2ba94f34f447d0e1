#include "emu/check/log.h"

#include <algorithm>
#include <utility>

#include "emu/check/evidence.h"
#include "semantics/base/cat.h"

namespace palladion::check {

bool SameButForTheValue(const Finding& race, Finding same) {
  const bool writes = race.code == FindingCode::kRaceWriteWrite || race.code == FindingCode::kGridOrder;
  if (!writes || same.code != FindingCode::kSameValue) return false;
  same.code = race.code;
  return SameFinding(race, same);
}

namespace {

// What the finding would be if its writers stored, or did not store, the same bytes.
std::vector<FindingLog::Key> WithOtherValues(const Finding& finding) {
  FindingLog::Key key(finding);
  std::vector<FindingLog::Key> keys;
  const auto as = [&](FindingCode code) { key.code = code, keys.push_back(key); };
  const bool same = finding.code == FindingCode::kSameValue;
  if (same) as(FindingCode::kRaceWriteWrite), as(FindingCode::kGridOrder);
  if (finding.code == FindingCode::kRaceWriteWrite || finding.code == FindingCode::kGridOrder)
    as(FindingCode::kSameValue);
  return keys;
}

}  // namespace

std::optional<std::size_t> CheckLog::Known(const Finding& finding) const {
  const std::optional<std::size_t> known = log_.Find(FindingLog::Key(finding));
  if (known.has_value() || !generic_ || finding.code != FindingCode::kGridOrder || !finding.first.has_value())
    return known;
  for (const FindingLog::Key& key : WithOtherValues(finding)) {
    if (log_.Find(key).has_value()) return std::nullopt;  // it takes the place of that note
  }
  for (std::size_t i = 0; i < size(); ++i) {
    const Finding& other = log_[i];
    if (other.code == finding.code && other.first.has_value() && !shown_[i].difference &&
        other.first->object == finding.first->object)
      return i;
  }
  return std::nullopt;
}

bool CheckLog::Add(Finding finding, const std::optional<scheduler::Schedule>& schedule,
                   const std::function<std::string()>& replay) {
  if (const auto known = Known(finding); known.has_value()) {
    Finding& logged = log_[*known];
    const std::int64_t count = std::max(logged.count, finding.count);
    const bool worse = finding.severity > logged.severity, more = worse || finding.count > logged.count;
    if (worse) {
      logged = std::move(finding);
      shown_[*known] = {schedule, replay()};
    }
    logged.count = count;
    return more;
  }
  for (const FindingLog::Key& key : WithOtherValues(finding)) {
    const auto known = log_.Find(key);
    if (!known.has_value()) continue;
    // That two writes stored the same in one schedule is no comfort where they did not in another.
    if (finding.code == FindingCode::kSameValue) return false;
    log_.Replace(*known, std::move(finding));
    shown_[*known] = {schedule, ""};
    shown_[*known].replay = replay();
    return true;
  }
  log_.Push(std::move(finding));
  shown_.push_back({schedule, ""});
  shown_.back().replay = replay();
  return true;
}

void CheckLog::AddDifference(Finding finding, const scheduler::Schedule& schedule, std::string replay) {
  const auto is_difference = [&](std::size_t i) {
    return finding.code == FindingCode::kGridOrder && log_[i].code == finding.code && shown_[i].schedule.has_value();
  };
  const auto of_it = [&](std::size_t i) {
    const std::optional<FindingAccess>&mine = finding.second, &its = log_[i].second;
    return is_difference(i) && mine.has_value() && its.has_value() && mine->object == its->object;
  };
  std::size_t at = 0;
  while (at < size() && !of_it(at)) ++at;
  if (at == size()) {
    for (at = 0; at < size() && !is_difference(at);) ++at;
  }
  if (at == size()) {
    log_.Push(std::move(finding));
    shown_.push_back({schedule, std::move(replay), /*difference=*/true});
    return;
  }
  Append(&log_[at].message, "; the results differ: ", finding.message);
  shown_[at] = {schedule, std::move(replay)};
}

const Finding* CheckLog::AnyUnordered() const {
  const Finding* worst = nullptr;
  for (const Finding& finding : log_.findings()) {
    if (RowOf(finding.code).denies != Denies::kOrder) continue;
    if (worst == nullptr || finding.severity > worst->severity) worst = &finding;
  }
  return worst;
}

bool CheckLog::AnyForbidsProof() const {
  return std::any_of(log_.findings().begin(), log_.findings().end(),
                     [](const Finding& finding) { return ForbidsProof(finding.code, finding.severity); });
}

}  // namespace palladion::check
