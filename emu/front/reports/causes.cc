#include "emu/front/reports/causes.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "emu/front/reports/report_view.h"
#include "semantics/base/finding.h"

namespace palladion::reports {
namespace {

using Side = std::optional<ReportedAccess>;

constexpr std::string_view kIssuedBy = " issued by ";       // in the name of an asynchronous operation
constexpr std::string_view kPipeline = "the pipeline of ";  // the name of its copies of blocks

template <std::size_t n>
bool IsOneOf(const ReportedFinding& finding, const std::array<FindingCode, n>& codes) {
  return std::find(codes.begin(), codes.end(), finding.code) != codes.end();
}

// Accesses that nothing orders, or that no fence lies between.
bool IsRace(const ReportedFinding& finding) {
  return IsOneOf(finding, std::array{FindingCode::kRaceAsync, FindingCode::kRaceWriteWrite, FindingCode::kRaceReadWrite,
                                     FindingCode::kRaceCrossDevice});
}
bool IsOfOrder(const ReportedFinding& finding) { return RowOf(finding.code).denies == Denies::kOrder; }
bool IsOfPair(const ReportedFinding& finding) {
  return IsRace(finding) || IsOneOf(finding, std::array{FindingCode::kProxy, FindingCode::kProxyWar,
                                                        FindingCode::kWgmmaOrder, FindingCode::kBarrierTensorOrder,
                                                        FindingCode::kUseAfterScope, FindingCode::kPeerLifetime});
}

// A severity as a number; what was suppressed is below all.
int Weight(const ReportedFinding& finding) {
  if (!finding.suppressed.empty()) return -1;
  return static_cast<int>(finding.severity);
}

bool SamePlace(const Side& a, const Side& b) {
  if (!a.has_value() || !b.has_value()) return false;
  const bool any = a->text_line > 0 || !a->source.empty();
  return any && a->text_line == b->text_line && a->source == b->source;
}
bool SameObject(const Side& a, const Side& b) {
  return a.has_value() && b.has_value() && !a->object.empty() && a->object == b->object;
}
bool IsOperation(const Side& side) { return side.has_value() && side->agent.find(kIssuedBy) != std::string::npos; }

bool IsOfPipeline(const ReportedFinding& finding) {
  const auto copies = [](const Side& side) { return side.has_value() && side->agent.rfind(kPipeline, 0) == 0; };
  return copies(finding.first) || copies(finding.second);
}

bool SamePlaceAsEither(const Side& side, const ReportedFinding& finding) {
  return IsOperation(side) && (SamePlace(side, finding.first) || SamePlace(side, finding.second));
}

// Is one of the finding's sides an operation that was issued where `issued` was?
bool HasIssueOf(const ReportedFinding& finding, const Side& issued) {
  for (const Side* side : {&finding.first, &finding.second}) {
    if (IsOperation(*side) && SamePlace(*side, issued)) return true;
  }
  return false;
}

// One missing wait or barrier leaves several pairs of lines without an order: those of one operation, or of the same
// two agents. A wait in a body orders no copy that a pipeline makes beside it.
bool IsAnotherPair(const ReportedFinding& pair, const ReportedFinding& cause) {
  const bool alike = pair.code == cause.code || (IsRace(pair) && IsRace(cause));
  if (!alike || !IsOfPair(pair) || !SameObject(pair.second, cause.second)) return false;
  if (IsOfPipeline(pair) != IsOfPipeline(cause)) return false;
  const bool operations = IsOperation(pair.first) || IsOperation(pair.second);
  if (operations) return HasIssueOf(cause, pair.first) || HasIssueOf(cause, pair.second);
  if (!pair.first.has_value() || !cause.first.has_value() || IsOperation(cause.first) || IsOperation(cause.second))
    return false;
  const auto side = [&](const Side& a, const Side& b) { return a->agent == b->agent; };
  const bool straight = side(pair.first, cause.first) && side(pair.second, cause.second);
  const bool turned = side(pair.first, cause.second) && side(pair.second, cause.first);
  if (straight) return SamePlace(pair.first, cause.first) || SamePlace(pair.second, cause.second);
  return turned && (SamePlace(pair.first, cause.second) || SamePlace(pair.second, cause.first));
}

// What was read before it was there: by an access without an order, or in a block that holds nothing when it is
// visited again.
bool IsReadTooEarly(const ReportedFinding& undefined, const ReportedFinding& cause) {
  const Side& read = undefined.first;
  if (!SameObject(read, cause.first) && !SameObject(read, cause.second)) return false;
  if (cause.code == FindingCode::kOutRevisit) return true;
  const bool unordered = IsOfPair(cause) || cause.code == FindingCode::kGridOrder;
  return unordered && (SamePlace(read, cause.first) || SamePlace(read, cause.second));
}

// The target refuses one shape at each instruction that it reaches (emu/check/legality/shape_causes.h).
bool IsOfOneShape(const ReportedFinding& finding, const ReportedFinding& cause) {
  return cause.code == FindingCode::kIllegal && !finding.why.empty() && finding.why == cause.why;
}

bool Follows(const ReportedFinding& finding, const ReportedFinding& cause) {
  if (finding.code == FindingCode::kIllegal) return IsOfOneShape(finding, cause);
  if (cause.code == FindingCode::kBarrierBytes)  // a wait there may take another copy's bytes
    return IsRace(finding) && (SamePlaceAsEither(finding.first, cause) || SamePlaceAsEither(finding.second, cause));
  if (finding.code == FindingCode::kNondeterministic) return IsOfOrder(cause) || cause.code == FindingCode::kOutRevisit;
  if (finding.code == FindingCode::kUninitialised) return IsReadTooEarly(finding, cause);
  if (finding.code == FindingCode::kUseAfterScope || finding.code == FindingCode::kPeerLifetime) {
    const bool follows = IsRace(cause) && IsOperation(finding.first) && HasIssueOf(cause, finding.first) &&
                         SameObject(finding.second, cause.second);
    return follows || IsAnotherPair(finding, cause);
  }
  if (finding.code == FindingCode::kBarrierDouble)
    return IsRace(cause) && (SamePlaceAsEither(cause.first, finding) || SamePlaceAsEither(cause.second, finding)) &&
           (IsOperation(finding.first) || IsOperation(finding.second));
  if (finding.code == FindingCode::kNotAwaited) return IsOfPair(cause) && HasIssueOf(cause, finding.first);
  if (finding.code == FindingCode::kSemaphoreLeak || finding.code == FindingCode::kBarrierUnawaited) {
    const bool issued = IsOfPair(cause) || cause.code == FindingCode::kNotAwaited;
    return issued && IsOperation(finding.first) && HasIssueOf(cause, finding.first);
  }
  if (finding.code == FindingCode::kDeadlock) return cause.code == FindingCode::kCollectiveMismatch;
  return IsAnotherPair(finding, cause);
}

// The causes come first: of two findings of one rank the one that the report has first.
int RankOf(const ReportedFinding& finding) {
  constexpr FindingCode kLate[] = {FindingCode::kBarrierDouble,    FindingCode::kPeerLifetime,
                                   FindingCode::kUseAfterScope,    FindingCode::kNotAwaited,
                                   FindingCode::kBarrierUnawaited, FindingCode::kSemaphoreLeak,
                                   FindingCode::kUninitialised,    FindingCode::kNondeterministic};
  if (finding.code == FindingCode::kBarrierBytes) return -1;
  if (finding.code == FindingCode::kIllegal)
    return UserFrame(finding.frames) > 0 ? 1 : 0;  // the user's own line comes first
  const auto at = std::find(std::begin(kLate), std::end(kLate), finding.code);
  return at == std::end(kLate) ? 0 : static_cast<int>(at - std::begin(kLate)) + 1;
}

}  // namespace

std::vector<std::optional<std::size_t>> CausesOf(const Report& report) {
  const std::vector<ReportedFinding>& findings = report.findings;
  std::vector<std::optional<std::size_t>> causes(findings.size());
  std::vector<std::size_t> order(findings.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return RankOf(findings[a]) < RankOf(findings[b]); });
  for (std::size_t at = 0; at < order.size(); ++at) {
    const ReportedFinding& finding = findings[order[at]];
    if (Weight(finding) < 0) continue;
    for (std::size_t before = 0; before < at && !causes[order[at]].has_value(); ++before) {
      const std::size_t cause = order[before];
      if (Weight(findings[cause]) < Weight(finding) || !Follows(finding, findings[cause])) continue;
      const std::size_t root = causes[cause].value_or(cause);
      if (Weight(findings[root]) >= Weight(finding)) causes[order[at]] = root;
    }
  }
  return causes;
}

}  // namespace palladion::reports
