// In a kernel that freezes refs, each use of a ref is preceded by a step that reports USE_AFTER_SCOPE where the ref's
// life has ended.
#ifndef PALLADION_SEMANTICS_PROGRAM_ENDED_REFS_H_
#define PALLADION_SEMANTICS_PROGRAM_ENDED_REFS_H_

#include "semantics/program/builder.h"

namespace palladion {

// Does some instruction end the life of a ref?
bool Freezes(const Kernel& kernel);

void EmitExpectAlive(RefId ref, Builder& builder);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_ENDED_REFS_H_
