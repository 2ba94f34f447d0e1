// A value as people read it: scalars in the shortest decimal that reads back to the same bits, arrays in nested
// brackets.
#ifndef PALLADION_SEMANTICS_REGISTRY_VALUE_TEXT_H_
#define PALLADION_SEMANTICS_REGISTRY_VALUE_TEXT_H_

#include <cstddef>
#include <string>

#include "semantics/ir/type.h"

namespace palladion {

std::string ValueText(const Type& type, const std::byte* value);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_REGISTRY_VALUE_TEXT_H_
