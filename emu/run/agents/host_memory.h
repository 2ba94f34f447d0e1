// How much memory a run may ask for. A request that the host cannot hold must be an error with a message, not a process
// that the kernel of the operating system ends: Linux overcommits memory and kills the process that touches it.
#ifndef PALLADION_EMU_RUN_AGENTS_HOST_MEMORY_H_
#define PALLADION_EMU_RUN_AGENTS_HOST_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "emu/kernel/prepared_kernel.h"

namespace palladion::agents {

// 7/8 of the host's memory, or of the control group's where that is less, in bytes; read once. It does not see what
// other processes hold.
std::size_t HostMemoryLimit();
// That, unless the options say otherwise.
std::size_t MemoryLimitOf(const RunOptions& options);

// Bytes of the kernel's operands, its scratch operands and the values of its program; run_scoped comes on top.
std::uint64_t MemoryNeeded(const kernel::PreparedKernelState& kernel);

// ResourceExhausted when that is more than `limit`.
absl::Status CheckMemory(const kernel::PreparedKernelState& kernel, std::size_t limit);

}  // namespace palladion::agents

#endif  // PALLADION_EMU_RUN_AGENTS_HOST_MEMORY_H_
