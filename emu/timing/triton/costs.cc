#include "emu/timing/triton/costs.h"

#include "semantics/base/status.h"

namespace palladion::timing::triton {
namespace {

using machines::Bytes;
using machines::Cycles;
using machines::FlopsPerCycle;
using machines::Key;
using machines::Nanoseconds;

// mma_sync.interval is not published for every chip: then the rate alone limits a warp.
absl::StatusOr<MmaSyncCosts> MmaSyncCostsOf(const machines::Machine& machine) {
  MmaSyncCosts costs;
  PALLADION_ASSIGN_OR_RETURN(costs.rate16, machine.Get(Key<FlopsPerCycle>("tensor.mma_sync")));
  PALLADION_ASSIGN_OR_RETURN(costs.tensor16, machine.Get(Key<FlopsPerCycle>("tensor.bf16")));
  PALLADION_ASSIGN_OR_RETURN(costs.tensor_tf32, machine.Get(Key<FlopsPerCycle>("tensor.tf32")));
  PALLADION_ASSIGN_OR_RETURN(costs.tensor_fp8, machine.Get(Key<FlopsPerCycle>("tensor.fp8")));
  PALLADION_ASSIGN_OR_RETURN(costs.tensor_int8, machine.Get(Key<FlopsPerCycle>("tensor.int8")));
  PALLADION_ASSIGN_OR_RETURN(costs.latency, machine.Get(Key<Cycles>("mma_sync.latency")));
  costs.interval = machine.Find(Key<Cycles>("mma_sync.interval")).value_or(Cycles());
  return costs;
}

}  // namespace

absl::StatusOr<TritonCosts> TritonCostsOf(const machines::Machine& machine) {
  PALLADION_ASSIGN_OR_RETURN(const gpu::ChipCosts chip, gpu::CostsOf(machine));
  TritonCosts costs;
  costs.common = gpu::Common(chip);
  if (const auto* hopper = std::get_if<gpu::HopperCosts>(&chip)) costs.hopper = *hopper;
  PALLADION_ASSIGN_OR_RETURN(costs.mma, MmaSyncCostsOf(machine));
  PALLADION_ASSIGN_OR_RETURN(costs.l1_size, machine.Get(Key<Bytes>("l1.size")));
  PALLADION_ASSIGN_OR_RETURN(costs.l1_latency, machine.Get(Key<Cycles>("l1.latency")));
  PALLADION_ASSIGN_OR_RETURN(costs.shared_of_block, machine.Get(Key<Bytes>("smem.of_block")));
  PALLADION_ASSIGN_OR_RETURN(const Nanoseconds atomic, machine.Get(Key<Nanoseconds>("l2.atomic")));
  costs.atomic = atomic * costs.common.clock;
  return costs;
}

}  // namespace palladion::timing::triton
