// The result of comparing all outputs: the numbers, the origin of the first and the worst element, the mistake that
// explains them; as text, as JSON and as the exit code of the command.
#ifndef PALLADION_EMU_TOOLS_GOLDEN_COMPARISON_H_
#define PALLADION_EMU_TOOLS_GOLDEN_COMPARISON_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/tools/golden/bundle.h"
#include "emu/tools/golden/causes.h"
#include "emu/tools/golden/compare.h"

namespace palladion::golden {

// An output as the backend gave it, or why it cannot be read.
struct FoundOutput {
  std::string name;
  absl::StatusOr<Tensor> values;
};

struct ComparisonOptions {
  CompareOptions compare;
  CauseOptions causes;
  bool worst = false;  // report the worst few elements as well, for a page
  bool why = true;     // follow the first and the worst element back to the inputs
  RunOptions run;
};

struct ElementStory {
  std::string element;  // "o[3, 4]"
  std::string golden, found, tolerance;
  std::string why;  // of the golden value; or why that is not known
};

struct Comparison {
  std::string kernel, target;
  std::vector<FindingCode> defects;  // of what the check of the bundle's kernel found
  std::vector<OutputComparison> outputs;
  std::vector<std::string> derivations;            // of each output's tolerance
  std::vector<std::vector<ElementStory>> stories;  // of each output: the first, and the worst where it is another
  std::vector<std::vector<ElementStory>> worst;    // of each output, where ComparisonOptions::worst asks for them
  std::vector<std::string> unknown;                // given, and no output of the kernel
  Causes causes;
};

absl::StatusOr<Comparison> Compare(const Bundle& bundle, std::vector<FoundOutput> found,
                                   const ComparisonOptions& options);

// kClean: within tolerance. kDefect: an output differs by more. kMalformed: one is missing, or is no such output.
ExitCode ExitCodeOf(const Comparison& comparison);

// "RACE_WW, OOB".
std::string CodesText(const std::vector<FindingCode>& codes);

std::string ToText(const Comparison& comparison);
std::string ToJson(const Comparison& comparison);  // docs/reference/compare.md

}  // namespace palladion::golden

#endif  // PALLADION_EMU_TOOLS_GOLDEN_COMPARISON_H_
