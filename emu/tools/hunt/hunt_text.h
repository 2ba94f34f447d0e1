// Parts of a small kernel's text that depend on its sizes alone, and the operations of the tensor core and of named
// barriers, each a line.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_TEXT_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_TEXT_H_

#include <string>
#include <vector>

#include "emu/tools/hunt/hunt_kernel.h"

namespace palladion::hunt {

std::string MatrixType(const HuntKernel& kernel);
std::string WindowText(const HuntKernel& kernel);  // of m; "" where it goes whole
std::string MeshText(const HuntKernel& kernel);
std::vector<std::string> ScopeRefs(const HuntKernel& kernel);  // of the scope around everything

// `shared`: the name of the scope's shared memory. "" for other operations.
std::string TensorText(const Op& op, const std::string& shared, const HuntKernel& kernel);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_TEXT_H_
