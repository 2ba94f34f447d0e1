// Which target a kernel is for where the user names none, or only a chip: derived from the kernel's text. Based on: the
// arch that JAX's exporter writes, and features that only some chips have.
#include <algorithm>
#include <string_view>

#include "semantics/base/target_names.h"
#include "semantics/prepare/prepare.h"
#include "semantics/registry/cluster_launch_control.h"

namespace palladion {
namespace {

// The chip that the kernel says it is for, or whose memory or launch control it uses; "": any.
std::string_view ChipOf(const Kernel& kernel) {
  if (!kernel.arch.empty() && !kernel.arch.starts_with("sm_")) return kernel.arch;
  const auto in_tensor_memory = [](const ValueInfo& value) { return value.type.space == Space::kTmem; };
  const bool blackwell = TakesWork(kernel) || std::any_of(kernel.values.begin(), kernel.values.end(), in_tensor_memory);
  return blackwell ? "b200" : "";
}

}  // namespace

absl::StatusOr<Target> TargetOf(const Kernel& kernel, std::string_view name) {
  const std::string_view chip = ChipOf(kernel);
  return ResolveTarget(name, {.kernel = kernel.name, .backend = kernel.backend, .chip = chip});
}

}  // namespace palladion
