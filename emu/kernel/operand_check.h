// Whether the caller's arrays fit the kernel's operands: the one place for runs and checks.
#ifndef PALLADION_EMU_KERNEL_OPERAND_CHECK_H_
#define PALLADION_EMU_KERNEL_OPERAND_CHECK_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "emu/emulate.h"

namespace palladion::kernel {

// InvalidArgument: another number of arrays, another type or shape, no data.
absl::Status CheckInputs(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs);
absl::Status CheckOutputs(const PreparedKernel& kernel, absl::Span<const MutableArray> outputs);

}  // namespace palladion::kernel

#endif  // PALLADION_EMU_KERNEL_OPERAND_CHECK_H_
