#include "emu/run/agents/host_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "semantics/base/cat.h"

namespace palladion::agents {
namespace {

// The limit of a control group's file, version 2 and then 1; "max", or no such file, is no limit.
std::size_t GroupLimit() {
  std::size_t limit = std::numeric_limits<std::size_t>::max();
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    std::size_t bytes = 0;
    if (file >> bytes) limit = std::min(limit, bytes);
  }
  return limit;
}

}  // namespace

std::size_t HostMemoryLimit() {
  static const std::size_t limit = [] {
    const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
    std::size_t bytes = GroupLimit();
    if (pages > 0 && page > 0)
      bytes = std::min(bytes, static_cast<std::size_t>(pages) * static_cast<std::size_t>(page));
    return bytes / 8 * 7;
  }();
  return limit;
}

std::size_t MemoryLimitOf(const RunOptions& options) {
  return options.memory_limit == 0 ? HostMemoryLimit() : options.memory_limit;
}

std::size_t MemoryNeeded(const kernel::PreparedKernelState& kernel) {
  const Program& program = kernel.program();
  std::size_t bytes = program.arena_bytes + program.scratch_bytes;  // at most 2^22 values of 2^40 bytes
  for (const OperandInfo& info : program.operand_infos)
    bytes += ByteSize(info.type) * static_cast<std::size_t>(program.devices);
  return bytes;
}

absl::Status CheckMemory(const kernel::PreparedKernelState& kernel, std::size_t limit) {
  const std::size_t needed = MemoryNeeded(kernel);
  if (needed <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      Cat("kernel @", kernel.program().kernel_name, " needs ", needed, " bytes for its operands (",
          needed - kernel.program().arena_bytes - kernel.program().scratch_bytes, ") and its values (",
          kernel.program().arena_bytes + kernel.program().scratch_bytes, "); the limit is ", limit,
          "; use smaller shapes or a larger host"));
}

}  // namespace palladion::agents
