// The costs of an H100 for tests.
#ifndef PALLADION_EMU_TIMING_GPU_H100_TEST_UTIL_H_
#define PALLADION_EMU_TIMING_GPU_H100_TEST_UTIL_H_

#include <gtest/gtest.h>

#include "emu/chip/machines/description.h"
#include "emu/timing/gpu/machine_costs.h"

namespace palladion::timing::gpu::test {

inline HopperCosts H100() {
  const absl::StatusOr<const machines::Machine*> machine = machines::FindMachine("h100");
  EXPECT_TRUE(machine.ok()) << machine.status();
  absl::StatusOr<HopperCosts> costs = HopperCostsOf(**machine);
  EXPECT_TRUE(costs.ok()) << costs.status();
  return *costs;
}

}  // namespace palladion::timing::gpu::test

#endif  // PALLADION_EMU_TIMING_GPU_H100_TEST_UTIL_H_
