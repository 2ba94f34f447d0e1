// Which types an instruction may be given: a ref where memory is meant and a value elsewhere, sizes that are known, and
// arrays within the limits. Based on: docs/spec/kernel-text.md. What an operation asks beyond that is its own `verify`.
#ifndef PALLADION_SEMANTICS_REGISTRY_OPERAND_TYPES_H_
#define PALLADION_SEMANTICS_REGISTRY_OPERAND_TYPES_H_

#include <vector>

#include "semantics/base/status.h"
#include "semantics/ir/module.h"

namespace palladion {

// Unimplemented for a dimension known only at run time, ResourceExhausted past the limits of an array.
absl::Status CheckType(const Type& type);

// What each operand is, views applied. The ids are in range, and the instruction has its row.
absl::StatusOr<std::vector<Type>> OperandTypes(const Kernel& kernel, const Instr& instr);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_REGISTRY_OPERAND_TYPES_H_
