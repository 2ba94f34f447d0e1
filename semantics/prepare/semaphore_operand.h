// Operands of a kernel that are arrays of semaphores, of earlier launches or for later ones: docs/spec/tpu-sessions.md.
#ifndef PALLADION_SEMANTICS_PREPARE_SEMAPHORE_OPERAND_H_
#define PALLADION_SEMANTICS_PREPARE_SEMAPHORE_OPERAND_H_

#include "absl/status/status.h"
#include "semantics/program/builder.h"

namespace palladion {

// Adds the operand, of which `info` has role, name, type as the text has it, and alias, to the program; the body knows
// it as `param`. Unimplemented: on machines, and in grids, that have none.
absl::Status DescribeSemaphores(ValueId param, OperandInfo info, Builder& builder);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PREPARE_SEMAPHORE_OPERAND_H_
