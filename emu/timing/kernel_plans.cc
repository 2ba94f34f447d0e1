#include "emu/timing/kernel_plans.h"

#include "absl/container/flat_hash_set.h"
#include "emu/timing/fused_products.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/mark.h"

namespace palladion::timing {

absl::StatusOr<KernelPlans> KernelPlans::Of(const kernel::PreparedKernelState& kernel, const ChipCosts& costs) {
  KernelPlans plans(kernel);
  const Kernel& text = kernel.text();
  for (const auto& body : text.bodies) PALLADION_RETURN_IF_ERROR(plans.PlanRegion(text, body.region, costs));
  PALLADION_RETURN_IF_ERROR(plans.PlaceSteps());
  plans.shared_ = layouts::SharedTransfersOf(text, Common(costs).smem_banks);
  return plans;
}

absl::Status KernelPlans::PlanRegion(const Kernel& text, const Region& region, const ChipCosts& costs) {
  const absl::flat_hash_set<const Instr*> fused = FusedProducts(region);
  for (const Instr& instr : region.body) {
    PALLADION_ASSIGN_OR_RETURN(GpuPlan plan, PlanOf(kernel_->module(), text, instr, costs));
    if (fused.contains(&instr)) plan = {.instr = plan.instr, .flops = plan.flops};
    plan_of_[&instr] = static_cast<std::int32_t>(plans_.size());
    plans_.push_back(plan);
    for (const Region& inner : instr.regions) PALLADION_RETURN_IF_ERROR(PlanRegion(text, inner, costs));
  }
  return absl::OkStatus();
}

// Steps stand in the text's order, between the marks of their instruction.
absl::Status KernelPlans::PlaceSteps() {
  std::vector<std::int32_t> around = {kNone};
  for (const Step& step : kernel_->program().steps) {
    const Mark* const mark = MarkOf(step);
    const bool of_instr = mark != nullptr && mark->instr != nullptr;
    if (of_instr && !plan_of_.contains(mark->instr))
      return absl::InternalError(Cat("a step of line ", mark->instr->text_line, " is of no instruction of the kernel"));
    if (of_instr && mark->kind == Mark::Kind::kBegin) around.push_back(plan_of_.at(mark->instr));
    of_step_.push_back(of_instr ? plan_of_.at(mark->instr) : around.back());
    if (of_instr && mark->kind == Mark::Kind::kFinish) around.pop_back();
  }
  if (around.size() == 1) return absl::OkStatus();
  return absl::InternalError("the marks of an observable program do not come in pairs; please report this kernel");
}

}  // namespace palladion::timing
