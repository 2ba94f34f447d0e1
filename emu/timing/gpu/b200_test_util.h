// The costs of a B200 for tests.
#ifndef PALLADION_EMU_TIMING_GPU_B200_TEST_UTIL_H_
#define PALLADION_EMU_TIMING_GPU_B200_TEST_UTIL_H_

#include <gtest/gtest.h>

#include "emu/chip/machines/description.h"
#include "emu/timing/gpu/machine_costs.h"

namespace palladion::timing::gpu::test {

inline BlackwellCosts B200() {
  const absl::StatusOr<const machines::Machine*> machine = machines::FindMachine("b200");
  EXPECT_TRUE(machine.ok()) << machine.status();
  absl::StatusOr<BlackwellCosts> costs = BlackwellCostsOf(**machine);
  EXPECT_TRUE(costs.ok()) << costs.status();
  return *costs;
}

}  // namespace palladion::timing::gpu::test

#endif  // PALLADION_EMU_TIMING_GPU_B200_TEST_UTIL_H_
