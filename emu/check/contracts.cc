#include "emu/check/contracts.h"

#include <algorithm>

#include "emu/check/capacity.h"
#include "emu/check/legality/call_place.h"
#include "emu/check/legality/fidelity.h"
#include "emu/check/legality/gpu/limits.h"
#include "emu/check/legality/gpu/rules.h"
#include "emu/check/legality/legality.h"
#include "emu/check/legality/shape_causes.h"
#include "emu/check/legality/sparsecore/subcore_memory.h"
#include "emu/check/legality/tpu/limits.h"
#include "emu/check/legality/tpu/refusals.h"
#include "emu/check/legality/triton/rules.h"

namespace palladion::check {
namespace {

void SortByText(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.text_line < b.text_line; });
}

std::vector<Finding> InOrderOfText(legality::Legality& legality) {
  std::vector<Finding> findings = legality.TakeFindings();
  SortByText(findings);
  return findings;
}

std::vector<Finding> RefusalsOf(const Kernel& kernel, const Target& target) {
  legality::Legality legality(kernel, target, nullptr);
  legality::CheckRefusals(legality);
  return InOrderOfText(legality);
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
  const bool subcores = target.backend == TargetBackend::kMosaicTpu && legality::IsOfVectorSubcores(kernel);
  if (!gpu && !tpu && !subcores) return {};
  legality::Legality legality(kernel, target, nullptr);
  legality.WrittenBy(producer);
  if (gpu) legality::CheckGpuLimits(legality);
  if (tpu) legality::CheckOperations(legality);
  if (tpu) legality::CheckTpu(legality);
  CheckCapacity(legality);
  legality::NameShapes(legality);
  std::vector<Finding> findings = InOrderOfText(legality);
  if (!legality.jax || subcores) return findings;
  for (Finding& finding : RefusalsOf(kernel, target)) findings.push_back(std::move(finding));
  SortByText(findings);
  return findings;
}

StaticReport StaticFindings(const Module& module, const Program& program) {
  const Kernel& kernel = KernelOf(module, program);
  legality::Legality legality(kernel, program.target, &program);
  legality.WrittenBy(module.producer);
  legality::CheckOperations(legality);
  legality::CheckTpu(legality);
  legality::CheckTriton(legality);
  legality::CheckMosaicGpu(legality);
  CheckCapacity(legality);
  legality::NameShapes(legality);
  StaticReport report{.findings = InOrderOfText(legality),
                      .tallies = {{CheckKind::kLegality, legality.blocks + legality.operations + legality.accesses},
                                  {CheckKind::kCapacity, legality.memories}}};
  legality::PlaceAtCall(module, kernel, report.findings);
  report.may_refuse = RefusalsOf(kernel, program.target);
  report.from_jax = legality.jax;
  report.fidelity = legality::FidelityOf(module, kernel, program.target, report.findings);
  legality::PlaceAtCall(module, kernel, report.may_refuse);
  return report;
}

const StaticReport& StaticReportOf(const kernel::PreparedKernelState& kernel) {
  return kernel.Kept<StaticReport>([&] { return StaticFindings(kernel.module(), kernel.program()); });
}

StaticReport KnownBefore(const kernel::PreparedKernelState& kernel, LegalityMode legality) {
  if (legality == LegalityMode::kOff) return {.findings = DirectAccessFindings(kernel), .tallies = {}};
  StaticReport report = StaticReportOf(kernel);
  const bool defects = legality == LegalityMode::kCompiler;
  if (!report.from_jax && !defects) return report;
  for (Finding& finding : report.may_refuse) {
    if (defects && finding.severity == Severity::kWarning) finding.severity = Severity::kDefect;
    report.findings.push_back(std::move(finding));
  }
  report.may_refuse.clear();
  SortByText(report.findings);
  return report;
}

std::vector<Finding> DirectAccessFindings(const Module& module, const Program& program) {
  if (program.target.backend != TargetBackend::kMosaicTpu) return {};
  legality::Legality legality(KernelOf(module, program), program.target, &program);
  legality::CheckTpuDirectAccess(legality);
  return InOrderOfText(legality);
}

std::vector<Finding> DirectAccessFindings(const kernel::PreparedKernelState& kernel) {
  struct Kept {
    std::vector<Finding> findings;
  };
  return kernel.Kept<Kept>([&] { return Kept{DirectAccessFindings(kernel.module(), kernel.program())}; }).findings;
}

}  // namespace palladion::check
