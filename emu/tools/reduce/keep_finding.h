// An interestingness test for a finding: its code, and optionally the ref that it names and the instruction that it
// points at.
#ifndef PALLADION_EMU_TOOLS_REDUCE_KEEP_FINDING_H_
#define PALLADION_EMU_TOOLS_REDUCE_KEEP_FINDING_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/check.h"
#include "emu/report.h"
#include "emu/tools/reduce/state.h"

namespace palladion::reduce {

// "RACE_RW", "RACE_RW@o", "RACE_RW:12", "RACE_RW@o:12".
struct FindingChoice {
  FindingCode code = FindingCode::kOutOfBounds;
  std::string ref;  // a name of a ref or operand, the text's or the user's; "": any
  int line = 0;     // of the text as it is given; 0: any
};
// InvalidArgument: no finding has this code, or it is not written so.
absl::StatusOr<FindingChoice> FindingChoiceFromText(std::string_view text);
std::string ToText(const FindingChoice& choice);

struct KeepFindingOptions {
  std::string target;  // as of PrepareOptions
  CheckOptions check;
};

class KeepFinding {
 public:
  // InvalidArgument: the kernel has no such ref.
  static absl::StatusOr<KeepFinding> Create(const FindingChoice& choice, const Kernel& kernel,
                                            KeepFindingOptions options);

  // What a check says of the state; where it cannot be prepared, what is said of its text.
  absl::StatusOr<Report> Check(const State& state) const;

  // The finding that is looked for, of several the first; nullptr: there is none.
  const ReportedFinding* Find(const Report& report, const State& state) const;

  // From here on a check has no more schedules than show the finding in `start`, and loops and schedules end where
  // those of `start` have ended, both rounded up: a candidate whose loop has lost its end costs little. Deterministic.
  // False: nothing is found.
  absl::StatusOr<bool> Adjust(const State& start);

  absl::StatusOr<bool> Holds(const State& state) const;

  // The schedule that shows the finding; "" where any does, or no single one. NotFound: it is not there.
  absl::StatusOr<std::string> Replay(const State& state) const;

 private:
  KeepFinding(FindingChoice choice, KeepFindingOptions options)
      : choice_(std::move(choice)), options_(std::move(options)) {}
  FindingChoice choice_;
  KeepFindingOptions options_;
  std::vector<std::string> names_;       // of the ref; empty: any
  bool may_be_refused_ = true;           // by its target
  std::int64_t seeds_ = 0, budget_ = 0;  // less than the user gave; 0: as much
};

}  // namespace palladion::reduce

#endif  // PALLADION_EMU_TOOLS_REDUCE_KEEP_FINDING_H_
