// Validation of the options of a check, for kernels in text and C++ functions.
#ifndef PALLADION_EMU_CHECK_CHECK_OPTIONS_H_
#define PALLADION_EMU_CHECK_CHECK_OPTIONS_H_

#include "absl/status/status.h"
#include "emu/check.h"

namespace palladion::check {

// InvalidArgument: no schedules, no budget, a fence policy or an order of links that is none.
absl::Status ExpectCheckOptions(const CheckOptions& options);

inline bool HasOrderedLinks(const CheckOptions& options) { return options.links == "ordered"; }

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_CHECK_OPTIONS_H_
