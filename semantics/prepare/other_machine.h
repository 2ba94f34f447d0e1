// Messages for launches over a machine other than the target's.
#ifndef PALLADION_SEMANTICS_PREPARE_OTHER_MACHINE_H_
#define PALLADION_SEMANTICS_PREPARE_OTHER_MACHINE_H_

#include <string>

#include "semantics/base/target.h"
#include "semantics/ir/module.h"

namespace palladion {

// Why a launch over a mesh cannot run where there are no threads of GPU blocks.
std::string OfAnotherMachine(const Launch& launch, const Target& target);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PREPARE_OTHER_MACHINE_H_
