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

std::uint64_t BytesOf(const Type& type) {
  return static_cast<std::uint64_t>(NumElements(type.shape)) * BytesPerElement(type);
}

// Where std::size_t has 32 bits (WebAssembly), the program's own sums may have wrapped: then what its values take one
// after another is what it needs.
std::uint64_t ValueBytes(const Program& program) {
  const std::size_t bytes = program.arena_bytes + program.scratch_bytes;  // at most 2^22 values of 2^40 bytes
  if constexpr (sizeof(std::size_t) < sizeof(std::uint64_t)) {
    std::uint64_t apart = 0;
    for (const SlotInfo& slot : program.slots) apart += slot.bytes;
    if (apart > std::numeric_limits<std::size_t>::max()) return apart;
  }
  return bytes;
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

std::uint64_t MemoryNeeded(const kernel::PreparedKernelState& kernel) {
  const Program& program = kernel.program();
  std::uint64_t bytes = ValueBytes(program);
  for (const OperandInfo& info : program.operand_infos)
    bytes += BytesOf(info.type) * static_cast<std::uint64_t>(program.devices);
  return bytes;
}

absl::Status CheckMemory(const kernel::PreparedKernelState& kernel, std::size_t limit) {
  const std::uint64_t needed = MemoryNeeded(kernel), values = ValueBytes(kernel.program());
  if (needed <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(Cat("kernel @", kernel.program().kernel_name, " needs ", needed,
                                          " bytes for its operands (", needed - values, ") and its values (", values,
                                          "); the limit is ", limit, "; use smaller shapes or a larger host"));
}

}  // namespace palladion::agents
