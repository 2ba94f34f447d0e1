// The cost of an instruction of a Mosaic GPU kernel, as far as its text determines it: which unit of the SM it uses,
// and for how long. Based on: the facts that the registry has of its operation, its types, and the laws of its chip
// (emu/timing/gpu/machine_costs.h). An operation is one instruction for each element that a lane holds (a division
// several), and one that others depend on: its latency counts once. A product that is fused with a sum costs nothing
// itself (emu/timing/gpu/fused_products.h). Limits: other compiler optimisations (packed arithmetic, conversions of
// layouts); moves between registers are free.
#ifndef PALLADION_EMU_TIMING_MOSAIC_GPU_PLAN_H_
#define PALLADION_EMU_TIMING_MOSAIC_GPU_PLAN_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "emu/timing/gpu/chip.h"
#include "emu/timing/gpu/machine_costs.h"
#include "semantics/ir/module.h"

namespace palladion::timing::mosaic_gpu {

enum class GpuWork : std::uint8_t {
  kNothing,     // a view, a name, a hint to the compiler
  kRegisters,   // arithmetic, by every lane of the thread
  kAccess,      // loads and stores by the thread
  kCopyIn,      // the copy engine, to shared memory
  kCopyOut,     // the same, to global memory
  kProduct,     // the tensor cores
  kTensorCopy,  // the same, from shared to tensor memory
  kTensorRoom,  // a scope with tensor memory
  kPeerStore,   // registers into another block's shared memory
  kArrive,      // at a barrier
  kSignal,      // a semaphore
  kAwaitBarrier,
  kAwaitSemaphore,
  kAwaitEngine,  // groups of its own copies or products
  kMeet,         // the threads of the block
  kFence,
  kControl,  // a branch, an iteration, an instruction that changes a state of the SM
};

struct GpuPlan {
  const Instr* instr = nullptr;
  GpuWork work = GpuWork::kNothing;
  gpu::Burst by_thread, by_warp;          // kRegisters: by the four warps of a thread, and by one that it has forked
  gpu::Burst then_thread, then_warp;      // and after these: what reductions shuffle
  Space space = Space::kDefault;          // kAccess: of the memory
  bool stores = false;                    // kAccess: no thread waits for it
  bool atomic = false;                    // kAccess
  bool everywhere = false;                // kAccess: of the same place of every device
  gpu::TensorWork tensor;                 // kProduct, kTensorCopy
  bool pair = false;                      // the same: by the SMs of two blocks
  gpu::Burst tensor_thread, tensor_warp;  // kAccess of tensor memory: as by_thread, by_warp
  std::int64_t landing_bytes = 0;  // copies: of a row of the tiles in shared memory; 0: of as many as the row has
  double flops = 0;                // of one execution by the whole thread
  bool moves = false;              // values between registers or lanes: counted as free
};

// Unimplemented, with the line: an operation without a cost.
absl::StatusOr<GpuPlan> PlanOf(const Module& module, const Kernel& kernel, const Instr& instr,
                               const gpu::ChipCosts& costs);

}  // namespace palladion::timing::mosaic_gpu

#endif  // PALLADION_EMU_TIMING_MOSAIC_GPU_PLAN_H_
