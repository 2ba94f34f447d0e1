#include "emu/check/argument.h"

#include <algorithm>
#include <string>

#include "emu/check/orders.h"
#include "semantics/base/cat.h"

namespace palladion::check {
namespace {

bool SeveralOrders(const WhatRan& ran) {
  return HasParallelDimension(ran.runner.kernel().state().program(), ran.runner.inputs());
}

// The proof that a kernel of this kind can have.
const ProofRow& SoughtProof(const WhatRan& ran) {
  if (ran.options.exhaustive || (ran.runner.interact() && !ran.runner.threads())) return ProofNamed("every schedule");
  if (ran.runner.threads()) return ProofNamed("threads");
  return ProofNamed(SeveralOrders(ran) ? "independent programs" : "one order");
}

std::string Sentence(const WhatRan& ran, std::int64_t tried) {
  const std::string schedules = Cat(tried, tried == 1 ? " schedule" : " schedules");
  if (!ran.options.replay.empty()) return "one schedule was replayed, beside program order";
  if (ran.options.exhaustive && ran.explored.complete) {
    const std::int64_t classes = ran.explored.schedules;
    return Cat("all schedules were run: ", classes, classes == 1 ? " class" : " classes",
               ", one schedule of each; those of a class differ only in the order of operations that do not conflict");
  }
  if (ran.options.exhaustive) return Cat("not all schedules were run: the search stopped after ", tried);
  if (ran.livelock) return Cat("the check stopped after ", schedules, ", at one that does not end");
  if (ran.runner.interact() && !ran.seeds.empty()) return scheduler::PctSentence(ran.agents, ran.steps, ran.seeds);
  if (ran.runner.interact()) return scheduler::PctSentence(ran.agents, ran.steps, tried);
  return SeveralOrders(ran) ? Cat(schedules, " tried: program order and its reverse")
                            : "the programs of this grid have one order, and it ran";
}

// What the proof takes for granted and no document promises.
std::string Assumed(const Report& report) {
  const auto has = [&report](FindingCode code) {
    return std::any_of(report.findings.begin(), report.findings.end(),
                       [code](const ReportedFinding& finding) { return finding.code == code; });
  };
  return Cat(has(FindingCode::kProxyWar) ? "; it assumes that a read needs no fence before an asynchronous write that "
                                           "a barrier orders after it (PROXY_WAR)"
                                         : "",
             has(FindingCode::kWgmmaOrder)
                 ? "; it assumes that a wgmma that returns has completed the earlier ones (WGMMA_ORDER)"
                 : "");
}

// The proof, and what was run. A search of all schedules says both: it goes on where a proof is there already, and may
// be cut short.
std::string InWords(const WhatRan& ran, const ProofRow* proof, std::int64_t tried) {
  if (proof == nullptr || proof == &ProofNamed("every schedule")) return Sentence(ran, tried);
  return ran.options.exhaustive ? Cat(proof->says, "; ", Sentence(ran, tried)) : std::string(proof->says);
}

}  // namespace

void Argue(const WhatRan& ran, Report* report) {
  const ProofRow* proof = ProofOf(ran.facts);
  const bool ended = !report->error.has_value() && !report->interrupted;
  const bool replayed = !ran.options.replay.empty();
  report->proved = proof != nullptr && !replayed && ended && !ran.forbids_proof;
  const FactSet sought = proof != nullptr ? proof->rests_on : SoughtProof(ran).rests_on;
  Evidence evidence{.examined = FactSet::All(), .shown = ran.facts, .why = ran.why};
  evidence.examined.Set(Fact::kNoConflict, ran.options.races);
  evidence.examined.Set(Fact::kOrderedArrivals, ran.options.races);
  evidence.examined.Set(Fact::kDeterminateWaits, ran.options.races);
  evidence.examined.Set(Fact::kOrderedLanes, ran.options.races);
  evidence.examined.Set(Fact::kNothingUndefined, ran.options.definedness);
  if (report->interrupted && report->schedules == 0) {
    report->argument = "the check was interrupted before a schedule came to its end";
    return;
  }
  if (!replayed) report->facts = ReportedFacts(sought, evidence);
  report->argument = InWords(ran, report->proved ? proof : nullptr, report->schedules);
  if (report->proved) Append(&report->argument, Assumed(*report));
  const bool counts = std::any_of(report->findings.begin(), report->findings.end(),
                                  [&](const ReportedFinding& finding) { return Counts(finding, *report); });
  if (report->proved || counts || replayed || ran.livelock) return;
  if (const std::string missing = MissingOf(sought, evidence); !missing.empty())
    Append(&report->argument, "; not proved: ", missing);
}

}  // namespace palladion::check
