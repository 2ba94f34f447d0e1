// The costs of a chip that a block of a Triton kernel has beside those that all kernels on GPUs share: L1, the
// rate of mma.sync, atomics, room for blocks. The numbers are in emu/chip/machines. Limits: of chips on which Triton
// multiplies with wgmma or mma.sync; a Blackwell's products, which use tensor memory, have no cost.
#ifndef PALLADION_EMU_TIMING_TRITON_COSTS_H_
#define PALLADION_EMU_TIMING_TRITON_COSTS_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "emu/chip/machines/description.h"
#include "emu/timing/gpu/machine_costs.h"

namespace palladion::timing::triton {

// mma.sync: of one SM, each type at its share of what it reaches in bf16.
struct MmaSyncCosts {
  machines::FlopsPerCycle rate16, tensor16, tensor_tf32, tensor_fp8, tensor_int8;
  machines::Cycles latency, interval;  // of m16n8k16; between those of one warp
};

struct TritonCosts {
  gpu::GpuCosts common;
  std::optional<gpu::HopperCosts> hopper;  // nothing: no wgmma
  MmaSyncCosts mma;
  machines::Bytes l1_size, shared_of_block;
  machines::Cycles l1_latency;
  machines::Cycles atomic;  // between two on one address
};

// InvalidArgument: it is no GPU. NotFound: it lacks a number, which the error names.
absl::StatusOr<TritonCosts> TritonCostsOf(const machines::Machine& machine);

}  // namespace palladion::timing::triton

#endif  // PALLADION_EMU_TIMING_TRITON_COSTS_H_
