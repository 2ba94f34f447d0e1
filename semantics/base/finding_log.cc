#include "semantics/base/finding_log.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace palladion {
namespace {

constexpr std::uint8_t kFirst = 1, kSecond = 2, kBoth = kFirst | kSecond;

// Within a run, an arrival at a barrier and a wait are not alike; which of them came first is the schedule's.
bool SidesAreAlike(FindingCode code) {
  return code != FindingCode::kBarrierDouble && code != FindingCode::kBarrierUnawaited &&
         code != FindingCode::kBarrierPending && code != FindingCode::kBarrierPhaseSkip &&
         code != FindingCode::kBarrierBytes;
}

FindingLog::Where Of(const FindingAccess& access) { return {access.loc, access.text_line}; }

}  // namespace

FindingLog::Key::Key(FindingCode of_code, Where one, Where other, std::int64_t of_object)
    : code(of_code),
      low(one),
      high(other),
      turned(SidesAreAlike(of_code) && other < one),
      sides(kBoth),
      object(of_object) {
  if (turned) std::swap(low, high);
}

FindingLog::Key FindingLog::Key::OfOne(FindingCode code, Where where, std::int64_t object) {
  Key key(code, where, where, object);
  key.sides = kFirst;
  return key;
}

FindingLog::Key::Key(const Finding& finding, std::int64_t of_object) : Key(finding.code, {}, {}, of_object) {
  const Where own{finding.loc, finding.text_line};
  const Where first = finding.first.has_value() ? Of(*finding.first) : own;
  const Where second = finding.second.has_value() ? Of(*finding.second) : own;
  sides =
      static_cast<std::uint8_t>((finding.first.has_value() ? kFirst : 0) | (finding.second.has_value() ? kSecond : 0));
  turned = sides == kBoth && second < first;  // the place of one access and the finding's own are not alike
  low = turned ? second : first;
  high = turned ? first : second;
}

bool operator==(const FindingLog::Key& a, const FindingLog::Key& b) { return !(a < b) && !(b < a); }

bool operator<(const FindingLog::Key& a, const FindingLog::Key& b) {
  return std::tie(a.code, a.low, a.high, a.sides, a.object) < std::tie(b.code, b.low, b.high, b.sides, b.object);
}

void FindingLog::Count(Met& met, const Key& key, std::int64_t times) {
  met.times[key.turned ? 1 : 0] += times;
  findings_[met.at].count = std::max(met.times[0], met.times[1]);
}

bool FindingLog::IsNew(const Key& key) {
  const auto [known, added] = met_.try_emplace(key, Met{.at = findings_.size()});
  if (added) {
    known->second.times[key.turned ? 1 : 0] = 1;
  } else {
    Count(known->second, key, 1);
  }
  return added;
}

void FindingLog::Take(Finding finding) {
  const Key key(finding);
  const auto known = met_.find(key);
  if (known == met_.end()) return Push(std::move(finding));
  Finding& kept = findings_[known->second.at];
  const std::int64_t times = finding.count;
  if (finding.severity > kept.severity) kept = std::move(finding);
  Count(known->second, key, times);
}

std::optional<std::size_t> FindingLog::Find(const Key& key) const {
  const auto known = met_.find(key);
  return known == met_.end() ? std::nullopt : std::optional<std::size_t>(known->second.at);
}

void FindingLog::Push(Finding finding) {
  const Key key(finding);
  Met met{.at = findings_.size()};
  met.times[key.turned ? 1 : 0] = finding.count;
  met_.emplace(key, met);
  findings_.push_back(std::move(finding));
}

void FindingLog::Replace(std::size_t at, Finding finding) {
  met_.erase(Key(findings_[at]));
  const Key key(finding);
  Met met{.at = at};
  met.times[key.turned ? 1 : 0] = finding.count;
  met_.emplace(key, met);
  findings_[at] = std::move(finding);
}

bool SameFinding(const Finding& a, const Finding& b) { return FindingLog::Key(a) == FindingLog::Key(b); }

}  // namespace palladion
