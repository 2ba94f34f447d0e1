#include "emu/check/refusal.h"

#include "emu/check/contracts.h"
#include "emu/check/legality/call_place.h"
#include "emu/kernel/assumed_backend.h"
#include "emu/kernel/float_environment.h"
#include "emu/run/launch/launch.h"
#include "semantics/ir/parser.h"
#include "semantics/prepare/prepare.h"

namespace palladion::check {

Report RefusalReport(const absl::Status& status, std::string_view text, const PrepareOptions& options) {
  Report report = ErrorReport(status, options.kernel, options.target);
  if (status.code() != absl::StatusCode::kUnimplemented && status.code() != absl::StatusCode::kInvalidArgument)
    return report;
  const kernel::FloatEnvironment environment;
  const absl::StatusOr<Module> module = Parse(text, options.path);
  if (!module.ok()) return report;
  for (const Kernel& kernel : module->kernels) {
    const bool chosen = options.kernel.empty() ? module->kernels.size() == 1
                                               : kernel.name == options.kernel || "@" + kernel.name == options.kernel;
    const absl::StatusOr<Target> target = TargetOf(kernel, options.target);
    if (!chosen || !target.ok()) continue;
    report.kernel = kernel.name;
    report.target = ToString(*target);
    report.remarks = kernel::RemarksOf(kernel, options.target);
    std::vector<Finding> findings = StaticFindingsOfParsed(kernel, *target, module->producer);
    legality::PlaceAtCall(*module, kernel, findings);
    for (const Finding& finding : findings) report.findings.push_back(launch::Reported(finding, *module));
  }
  return report;
}

}  // namespace palladion::check
