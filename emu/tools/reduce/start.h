// Where a reduction begins: a text, the kernel in it, and values for its inputs.
#ifndef PALLADION_EMU_TOOLS_REDUCE_START_H_
#define PALLADION_EMU_TOOLS_REDUCE_START_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/emulate.h"
#include "emu/tools/reduce/keep_finding.h"
#include "emu/tools/reduce/reduce.h"
#include "emu/tools/reduce/state.h"

namespace palladion::reduce {

struct Source {
  std::string text;
  std::string path;    // for messages
  std::string kernel;  // which of several
  std::string target;  // as of PrepareOptions
};

// The kernel as it says which inputs it takes: on its target, or where that refuses it, on `generic`.
absl::StatusOr<PreparedKernel> PrepareForInputs(const Source& source);

// `inputs`: in the order of the kernel's. `line`: of the text, what has to stay; 0: nothing. NotFound: no instruction
// or operand stands on it; else as Settle.
absl::StatusOr<State> StateOf(const Source& source, std::vector<Input> inputs, int line = 0);

// A reduction that keeps a finding, and the schedule that shows it in the end ("": KeepFinding::Replay).
struct ReducedFinding {
  Reduced reduced;
  std::string replay;
};

// InvalidArgument: a check of `start` does not find it; the message says what it finds.
absl::StatusOr<ReducedFinding> ReduceFinding(const State& start, const FindingChoice& choice,
                                             const KeepFindingOptions& how, const ReduceOptions& options);

}  // namespace palladion::reduce

#endif  // PALLADION_EMU_TOOLS_REDUCE_START_H_
