// What a checked kernel computes on its chip. In a check each index along the parallel dimensions of a TPU's grid has a
// core of its own, so that data passed through a core from index to index is found, whatever the chip. Results are
// those of program order on the chip, which may differ. Based on: a plain run. Limits: where that fails, they are the
// check's.
#ifndef PALLADION_EMU_CHECK_RESULTS_OF_CHIP_H_
#define PALLADION_EMU_CHECK_RESULTS_OF_CHIP_H_

#include "absl/types/span.h"
#include "emu/check/trial_runner.h"

namespace palladion::check {

// `trial`, of the check's program order, gets the outputs of a plain run where the report was made without them, or
// something was undefined that is not there: not where it is a run of the chip's cores as it is, was interrupted,
// failed, is a replay's or a proof's. Then the first finding that comes of it says which chips give the results, and
// which may give others.
void TakeResultsOfChip(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs, const CheckOptions& options,
                       Report* report, Trial* trial);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_RESULTS_OF_CHIP_H_
