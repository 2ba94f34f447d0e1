#include "emu/threads/thread_accesses.h"

#include "memory_model/sets/access_set.h"

namespace palladion::threads {

void ThreadAccesses::Box(AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                         const std::byte*) {
  if (reach.empty || reach.none_copied || !Judges(access.buffer)) return;
  ++accesses_;
  const memory_model::AccessSet set =
      memory_model::SetOf(memory_.ShapeOf(access.buffer), memory_.ElementSizeOf(access.buffer), access, reach);
  machine_.model().Touch(machine_.current(), access.buffer, kind, set, CodeSite::Of(access.site));
}

void ThreadAccesses::Points(AccessKind kind, const PointAccess& access, const std::byte*) {
  if (!Judges(access.buffer)) return;
  ++accesses_;
  machine_.model().Touch(machine_.current(), access.buffer, kind, memory_model::SetOf(access),
                         CodeSite::Of(access.site));
}

std::function<std::uint32_t()> WriterNow(const ThreadMachine& machine) {
  constexpr std::uint32_t kEngines = std::uint32_t{1} << 31;
  return [&machine, engine_writes = std::uint32_t{0}]() mutable {
    if (machine.operations().performing()) return kEngines + engine_writes++;
    return static_cast<std::uint32_t>(machine.current().value) + 1;
  };
}

}  // namespace palladion::threads
