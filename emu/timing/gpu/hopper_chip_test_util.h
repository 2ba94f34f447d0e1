// For tests: the resources of a Hopper chip, those of every GPU (chip.h) and its tensor cores' law.
#ifndef PALLADION_EMU_TIMING_GPU_HOPPER_CHIP_TEST_UTIL_H_
#define PALLADION_EMU_TIMING_GPU_HOPPER_CHIP_TEST_UTIL_H_

#include <cstdint>

#include "emu/timing/gpu/chip.h"
#include "emu/timing/gpu/hopper_costs.h"

namespace palladion::timing::gpu {

class HopperChip : public GpuChip {
 public:
  explicit HopperChip(const HopperCosts& costs) : GpuChip(costs), costs_(costs) {}

  using GpuChip::Multiply;
  scheduler::Ticks Multiply(std::int64_t sm, scheduler::Ticks at, const Product& product) {
    return Multiply({&sm, 1}, at, WorkOf(costs_, product));
  }

 private:
  const HopperCosts costs_;
};

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_HOPPER_CHIP_TEST_UTIL_H_
