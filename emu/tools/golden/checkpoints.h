// The first place where a backend diverges: the contents of refs after each execution of a line, ours against files
// that the backend wrote under the names of `palladion run --dump` (dump_REF_N.npy). Each is compared within the bound
// of the ref's companion at that moment (error_kernel.h); refs without one, of run_scoped, must be equal in bits.
#ifndef PALLADION_EMU_TOOLS_GOLDEN_CHECKPOINTS_H_
#define PALLADION_EMU_TOOLS_GOLDEN_CHECKPOINTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "emu/tools/golden/bundle.h"
#include "emu/tools/golden/compare.h"

namespace palladion::golden {

struct Checkpoint {
  std::string file;  // "dump_acc_3.npy"
  std::string what;  // "acc after line 33 (swap), program (0, 1, 3)"
  OutputComparison comparison;
  std::string element, expected, found, tolerance;  // the first over tolerance
};

struct Checkpoints {
  std::int64_t expected = 0, missing = 0, compared = 0;
  std::string bounds;               // where the tolerances come from
  std::optional<Checkpoint> first;  // over tolerance, or no array of its type
};

struct CheckpointOptions {
  std::string refs;    // REF@LINE with commas, as of `palladion run --dump`
  std::string folder;  // of the backend's files
  RunOptions run;
};

// InvalidArgument: no such ref or line; no file at all.
absl::StatusOr<Checkpoints> CompareCheckpoints(const Bundle& bundle, const CheckpointOptions& options);

std::string ToText(const Checkpoints& checkpoints);
std::string ToJson(const Checkpoints& checkpoints);  // an object

}  // namespace palladion::golden

#endif  // PALLADION_EMU_TOOLS_GOLDEN_CHECKPOINTS_H_
