// How a type with dynamic dimensions is spelled: the printer knows the operands' names, a bare type only their numbers.
#ifndef PALLADION_SEMANTICS_IR_TYPE_TEXT_H_
#define PALLADION_SEMANTICS_IR_TYPE_TEXT_H_

#include <functional>
#include <string>

#include "semantics/ir/type.h"

namespace palladion {

using DimNamer = std::function<std::string(ValueId operand)>;  // "%n", sigil included

std::string ToString(const Type& type, const DimNamer& namer);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_TYPE_TEXT_H_
