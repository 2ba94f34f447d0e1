// Kernel text as JSON, for programs that read kernels without a parser of their own: everything that the canonical text
// says (semantics/ir/printer.h), tree for tree. The fields are listed in docs/guides/to-jax.md. Not included: results
// of the verifier (rows of operations, types of views).
#ifndef PALLADION_EMU_FRONT_REPORTS_MODULE_JSON_H_
#define PALLADION_EMU_FRONT_REPORTS_MODULE_JSON_H_

#include <string>

#include "semantics/base/status.h"
#include "semantics/ir/module.h"

namespace palladion::reports {

// On one line. InvalidArgument where the attributes of a type cannot be read, which no parsed module has.
absl::StatusOr<std::string> ModuleJson(const Module& module);

}  // namespace palladion::reports

#endif  // PALLADION_EMU_FRONT_REPORTS_MODULE_JSON_H_
