#include "emu/checks/contracts.h"

#include <algorithm>

#include "emu/legality/call_place.h"
#include "emu/legality/legality.h"
#include "emu/legality/shape_causes.h"

namespace palladion::checks {
namespace {

std::vector<Finding> InOrderOfText(legality::Legality& legality) {
  std::vector<Finding> findings = legality.TakeFindings();
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.text_line < b.text_line; });
  return findings;
}

const Kernel& KernelOf(const Module& module, const Program& program) {
  return *std::find_if(module.kernels.begin(), module.kernels.end(),
                       [&](const Kernel& kernel) { return kernel.name == program.kernel_name; });
}

}  // namespace

std::vector<Finding> StaticFindingsOfParsed(const Kernel& kernel, const Target& target, std::string_view producer) {
  const bool gpu = target.backend == TargetBackend::kMosaicGpu && kernel.launch.mesh == "gpu";
  const bool tpu = target.backend == TargetBackend::kMosaicTpu && kernel.bodies.size() == 1 &&
                   (kernel.launch.mesh.empty() || kernel.launch.mesh == "tensorcore");
  if (!gpu && !tpu) return {};
  legality::Legality legality(kernel, target, nullptr);
  legality.WrittenBy(producer);
  if (gpu) legality::CheckGpuLimits(legality);
  if (tpu) legality::CheckOperations(legality);
  if (tpu) legality::CheckTpu(legality);
  legality::CheckCapacity(legality);
  legality::NameShapes(legality);
  return InOrderOfText(legality);
}

StaticReport StaticFindings(const Module& module, const Program& program) {
  const Kernel& kernel = KernelOf(module, program);
  legality::Legality legality(kernel, program.target, &program);
  legality.WrittenBy(module.producer);
  legality::CheckOperations(legality);
  legality::CheckTpu(legality);
  legality::CheckTriton(legality);
  legality::CheckMosaicGpu(legality);
  legality::CheckCapacity(legality);
  legality::NameShapes(legality);
  StaticReport report{.findings = InOrderOfText(legality),
                      .tallies = {{"legality", legality.blocks + legality.operations + legality.accesses},
                                  {"capacity", legality.memories}}};
  legality::PlaceAtCall(module, kernel, report.findings);
  return report;
}

StaticReport KnownBefore(const agents::PreparedKernelState& kernel, bool legality) {
  if (legality) return kernel.static_report();
  return {.findings = kernel.always_found(), .tallies = {}};
}

std::vector<Finding> DirectAccessFindings(const Module& module, const Program& program) {
  if (program.target.backend != TargetBackend::kMosaicTpu) return {};
  legality::Legality legality(KernelOf(module, program), program.target, &program);
  legality::CheckTpuDirectAccess(legality);
  return InOrderOfText(legality);
}

}  // namespace palladion::checks
