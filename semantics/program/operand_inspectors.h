// What a run has to look at in the operands of a value operation, because they may break a rule (inspections.h).
#ifndef PALLADION_SEMANTICS_PROGRAM_OPERAND_INSPECTORS_H_
#define PALLADION_SEMANTICS_PROGRAM_OPERAND_INSPECTORS_H_

#include <vector>

#include "semantics/program/program.h"
#include "semantics/registry/value_kernel.h"

namespace palladion {

// What the row's inspectors have to look at, owned by the program; nullptr: nothing, also where the constants among the
// operands keep the rules.
const Inspected* InspectorsOf(const Instr& op, const ValueTypes& types, const std::vector<SlotId>& in,
                              Program& program);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_OPERAND_INSPECTORS_H_
