// What a check has established about a kernel on its inputs, as named facts, and what follows from them. The verdict
// `proved` and the sentence that justifies it are derived from the same facts, so they cannot disagree. For readers:
// docs/explanation/verdicts.md, whose tables come from here. A fact holds of a whole check: it is the intersection of
// what each watched schedule showed. No fact covers other inputs, or machines that break their documented order.
#ifndef PALLADION_EMU_CHECK_EVIDENCE_H_
#define PALLADION_EMU_CHECK_EVIDENCE_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "emu/report.h"
#include "semantics/base/finding.h"

namespace palladion::check {

struct FactRow {
  Fact fact;
  std::string_view name;        // "no-conflict"
  std::string_view words;       // what it says, as part of a sentence
  std::string_view denied;      // what was found instead
  std::string_view unexamined;  // why it was not examined; "": it always is
  std::string_view from;        // what establishes it
};
absl::Span<const FactRow> AllFacts();  // in the order of the enumeration
const FactRow& RowOf(Fact fact);

class FactSet {
 public:
  constexpr FactSet() = default;
  constexpr FactSet(std::initializer_list<Fact> facts) {
    for (const Fact fact : facts) bits_ |= Bit(fact);
  }
  static constexpr FactSet All() {
    FactSet all;
    all.bits_ = ~std::uint32_t{0};
    return all;
  }
  constexpr bool Has(Fact fact) const { return (bits_ & Bit(fact)) != 0; }
  constexpr bool Holds(FactSet facts) const { return (bits_ & facts.bits_) == facts.bits_; }
  constexpr void Set(Fact fact, bool shown) { bits_ = shown ? bits_ | Bit(fact) : bits_ & ~Bit(fact); }
  constexpr FactSet& operator&=(FactSet other) {
    bits_ &= other.bits_;
    return *this;
  }

 private:
  static constexpr std::uint32_t Bit(Fact fact) { return std::uint32_t{1} << static_cast<int>(fact); }
  std::uint32_t bits_ = 0;
};

// One proof, which suffices for `proved`: if all of its facts hold, every schedule does the same on this input.
struct ProofRow {
  std::string_view name;
  FactSet rests_on;
  std::string_view says;
};

// One of docs/explanation/verdicts.md: "every schedule", "one order", "independent programs", "threads".
const ProofRow& ProofNamed(std::string_view name);

// The first whose facts are all there; nullptr: there is none.
const ProofRow* ProofOf(FactSet facts);

// Why facts are withheld, in a schedule's own words; "": there is nothing to say.
struct WhyWithheld {
  std::string unseen_lanes = {};  // what was not looked at of lanes, where nothing was found
  std::string racing_wait = {};   // the semaphore of a wait that could have taken other credits
  void TakeWhatIsNew(const WhyWithheld& other) {
    if (unseen_lanes.empty()) unseen_lanes = other.unseen_lanes;
    if (racing_wait.empty()) racing_wait = other.racing_wait;
  }
};

// What a check has to say about facts: those that something looked for, and of these those that it established.
struct Evidence {
  FactSet examined, shown;
  WhyWithheld why = {};
};

// The fact in words: what it says, what was found instead, or why it was not checked.
std::string WordsOf(Fact fact, const Evidence& evidence);

// The facts that are wanted, for a report.
std::vector<ReportedFact> ReportedFacts(FactSet wanted, const Evidence& evidence);

// "races were not looked for; not every schedule was run": the facts that are wanted and not shown.
std::string MissingOf(FactSet wanted, const Evidence& evidence);

// What one schedule's findings leave of the facts that findings speak about: `checked` are those that something looked
// for, and each finding may deny one (CodeRow::denies). A fact that was not checked is not established.
FactSet Undenied(FactSet checked, absl::Span<const Finding> findings);

// Does the finding forbid any proof? Every defect and warning does, counted or suppressed, and every note that denies
// a fact; but for a warning of what the compiler may refuse, which is nothing that schedules do.
bool ForbidsProof(FindingCode code, Severity severity);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_EVIDENCE_H_
