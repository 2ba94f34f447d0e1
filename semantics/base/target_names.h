// The names of all targets, for those who offer a choice.
#ifndef PALLADION_SEMANTICS_BASE_TARGET_NAMES_H_
#define PALLADION_SEMANTICS_BASE_TARGET_NAMES_H_

#include <string>
#include <vector>

namespace palladion {

std::vector<std::string> TargetNames();

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_TARGET_NAMES_H_
