#include "emu/fit/fit.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "emu/agents/float_environment.h"
#include "emu/fit/fit_gpu.h"
#include "emu/launch/launch.h"
#include "emu/legality/call_place.h"
#include "emu/legality/capacity.h"
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
              .limit = {VmemLimitText(use, chip), use.exceeds_total() ? use.limit.total : use.limit.scoped},
              .verdict = use.verdict()};
  for (const legality::SpillEstimate& one : use.estimates)
    vmem.estimates.push_back(
        {one.what, one.bytes, one.text_line == 0 ? "" : PlaceText(module, one.loc, one.text_line)});
  const std::string core = Cat("what kernels may have of the ", legality::BytesText(use.limit.core), " of a core");
  if (use.exceeds_total() && !use.limit.asked.has_value())
    vmem.others.push_back({"what one kernel may have without vmem_limit_bytes", use.limit.scoped});
  if (!use.exceeds_total()) vmem.others.push_back({core, use.limit.total});
  if (use.limit.asked.has_value()) {
    vmem.others.push_back(
        {Cat("what vmem_limit_bytes asks for", use.limit.clamped() ? ", which the compiler lowers with a warning" : ""),
         *use.limit.asked});
    vmem.others.push_back({"what one kernel may have without vmem_limit_bytes", chip.vmem_scoped});
  }
  return vmem;
}

KernelFit FitOfTpu(const legality::Legality& legality, const Module& module) {
  const machines::Chip& chip = *legality.chip();
  const legality::VmemUse use = VmemOf(legality);
  KernelFit fit;
  fit.memories.push_back(VmemTable(use, chip, module));
  Memory smem{.name = "smem",
              .rows = RowsOf(SmemOf(legality)),
              .limit = {Cat("that of a core of ", chip.name), chip.smem_bytes}};
  smem.held = Sum(smem.rows);
  if (smem.held > smem.limit.amount) smem.verdict = Verdict::kDoesNotFit;
  if (!smem.rows.empty()) fit.memories.push_back(std::move(smem));
  fit.blocks = LargestBlocks(legality, use);
  if (use.verdict() != Verdict::kFits) fit.advice = VmemFix(legality, use, *fit.blocks);
  return fit;
}

absl::StatusOr<KernelFit> FitOfOne(const Module& module, const Kernel& kernel, std::string_view text,
                                   const PrepareOptions& options) {
  PALLADION_ASSIGN_OR_RETURN(const Target target, TargetOf(kernel, options.target));
  const legality::Legality legality(kernel, target, nullptr);
  if (legality.chip() == nullptr)
    return absl::InvalidArgumentError(Cat("kernel @", kernel.name, ": its target is ", ToString(target),
                                          ", which is no chip; say which one: --target v6e, or target=\"v6e\""));
  const std::string& mesh = kernel.launch.mesh;
  const bool is_sparse = target.backend == TargetBackend::kMosaicTpu && !mesh.empty() && mesh != "tensorcore";
  if (kernel.bodies.size() != 1 || is_sparse)
    return absl::UnimplementedError(Cat("kernel @", kernel.name,
                                        " runs on cores of several kinds or on SparseCores, "
                                        "whose memories are not counted: fit is for TensorCores and GPUs"));
  KernelFit fit;
  if (target.backend == TargetBackend::kMosaicTpu) {
    fit = FitOfTpu(legality, module);
  } else if (target.backend == TargetBackend::kMosaicGpu) {
    PrepareOptions one = options;
    one.kernel = kernel.name;
    PALLADION_ASSIGN_OR_RETURN(fit, FitOfGpu(text, one));
  } else {
    return absl::UnimplementedError(Cat("kernel @", kernel.name, ": what a kernel holds on ", ToString(target),
                                        " is decided by its compiler, and is not known here: fit is for mosaic_tpu and "
                                        "mosaic_gpu"));
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
  const agents::FloatEnvironment environment;
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
