// Operations on constants only (iota, a broadcast literal) are done once, when the program is made, instead of by every
// program that runs.
#ifndef PALLADION_SEMANTICS_PROGRAM_CONSTANT_FOLD_H_
#define PALLADION_SEMANTICS_PROGRAM_CONSTANT_FOLD_H_

#include <optional>
#include <vector>

#include "semantics/program/program.h"
#include "semantics/program/value_slots.h"
#include "semantics/registry/value_kernel.h"

namespace palladion {

// The slot of the result, of `type`, now a constant; nullopt: an operand is none, or the result is too large.
std::optional<SlotId> FoldConstant(const ValueKernel& kernel, const std::vector<SlotId>& in, const Type& type,
                                   Program& program, ValueSlots& slots);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_CONSTANT_FOLD_H_
