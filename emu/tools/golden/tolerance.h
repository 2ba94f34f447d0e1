// Error bounds for other implementations' outputs. Based on: Higham, Accuracy and Stability of Numerical Algorithms,
// 2nd edition, 3.1 (gamma_n = n u / (1 - n u)) and 3.3 (running error analysis); docs/reference/compare.md.
#ifndef PALLADION_EMU_TOOLS_GOLDEN_TOLERANCE_H_
#define PALLADION_EMU_TOOLS_GOLDEN_TOLERANCE_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "emu/emulate.h"
#include "emu/tools/golden/bundle.h"
#include "emu/tools/golden/error_kernel.h"

namespace palladion::golden {

// Fills in tolerance and derivation of every float output. Errors are those of running a kernel.
absl::Status AddTolerances(const PreparedKernel& kernel, const RunOptions& run, Bundle& bundle);

// The inputs of an error kernel: the bundle's, and zeros for companions.
absl::StatusOr<std::vector<Tensor>> ErrorInputs(const ErrorKernel& error, const Bundle& bundle);

}  // namespace palladion::golden

#endif  // PALLADION_EMU_TOOLS_GOLDEN_TOLERANCE_H_
