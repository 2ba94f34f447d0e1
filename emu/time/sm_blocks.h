// How many blocks of a kernel an SM holds at once, and what limits them: shared memory, tensor memory, lanes
// (emu/threads/residency.h), and the registers that a lane needs at least.
#ifndef PALLADION_EMU_TIME_SM_BLOCKS_H_
#define PALLADION_EMU_TIME_SM_BLOCKS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "emu/agents/prepared_kernel.h"
#include "emu/machines/description.h"
#include "emu/threads/residency.h"
#include "emu/time/gpu_costs.h"
#include "emu/time/registers.h"

namespace palladion::time {

struct SmBlocks {
  threads::Residency residency;  // as the registers limit it, too
  RegisterNeed registers;
  std::int64_t threads = 1;  // of a block, 128 lanes each
};

// Unimplemented: a grid whose size is an operand. NotFound: the machine lacks a number.
absl::StatusOr<SmBlocks> SmBlocksOf(const machines::Machine& machine, const GpuCosts& costs,
                                    const agents::PreparedKernelState& kernel);

}  // namespace palladion::time

#endif  // PALLADION_EMU_TIME_SM_BLOCKS_H_
