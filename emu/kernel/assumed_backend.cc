#include "emu/kernel/assumed_backend.h"

#include <string>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/base/target_names.h"

namespace palladion::kernel {

std::vector<ReportedRemark> RemarksOf(const Kernel& kernel, std::string_view target) {
  const std::vector<std::string> names = TargetNamesOfChip(target);
  if (!kernel.backend.empty() || names.size() < 2) return {};
  const std::string others = absl::StrJoin(names.begin() + 1, names.end(), "' or '");
  return {{.name = "backend",
           .words = Cat("the kernel text names no backend, so the target '", target, "' was taken for '", names[0],
                        "'; give '", others, "' for the other one, or name the target where the text is exported"),
           .source = "",
           .frames = {}}};
}

}  // namespace palladion::kernel
