#include "semantics/program/scratch_scope.h"

#include <vector>

#include "semantics/registry/op_row.h"

namespace palladion {

const Instr* ScratchScopeOf(const Kernel& kernel) {
  const std::vector<Instr>& body = kernel.bodies[0].region.body;
  const bool is_scope =
      kernel.launch.mesh == "gpu" && body.size() == 1 && RowOf(body[0]).allocates == Allocates::kScope;
  return is_scope ? &body[0] : nullptr;
}

bool IsGlobalData(const Type& type) {
  return type.is_ref() && type.element == ElementKind::kData && type.space == Space::kGmem;
}

}  // namespace palladion
