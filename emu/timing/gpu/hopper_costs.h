// Costs of a wgmma on the tensor cores of a Hopper SM. The numbers are in emu/chip/machines; here are the cost laws.
// Based on: published microbenchmarks of wgmma on H100 SXM, each named in h100.machine. Costs common to all families
// are in costs.h. Limits: products of several warpgroups run in the order of their requests.
#ifndef PALLADION_EMU_TIMING_GPU_HOPPER_COSTS_H_
#define PALLADION_EMU_TIMING_GPU_HOPPER_COSTS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "emu/chip/machines/amount.h"
#include "emu/timing/gpu/costs.h"
#include "semantics/base/dtype.h"

namespace palladion::timing::gpu {

struct HopperCosts : GpuCosts {
  machines::Cycles wgmma_floor, wgmma_smem_per_n, wgmma_per_n, wgmma_rs_floor, wgmma_tail;
};

// One m64nNkK instruction, K elements of 32 bytes in all.

enum class Left : std::uint8_t { kShared, kRegisters };  // where the left operand is

// From one instruction's start in the pipe to the next one's.
machines::Cycles WgmmaInterval(const HopperCosts& costs, std::int64_t n, Left left);
// From the end of the last interval until a wait for it returns.
machines::Cycles WgmmaDrain(const HopperCosts& costs);
// Of the port of shared memory, in this interval.
machines::Cycles WgmmaPort(const HopperCosts& costs, std::int64_t n, Left left);
// Instructions of a product [m, k] x [k, n]. InvalidArgument where m64nNkK does not make it up.
absl::StatusOr<std::int64_t> WgmmaInstructions(std::int64_t m, std::int64_t k, DType type);

// What one product of a warpgroup is made of.
struct Product {
  std::int64_t n = 0, instructions = 0;
  Left left = Left::kShared;
};
TensorWork WorkOf(const HopperCosts& costs, const Product& product);

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_HOPPER_COSTS_H_
