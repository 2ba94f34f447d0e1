#include "emu/check/causes.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "emu/run/launch/launch.h"
#include "semantics/base/cat.h"
#include "semantics/base/finding.h"

namespace palladion::check {
namespace {

bool Is(const ReportedFinding& finding, FindingCode code) { return finding.code == code; }

bool Follows(const ReportedFinding& undefined, const ReportedFinding& revisit) {
  if (!Is(undefined, FindingCode::kUninitialised) || !Is(revisit, FindingCode::kOutRevisit)) return false;
  return undefined.first.has_value() && revisit.first.has_value() && undefined.first->object == revisit.first->object;
}

}  // namespace

std::vector<ReportedFinding> FindingsOf(const CheckLog& log, const Module& module) {
  std::vector<ReportedFinding> findings;
  for (std::size_t i = 0; i < log.size(); ++i) {
    findings.push_back(launch::Reported(log.finding(i), module));
    findings.back().replay = log.shown(i).replay;
  }
  PutCausesFirst(findings);
  return findings;
}

void PutCausesFirst(std::vector<ReportedFinding>& findings) {
  std::vector<ReportedFinding> ordered, waiting;
  for (ReportedFinding& finding : findings) {
    const auto cause = std::find_if(findings.begin(), findings.end(),
                                    [&](const ReportedFinding& other) { return Follows(finding, other); });
    if (cause == findings.end()) {
      ordered.push_back(std::move(finding));
      continue;
    }
    finding.fix = Cat("resolve the ", Code(FindingCode::kOutRevisit), " of '", finding.first->object, "' first");
    finding.edits.clear();
    waiting.push_back(std::move(finding));
  }
  for (ReportedFinding& finding : waiting) {
    const auto last = std::find_if(ordered.rbegin(), ordered.rend(),
                                   [&](const ReportedFinding& other) { return Follows(finding, other); });
    ordered.insert(last.base(), std::move(finding));
  }
  findings = std::move(ordered);
}

}  // namespace palladion::check
