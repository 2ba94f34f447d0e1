#include "emu/check/evidence.h"

#include <algorithm>

#include "semantics/base/cat.h"

namespace palladion::check {
namespace {

constexpr FactRow kFacts[] = {
    {Fact::kOneOrder, "one-order", "the programs of the grid have one order", "the programs of the grid have no order",
     "", "the grid: no dimension of more than one program is parallel"},
    {Fact::kNoInteraction, "no-interaction", "programs cannot see each other's effects while they run",
     "programs see each other's effects while they run", "",
     "the program: no result of an atomic is used, and nothing that atomics update is read"},
    {Fact::kExactUpdates, "exact-updates", "atomic updates give the same result in every order",
     "atomic updates of floats may round otherwise in another order", "",
     "the program: atomics update integers, and nothing reads those meanwhile"},
    {Fact::kNothingDecides, "nothing-decides", "no operation's result depends on which agent came first",
     "an operation's result depends on which agent came first", "",
     "the program: no count that is read, no named barrier, no test of a barrier, no query of cluster launch control, "
     "no atomic, no "
     "copy that reduces"},
    {Fact::kOrderedArrivals, "ordered-arrivals",
     "every arrival at a barrier comes while its block lives, and counts for the same phase in every schedule",
     "an arrival at a barrier could have counted for another phase, or come after the end of its block",
     "races were not looked for",
     "vector clocks: each arrival is ordered after the completion of the phase before; in clusters each was waited "
     "for"},
    {Fact::kDeterminateWaits, "determinate-waits",
     "every wait for a semaphore takes the same signals in every schedule",
     "a wait for a semaphore could have taken other signals in another schedule", "races were not looked for",
     "vector clocks: each signal that a wait did not take comes after all that it took, and waits that take from one "
     "semaphore are ordered"},
    {Fact::kOrderedLanes, "ordered-lanes",
     "conflicting accesses of one program or thread to an element are made by one lane (they are at one position, in "
     "accesses that are spread over the lanes alike), or a barrier is between them",
     "lanes of one program or thread access an element that one of them writes, and no barrier is between the accesses",
     "races were not looked for",
     "every access of each program of Triton, and of each thread without automatic barriers; elsewhere an agent has no "
     "lanes, or JAX puts barriers between them"},
    {Fact::kNoConflict, "no-conflict", "any two accesses of one element, at least one of them a write, are ordered",
     "two accesses of one element, at least one of them a write, have no order", "races were not looked for",
     "every access of every program: the sweep of their sets, or vector clocks"},
    {Fact::kNothingUndefined, "nothing-undefined",
     "no unwritten memory and no padding reached a branch, an index, a semaphore or an output",
     "unwritten memory, or padding, reached a branch, an index, a semaphore or an output",
     "definedness was not followed", "one bit for each element, followed through every operation"},
    {Fact::kSameOutputs, "same-outputs", "all schedules that ran gave the same bits",
     "schedules that ran gave other bits", "", "a comparison of the outputs"},
    {Fact::kEverySchedule, "every-schedule", "every schedule was run", "not every schedule was run", "",
     "--exhaustive, if the search was completed"},
};

constexpr ProofRow kProofs[] = {
    {"every schedule",
     {Fact::kEverySchedule, Fact::kOrderedLanes, Fact::kNoConflict, Fact::kNothingUndefined, Fact::kSameOutputs},
     "all schedules were run"},
    {"one order",
     {Fact::kOneOrder, Fact::kOrderedLanes, Fact::kNoConflict, Fact::kNothingUndefined},
     "the programs of this grid have one order, so no other result is possible on this input"},
    {"independent programs",
     {Fact::kNoInteraction, Fact::kExactUpdates, Fact::kOrderedLanes, Fact::kNoConflict, Fact::kNothingUndefined,
      Fact::kSameOutputs},
     "programs do not wait for each other, and no two of them conflict on any element: every order gives this result "
     "on this input"},
    {"threads",
     {Fact::kNothingDecides, Fact::kOrderedArrivals, Fact::kDeterminateWaits, Fact::kOrderedLanes, Fact::kNoConflict,
      Fact::kNothingUndefined, Fact::kSameOutputs},
     "nothing in this kernel lets a schedule decide more than timing, and no two accesses are unordered: every order "
     "gives this result on this input"},
};

}  // namespace

absl::Span<const FactRow> AllFacts() { return kFacts; }

const FactRow& RowOf(Fact fact) { return kFacts[static_cast<std::size_t>(fact)]; }

const ProofRow& ProofNamed(std::string_view name) {
  return *std::find_if(std::begin(kProofs), std::end(kProofs), [&](const ProofRow& row) { return row.name == name; });
}

const ProofRow* ProofOf(FactSet facts) {
  for (const ProofRow& proof : kProofs) {
    if (facts.Holds(proof.rests_on)) return &proof;
  }
  return nullptr;
}

std::string WordsOf(Fact fact, const Evidence& evidence) {
  const FactRow& row = RowOf(fact);
  if (evidence.shown.Has(fact)) return std::string(row.words);
  if (!evidence.examined.Has(fact)) return std::string(row.unexamined);
  if (fact == Fact::kOrderedLanes && !evidence.why.unseen_lanes.empty()) return evidence.why.unseen_lanes;
  std::string words(row.denied);
  if (fact == Fact::kDeterminateWaits && !evidence.why.racing_wait.empty())
    Append(&words, " (semaphore ", evidence.why.racing_wait, ")");
  return words;
}

std::vector<ReportedFact> ReportedFacts(FactSet wanted, const Evidence& evidence) {
  std::vector<ReportedFact> facts;
  for (const FactRow& row : kFacts) {
    if (wanted.Has(row.fact)) facts.push_back({row.fact, evidence.shown.Has(row.fact), WordsOf(row.fact, evidence)});
  }
  return facts;
}

std::string MissingOf(FactSet wanted, const Evidence& evidence) {
  std::string text;
  for (const FactRow& row : kFacts) {
    if (!wanted.Has(row.fact) || evidence.shown.Has(row.fact)) continue;
    const std::string words = WordsOf(row.fact, evidence);
    if (text.find(words) == std::string::npos) Append(&text, text.empty() ? "" : "; ", words);
  }
  return text;
}

FactSet Undenied(FactSet checked, absl::Span<const Finding> findings) {
  for (const Finding& finding : findings) {
    const Denies denies = RowOf(finding.code).denies;
    if (denies == Denies::kOrder) checked.Set(Fact::kNoConflict, false);
    if (denies == Denies::kDefinedness) checked.Set(Fact::kNothingUndefined, false);
  }
  return checked;
}

bool ForbidsProof(FindingCode code, Severity severity) {
  if (code == FindingCode::kCompiler && severity == Severity::kWarning) return false;  // of nothing that runs
  return severity != Severity::kNote || RowOf(code).denies != Denies::kNothing;
}

}  // namespace palladion::check
