#include "emu/timing/mosaic_gpu/kernel_plans.h"

#include "absl/container/flat_hash_set.h"
#include "emu/timing/base/placed_steps.h"
#include "emu/timing/gpu/fused_products.h"
#include "semantics/base/status.h"

namespace palladion::timing::mosaic_gpu {

using gpu::ChipCosts;

absl::StatusOr<KernelPlans> KernelPlans::Of(const kernel::PreparedKernelState& kernel, const ChipCosts& costs) {
  KernelPlans plans(kernel);
  const Kernel& text = kernel.text();
  for (const auto& body : text.bodies) PALLADION_RETURN_IF_ERROR(plans.PlanRegion(text, body.region, costs));
  PALLADION_ASSIGN_OR_RETURN(plans.of_step_, base::InstructionsOfSteps(kernel.program(), plans.plan_of_));
  plans.shared_ = layouts::SharedTransfersOf(text, gpu::Common(costs).smem_banks);
  return plans;
}

absl::Status KernelPlans::PlanRegion(const Kernel& text, const Region& region, const ChipCosts& costs) {
  const absl::flat_hash_set<const Instr*> fused = gpu::FusedProducts(region);
  for (const Instr& instr : region.body) {
    PALLADION_ASSIGN_OR_RETURN(GpuPlan plan, PlanOf(kernel_->module(), text, instr, costs));
    if (fused.contains(&instr)) plan = {.instr = plan.instr, .flops = plan.flops};
    plan_of_[&instr] = static_cast<std::int32_t>(plans_.size());
    plans_.push_back(plan);
    for (const Region& inner : instr.regions) PALLADION_RETURN_IF_ERROR(PlanRegion(text, inner, costs));
  }
  return absl::OkStatus();
}

}  // namespace palladion::timing::mosaic_gpu
