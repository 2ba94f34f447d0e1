#include "emu/checks/contracts.h"

#include <algorithm>
#include <iterator>

#include "emu/legality/legality.h"

namespace palladion::checks {
namespace {

std::vector<Finding> InOrderOfText(legality::Legality& legality) {
  std::vector<Finding> findings = legality.TakeFindings();
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.text_line < b.text_line; });
  return findings;
}

std::vector<LocId> FramesOf(const Module& module, LocId loc) {
  std::vector<LocId> frames;  // a hand-made module may link frames in a ring
  for (; loc.valid() && loc.index() < module.locs.size() && frames.size() < module.locs.size();
       loc = module.locs[loc.index()].via)
    frames.push_back(loc);
  return frames;
}

// Where the kernel is called: the frames that all operands have in common, whose index maps have places of their own.
LocId PlaceOfCall(const Module& module, const Kernel& kernel) {
  std::vector<LocId> common;
  for (const Operand& operand : kernel.operands) {
    const std::vector<LocId> frames = FramesOf(module, operand.loc);
    if (frames.empty()) continue;
    if (common.empty()) {
      common = frames;
      continue;
    }
    const auto ends = std::mismatch(common.rbegin(), common.rend(), frames.rbegin(), frames.rend());
    if (ends.first != common.rbegin()) common.erase(common.begin(), ends.first.base());
  }
  if (!common.empty()) return common.front();
  LocId first;  // JAX keeps no line of a call over a GPU mesh: the first of the body
  legality::ForEachInstr(kernel.bodies[0].region, [&](const Instr& op) {
    if (!first.valid()) first = op.loc;
  });
  return first;
}

const Kernel& KernelOf(const Module& module, const Program& program) {
  return *std::find_if(module.kernels.begin(), module.kernels.end(),
                       [&](const Kernel& kernel) { return kernel.name == program.kernel_name; });
}

}  // namespace

void PlaceOnCall(const Module& module, const Kernel& kernel, std::vector<Finding>& findings) {
  const LocId call = PlaceOfCall(module, kernel);
  for (Finding& finding : findings) {
    if (!finding.loc.valid() && finding.text_line == kernel.text_line) finding.loc = call;
  }
}

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
  StaticReport report{.findings = InOrderOfText(legality),
                      .tallies = {{"legality", legality.blocks + legality.operations + legality.accesses},
                                  {"capacity", legality.memories}}};
  PlaceOnCall(module, kernel, report.findings);
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
