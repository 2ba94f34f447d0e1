// Validation of the options of a check, for kernels in text and C++ functions, and what its words mean below.
#ifndef PALLADION_EMU_CHECK_OPTIONS_H_
#define PALLADION_EMU_CHECK_OPTIONS_H_

#include <string>

#include "absl/status/status.h"
#include "emu/check.h"
#include "memory_model/order/fence_rule.h"

namespace palladion::check {

// InvalidArgument: no schedules, no budget, options that exclude each other.
absl::Status ExpectCheckOptions(const CheckOptions& options);

memory_model::FencePolicy PolicyOf(ProxyRule rule);
std::string NameOf(const Fill& fill);  // as ParseFill takes it

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_OPTIONS_H_
