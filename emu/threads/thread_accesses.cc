#include "emu/threads/thread_accesses.h"

#include "memory_model/sets/access_set.h"

namespace palladion::threads {

void ThreadAccesses::Box(AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                         const std::byte*) {
  const bool nothing = machine_.operations().performing() || reach.empty || reach.none_copied;
  if (nothing || !machine_.model().Tracks(access.buffer)) return;
  ++accesses_;
  const memory_model::AccessSet set = memory_model::SetOf(
      memory_.ShapeOf(access.buffer), static_cast<std::int64_t>(memory_.ElementBytesOf(access.buffer)), access, reach);
  machine_.model().Touch(machine_.current(), access.buffer, kind, set, CodeSite::Of(access.site));
}

void ThreadAccesses::Points(AccessKind kind, const PointAccess& access, const std::byte*) {
  if (machine_.operations().performing() || !machine_.model().Tracks(access.buffer)) return;
  ++accesses_;
  machine_.model().Touch(machine_.current(), access.buffer, kind, memory_model::SetOf(access),
                         CodeSite::Of(access.site));
}

}  // namespace palladion::threads
