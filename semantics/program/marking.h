// Emits the marks of an observable program (mark.h).
#ifndef PALLADION_SEMANTICS_PROGRAM_MARKING_H_
#define PALLADION_SEMANTICS_PROGRAM_MARKING_H_

#include "absl/status/status.h"
#include "semantics/program/builder.h"
#include "semantics/program/mark.h"

namespace palladion {

absl::Status EmitMark(const Instr& op, bool finished, Builder& builder);
// `of`: the instruction whose region it is; nullptr: a region of the kernel itself.
absl::Status EmitMark(const Region& region, const Instr* of, bool entered, Builder& builder);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_MARKING_H_
