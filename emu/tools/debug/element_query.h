// "o[17,3]": an element of an output as users write it, and row-major numbers as indices.
#ifndef PALLADION_EMU_TOOLS_DEBUG_ELEMENT_QUERY_H_
#define PALLADION_EMU_TOOLS_DEBUG_ELEMENT_QUERY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/emulate.h"
#include "semantics/ir/type.h"

namespace palladion::debug {

using ElementIndex = std::vector<std::int64_t>;  // one for each dimension

bool IndexInside(const ElementIndex& index, const Shape& shape);
std::int64_t FlatElement(const ElementIndex& index, const Shape& shape);
std::string NamedElement(const std::string& name, const ElementIndex& index);  // "o[17, 3]"; of no dimensions "o"

// The element of an operand that NumPy's broadcast shows at an element of the shape.
std::int64_t BroadcastFrom(const Shape& operand, const Shape& shape, std::int64_t element);

struct ElementQuery {
  std::size_t operand = 0;  // of Program::operand_infos
  std::size_t output = 0;   // of PreparedKernel::outputs
  ElementIndex index;       // of the output as the caller has it
};

// `element` is OUTPUT[I,J], by the output's name in the text or the user's own; without brackets where it has no
// dimensions. InvalidArgument: no such output or element; what there is is said.
absl::StatusOr<ElementQuery> FindElement(const PreparedKernel& kernel, const std::string& element);

}  // namespace palladion::debug

#endif  // PALLADION_EMU_TOOLS_DEBUG_ELEMENT_QUERY_H_
