#include "emu/tools/fit/fit.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "emu/check/contracts.h"
#include "emu/check/legality/call_place.h"
#include "emu/check/legality/sparsecore/subcore_memory.h"
#include "emu/check/legality/tpu/block_copies.h"
#include "emu/check/legality/tpu/vmem_capacity.h"
#include "emu/kernel/float_environment.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/launch/launch.h"
#include "emu/tools/fit/fit_gpu.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/parser.h"
#include "semantics/prepare/prepare.h"

namespace palladion::fit {
namespace {

std::vector<Row> RowsOf(const std::vector<legality::VmemPart>& parts) {
  std::vector<Row> rows;
  for (const legality::VmemPart& part : parts)
    rows.push_back({.kind = std::string(Name(part.kind)),
                    .name = part.name,
                    .array = part.array,
                    .buffers = part.buffers,
                    .one = part.one,
                    .unpadded = part.unpadded,
                    .why = std::string(part.why)});
  return rows;
}

std::int64_t Sum(const std::vector<Row>& rows) {
  std::int64_t sum = 0;
  for (const Row& row : rows) sum += row.amount();
  return sum;
}

Memory VmemTable(const legality::VmemUse& use, const machines::Chip& chip, const Module& module) {
  Memory vmem{.name = "vmem",
              .rows = RowsOf(use.parts),
              .held = use.exact(),
              .estimate = use.estimate(),
              .most = use.most(),
              .limit = {VmemLimitText(use, chip), use.exceeds_total() ? use.limit.total : use.limit.scoped},
              .verdict = use.verdict()};
  for (const legality::SpillEstimate& one : use.estimates)
    vmem.estimates.push_back(
        {one.what, one.bytes, one.text_line == 0 ? "" : PlaceText(module, one.loc, one.text_line)});
  const std::string core = Cat("what kernels may have of the ", legality::BytesText(use.limit.core), " of a core");
  if (use.exceeds_total() && !use.limit.requested.has_value())
    vmem.others.push_back({"what one kernel may have without vmem_limit_bytes", use.limit.scoped});
  if (!use.exceeds_total()) vmem.others.push_back({core, use.limit.total});
  if (use.limit.requested.has_value()) {
    vmem.others.push_back(
        {Cat("what vmem_limit_bytes asks for", use.limit.clamped() ? ", which the compiler lowers with a warning" : ""),
         *use.limit.requested});
    vmem.others.push_back({"what one kernel may have without vmem_limit_bytes", chip.vmem_scoped});
  }
  return vmem;
}

// What is held for certain is without padding; a layout in tiles is known from one message of the compiler.
Memory SmemTable(const legality::Legality& legality) {
  const machines::Chip& chip = *legality.chip();
  Memory smem{.name = "smem",
              .rows = RowsOf(SmemOf(legality)),
              .limit = {Cat("that of a core of ", chip.name), chip.smem_bytes}};
  std::int64_t dense = 0;
  for (const Row& row : smem.rows) dense += row.buffers * row.unpadded;
  smem.held = smem.most = Sum(smem.rows);
  if (smem.held > smem.limit.amount)
    smem.verdict = dense > smem.limit.amount ? Verdict::kDoesNotFit : Verdict::kMayNotFit;
  return smem;
}

KernelFit FitOfTpu(const legality::Legality& legality, const Module& module) {
  const machines::Chip& chip = *legality.chip();
  const legality::VmemUse use = VmemOf(legality);
  KernelFit fit;
  fit.memories.push_back(VmemTable(use, chip, module));
  Memory smem = SmemTable(legality);
  if (!smem.rows.empty()) fit.memories.push_back(std::move(smem));
  fit.programs = legality::ProgramsOf(legality.kernel());
  fit.copied = legality::BlockBytesCopied(legality);
  fit.blocks = LargestBlocks(legality, use);
  if (use.verdict() != Verdict::kFits) fit.advice = VmemFix(legality, use, *fit.blocks);
  return fit;
}

absl::StatusOr<KernelFit> FitOfSubcore(const legality::Legality& legality) {
  const std::string_view chip = legality.chip()->name;
  const std::int64_t size = legality.chip()->vmem_subcore;
  if (size == 0)
    return absl::InvalidArgumentError(
        Cat("kernel @", legality.kernel().name, " runs on SparseCores, which ", chip, " does not have"));
  Memory vmem{.name = "vmem of a subcore",
              .rows = RowsOf(SubcoreVmemOf(legality)),
              .limit = {Cat("that of a vector subcore of ", chip, ", which a kernel may not fill"), size}};
  vmem.held = vmem.most = Sum(vmem.rows);
  if (vmem.held >= size) vmem.verdict = Verdict::kDoesNotFit;
  KernelFit fit;
  fit.memories.push_back(std::move(vmem));
  fit.not_counted = {"padding to tiles, and what the compiler adds: kernels leave 5 to 20 % free",
                     "smem of a subcore, whose size is not published, and semaphores"};
  return fit;
}

std::vector<Refusal> RefusalsOf(const Module& module, const Kernel& kernel, std::vector<Finding> findings) {
  legality::PlaceAtCall(module, kernel, findings);
  std::vector<Refusal> refusals;
  for (const Finding& finding : findings) {
    const bool may = finding.code == FindingCode::kCompiler && finding.severity != Severity::kNote;
    if (may || finding.code == FindingCode::kIllegal)
      refusals.push_back(
          {std::string(Code(finding.code)), PlaceText(module, finding.loc, finding.text_line), finding.message});
  }
  return refusals;
}

absl::StatusOr<KernelFit> FitOfOne(const Module& module, const Kernel& kernel, std::string_view text,
                                   const PrepareOptions& options) {
  PALLADION_ASSIGN_OR_RETURN(const Target target, TargetOf(kernel, options.target));
  const legality::Legality legality(kernel, target, nullptr);
  if (legality.chip() == nullptr)
    return absl::InvalidArgumentError(Cat("kernel @", kernel.name, ": its target is ", ToString(target),
                                          ", which is no chip; say which one: --target v6e, or target=\"v6e\""));
  const bool is_tpu = target.backend == TargetBackend::kMosaicTpu;
  const std::string& mesh = kernel.launch.mesh;
  const bool subcores = is_tpu && legality::IsOfVectorSubcores(kernel);
  if (kernel.bodies.size() != 1 || (is_tpu && !subcores && !mesh.empty() && mesh != "tensorcore"))
    return absl::UnimplementedError(
        Cat("kernel @", kernel.name, " runs on ",
            kernel.bodies.size() != 1 ? "cores of several kinds" : "scalar subcores of SparseCores",
            ", which is not counted: fit is for TensorCores, vector subcores of SparseCores, and GPUs"));
  KernelFit fit;
  if (subcores) {
    PALLADION_ASSIGN_OR_RETURN(fit, FitOfSubcore(legality));
  } else if (is_tpu) {
    fit = FitOfTpu(legality, module);
    fit.refusals = RefusalsOf(module, kernel, check::StaticFindingsOfParsed(kernel, target, module.producer));
  } else {
    PrepareOptions one = options;
    one.kernel = kernel.name;
    PALLADION_ASSIGN_OR_RETURN(const PreparedKernel prepared, PrepareText(text, one));
    PALLADION_ASSIGN_OR_RETURN(fit, FitOfGpu(prepared.state()));
    fit.refusals = RefusalsOf(module, kernel, check::StaticFindings(prepared.state()));
  }
  fit.kernel = kernel.name;
  fit.target = ToString(target);
  fit.frames = launch::FramesOf(module, legality::CallPlace(module, kernel));
  return fit;
}

}  // namespace

std::string_view Name(Unit unit) {
  constexpr std::string_view kNames[] = {"bytes", "columns", "registers"};
  return kNames[static_cast<std::size_t>(unit)];
}

Verdict KernelFit::verdict() const {
  Verdict worst = Verdict::kFits;
  for (const Memory& memory : memories) worst = std::max(worst, memory.verdict);
  return worst;
}

absl::StatusOr<std::vector<KernelFit>> FitOf(std::string_view text, const PrepareOptions& options) {
  const kernel::FloatEnvironment environment;
  PALLADION_ASSIGN_OR_RETURN(const Module module, Parse(text, options.path.empty() ? "<text>" : options.path));
  std::vector<KernelFit> fits;
  for (const Kernel& kernel : module.kernels) {
    if (!options.kernel.empty() && kernel.name != options.kernel && "@" + kernel.name != options.kernel) continue;
    PALLADION_ASSIGN_OR_RETURN(KernelFit fit, FitOfOne(module, kernel, text, options));
    fits.push_back(std::move(fit));
  }
  if (!fits.empty()) return fits;
  const std::string names = absl::StrJoin(
      module.kernels, ", ", [](std::string* out, const Kernel& kernel) { Append(out, "@", kernel.name); });
  return absl::InvalidArgumentError(Cat("no kernel '", options.kernel, "' in the text; it has: ", names));
}

}  // namespace palladion::fit
