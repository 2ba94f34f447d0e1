// Whether a kernel uses cluster launch control (OpRow::launch_control): whether it requests the work of blocks that
// have not begun, and reads the answers.
#ifndef PALLADION_SEMANTICS_REGISTRY_CLUSTER_LAUNCH_CONTROL_H_
#define PALLADION_SEMANTICS_REGISTRY_CLUSTER_LAUNCH_CONTROL_H_

#include "semantics/ir/module.h"

namespace palladion {

bool TakesWork(const Kernel& kernel);

// May it read one answer at two lines?
bool ReadsAnswersTwice(const Kernel& kernel);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_REGISTRY_CLUSTER_LAUNCH_CONTROL_H_
