// How each instruction of a Mosaic GPU kernel uses the units (plan.h), found before it runs, and which steps of the
// program belong to it. Based on: an observable program, whose marks (mark.h) say where an instruction's steps begin
// and end. Limits: those of a plan.
#ifndef PALLADION_EMU_TIMING_MOSAIC_GPU_KERNEL_PLANS_H_
#define PALLADION_EMU_TIMING_MOSAIC_GPU_KERNEL_PLANS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "emu/chip/layouts/bank_conflicts.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/timing/mosaic_gpu/plan.h"
#include "scheduler/virtual_clock.h"

namespace palladion::timing::mosaic_gpu {

class KernelPlans {
 public:
  static constexpr std::int32_t kNone = scheduler::VirtualClock::kNone;

  // `kernel` outlives it. Unimplemented: an operation of the kernel has no cost.
  static absl::StatusOr<KernelPlans> Of(const kernel::PreparedKernelState& kernel, const gpu::ChipCosts& costs);

  const std::vector<GpuPlan>& all() const { return plans_; }  // in the text's order
  const GpuPlan& operator[](std::int32_t plan) const { return plans_[static_cast<std::size_t>(plan)]; }
  // Of a step of the kernel's program; kNone: it is of no instruction.
  std::int32_t OfStep(const Step& step) const {
    return of_step_[static_cast<std::size_t>(&step - kernel_->program().steps.data())];
  }
  // Of a load or store of shared memory; nullptr: the banks that it accesses are not known.
  const layouts::SharedTransfer* SharedOf(const GpuPlan& plan) const {
    const auto found = shared_.find(plan.instr);
    return found == shared_.end() ? nullptr : &found->second;
  }

 private:
  explicit KernelPlans(const kernel::PreparedKernelState& kernel) : kernel_(&kernel) {}
  absl::Status PlanRegion(const Kernel& text, const Region& region, const gpu::ChipCosts& costs);

  const kernel::PreparedKernelState* kernel_;
  std::vector<GpuPlan> plans_;
  absl::flat_hash_map<const Instr*, std::int32_t> plan_of_;  // only looked up
  std::vector<std::int32_t> of_step_;
  absl::flat_hash_map<const Instr*, layouts::SharedTransfer> shared_;  // only looked up
};

}  // namespace palladion::timing::mosaic_gpu

#endif  // PALLADION_EMU_TIMING_MOSAIC_GPU_KERNEL_PLANS_H_
