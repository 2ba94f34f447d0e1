#include "emu/checks/contracts.h"

#include <algorithm>

#include "emu/checks/legality.h"

namespace palladion {
namespace {

std::vector<Finding> InOrderOfText(Legality& legality) {
  std::vector<Finding> findings = legality.TakeFindings();
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.text_line < b.text_line; });
  return findings;
}

}  // namespace

std::vector<Finding> StaticFindingsOfParsed(const Kernel& kernel, const Target& target) {
  if (target.backend != TargetBackend::kMosaicGpu || kernel.launch.mesh != "gpu") return {};
  Legality legality(kernel, target, nullptr);
  CheckGpuLimits(legality);
  CheckCapacity(legality);
  return InOrderOfText(legality);
}

std::vector<Finding> StaticFindings(const PreparedKernelState& kernel, std::vector<CheckTally>* tallies) {
  const std::vector<Kernel>& kernels = kernel.module().kernels;
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const Kernel& k) { return k.name == kernel.program().kernel_name; });
  Legality legality(*found, kernel.program().target, &kernel.program());
  CheckOperations(legality);
  CheckTpu(legality);
  CheckTriton(legality);
  CheckMosaicGpu(legality);
  CheckCapacity(legality);
  if (tallies != nullptr) {
    tallies->push_back({"legality", legality.blocks + legality.operations + legality.accesses});
    tallies->push_back({"capacity", legality.memories});
  }
  return InOrderOfText(legality);
}

}  // namespace palladion
