// A golden bundle: a kernel, inputs, the outputs that the semantics define for them, and an error bound for other
// implementations' outputs. A folder of kernel.pkir, inputs/NAME.npy, outputs/NAME.npy, undefined/NAME.npy (only of
// outputs with undefined elements), tolerance/NAME.npy (f64, one for each element of a float output) and manifest.json.
// Based on: docs/reference/compare.md. Hashes are FNV-1a of 64 bits: they catch damage, not an attacker.
#ifndef PALLADION_EMU_TOOLS_GOLDEN_BUNDLE_H_
#define PALLADION_EMU_TOOLS_GOLDEN_BUNDLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "emu/emulate.h"

namespace palladion::golden {

inline constexpr int kBundleVersion = 1;

struct GoldenOutput {
  OperandDescription operand;
  Tensor values;
  std::optional<Tensor> undefined;  // bool, true where nothing defines the element; none: all are defined
  std::optional<Tensor> tolerance;  // f64; infinity: no bound is known. None: exact, as of integers
  std::string derivation;           // of the tolerance, one sentence or more
};

struct Bundle {
  std::string text;                          // of the kernel file
  std::string kernel, target;                // the kernel's name, and the target that it ran on
  std::vector<OperandDescription> operands;  // of the inputs
  std::vector<Tensor> inputs;
  std::vector<GoldenOutput> outputs;
  std::string report;                // of a check, as JSON
  bool defect = false;               // that check found one: another order, or another fill, may give other outputs
  std::vector<FindingCode> defects;  // the codes of its findings that are defects, each once
};

struct GoldenOptions {
  PrepareOptions prepare;
  RunOptions run;
  std::int64_t seeds = 16;  // schedules of the check
};

// The JSON of a report, and a report of its JSON: how reports are written is not known here.
using ReportText = std::string (*)(const Report& report);
using ReportOfText = absl::StatusOr<Report> (*)(std::string_view json);

// Runs and checks the kernel. InvalidArgument, Unimplemented, ResourceExhausted: as palladion::Run.
absl::StatusOr<Bundle> MakeBundle(std::string_view text, const std::vector<Tensor>& inputs,
                                  const GoldenOptions& options, ReportText json_of);

// The folder is written whole or not at all. InvalidArgument: it is there already and is not empty.
absl::Status WriteBundle(const Bundle& bundle, const std::string& directory);

// InvalidArgument: no bundle, a file that is missing, or is another than the manifest says.
absl::StatusOr<Bundle> ReadBundle(const std::string& directory, ReportOfText report_of);

// The findings of the report that are defects: their codes, each once.
std::vector<FindingCode> DefectsOf(const Report& report);

}  // namespace palladion::golden

#endif  // PALLADION_EMU_TOOLS_GOLDEN_BUNDLE_H_
