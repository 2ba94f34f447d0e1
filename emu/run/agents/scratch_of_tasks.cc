#include "emu/run/agents/scratch_of_tasks.h"

namespace palladion::agents {

void ScratchOfTasks::Running(const RunningAgent& now) {
  const std::uint32_t from = clock_.task();
  if (!now.begins || !clock_.Begin(now.index)) return;
  if (clock_.begun() == 1) return Watch();
  for (Watched& watched : watched_) HandOver(watched, from, clock_.task());
}

void ScratchOfTasks::Watch() {
  for (const BufferId buffer : scratch_()) {
    std::int64_t elements = 1;
    for (const std::int64_t size : memory_.ShapeOf(buffer)) elements *= size;
    watched_.push_back({.id = buffer, .elements = elements, .defined = {}});
  }
}

// What is defined when a task is left is its own: all else was made undefined when it began, or went on.
void ScratchOfTasks::HandOver(Watched& watched, std::uint32_t from, std::uint32_t to) {
  if (clock_.returns()) watched.defined[from] = DefinedIn(watched);
  memory_.SetUndefined(watched.id);
  const auto own = watched.defined.find(to);
  if (own == watched.defined.end()) return;
  for (const auto& [first, last] : own->second) memory_.SetDefined(watched.id, ElementCount(first), ElementCount(last));
}

ScratchOfTasks::Runs ScratchOfTasks::DefinedIn(const Watched& watched) const {
  Runs runs;
  std::int64_t first = 0;
  for (std::int64_t e = 0; e <= watched.elements; ++e) {
    if (e < watched.elements && memory_.MarkOf(watched.id, ElementCount(e)) == 0) continue;
    if (first < e) runs.emplace_back(first, e);
    first = e + 1;
  }
  return runs;
}

}  // namespace palladion::agents
