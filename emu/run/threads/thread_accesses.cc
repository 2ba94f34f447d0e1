#include "emu/run/threads/thread_accesses.h"

#include "memory_model/sets/access_set.h"

namespace palladion::threads {

void ThreadAccesses::Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                         const std::byte*) {
  if (reach.empty || reach.none_copied || !Judges(who, access.buffer)) return;
  ++accesses_;
  const memory_model::AccessSet set =
      memory_model::SetOf(memory_.ShapeOf(access.buffer), memory_.ElementSizeOf(access.buffer), access, reach);
  machine_.model().Touch(who.agent, access.buffer, kind, set, CodeSite::Of(access.site));
}

void ThreadAccesses::Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte*) {
  if (!Judges(who, access.buffer)) return;
  ++accesses_;
  machine_.model().Touch(who.agent, access.buffer, kind, memory_model::SetOf(access), CodeSite::Of(access.site));
}

}  // namespace palladion::threads
