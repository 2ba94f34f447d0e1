#include "emu/agents/scratch_of_tasks.h"

#include "memory_model/sets/region.h"

namespace palladion::agents {

void ScratchOfTasks::Running(const RunningAgent& now) {
  const std::uint32_t from = clock_.task();
  if (!now.begins || !clock_.Begin(now.index)) return;
  if (clock_.begun() == 1) return Watch();
  for (Watched& watched : watched_) HandOver(watched, from, clock_.task());
}

void ScratchOfTasks::Watch() {
  for (const BufferId buffer : scratch_()) {
    std::size_t elements = clock_.returns() ? 1 : 0;
    for (const std::int64_t size : memory_.ShapeOf(buffer)) elements *= static_cast<std::size_t>(size);
    watched_.push_back({buffer, std::vector<Element>(elements)});
  }
}

void ScratchOfTasks::HandOver(Watched& watched, std::uint32_t from, std::uint32_t to) {
  for (std::size_t e = 0; e < watched.elements.size(); ++e) {
    Element& element = watched.elements[e];
    if (element.writer == from)
      element.defined = memory_.MarkOf(watched.id, ElementCount(static_cast<std::int64_t>(e))) == 0;
  }
  memory_.SetUndefined(watched.id);
  std::size_t first = 0;  // of a run of elements that are the task's own
  for (std::size_t e = 0; e <= watched.elements.size(); ++e) {
    if (e < watched.elements.size() && watched.elements[e].writer == to && watched.elements[e].defined) continue;
    if (first < e)
      memory_.SetDefined(watched.id, ElementCount(static_cast<std::int64_t>(first)),
                         ElementCount(static_cast<std::int64_t>(e)));
    first = e + 1;
  }
}

ScratchOfTasks::Watched* ScratchOfTasks::Find(BufferId buffer) {
  if (!clock_.returns()) return nullptr;
  for (Watched& watched : watched_) {
    if (watched.id == buffer) return &watched;
  }
  return nullptr;
}

void ScratchOfTasks::Box(const Who&, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                         const std::byte*) {
  Watched* const watched = kind == AccessKind::kRead ? nullptr : Find(access.buffer);
  if (watched == nullptr) return;
  memory_model::VisitElements(access, reach, memory_.ShapeOf(access.buffer), [&](std::int64_t element, std::int64_t) {
    watched->elements[static_cast<std::size_t>(element)].writer = clock_.task();
  });
}

void ScratchOfTasks::Points(const Who&, AccessKind kind, const PointAccess& access, const std::byte*) {
  Watched* const watched = kind == AccessKind::kRead ? nullptr : Find(access.buffer);
  if (watched == nullptr) return;
  const std::int64_t bytes = memory_.ElementSizeOf(access.buffer).value();
  memory_model::VisitBytes(access, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t e = first / bytes; e * bytes < last; ++e)
      watched->elements[static_cast<std::size_t>(e)].writer = clock_.task();
  });
}

}  // namespace palladion::agents
