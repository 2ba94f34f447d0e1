// Where a kernel is called, for findings about the kernel as a whole: kernel text has no location of its own for that.
#ifndef PALLADION_EMU_CHECK_LEGALITY_CALL_PLACE_H_
#define PALLADION_EMU_CHECK_LEGALITY_CALL_PLACE_H_

#include <vector>

#include "semantics/base/finding.h"
#include "semantics/ir/module.h"

namespace palladion::legality {

// The innermost frame that all operands and instructions of the kernel have in common. Where there is none, as JAX
// keeps no line of a call over a GPU mesh: the first place of the body. Invalid: the text has no places.
LocId CallPlace(const Module& module, const Kernel& kernel);

// Gives findings at the kernel's own line of text that place.
void PlaceAtCall(const Module& module, const Kernel& kernel, std::vector<Finding>& findings);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_CALL_PLACE_H_
