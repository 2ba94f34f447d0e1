// How many blocks of a kernel an SM holds at once, and what limits them: shared memory, tensor memory, lanes
// (emu/run/threads/residency.h), and the lower bound of a lane's registers.
#ifndef PALLADION_EMU_TIMING_GPU_SM_BLOCKS_H_
#define PALLADION_EMU_TIMING_GPU_SM_BLOCKS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "emu/chip/machines/description.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/threads/residency.h"
#include "emu/timing/gpu/costs.h"
#include "emu/timing/gpu/registers.h"

namespace palladion::timing::gpu {

struct SmBlocks {
  threads::Residency residency;  // as the registers limit it, too
  RegisterNeed registers;
  std::int64_t threads = 1;  // of a block, 128 lanes each
};

// Unimplemented: a grid whose size is an operand. NotFound: the machine lacks a number.
absl::StatusOr<SmBlocks> SmBlocksOf(const machines::Machine& machine, const GpuCosts& costs,
                                    const kernel::PreparedKernelState& kernel);

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_SM_BLOCKS_H_
