#include "emu/launch/block_checks.h"

#include <algorithm>
#include <cstring>

namespace palladion::launch {

void BlockChecks::Watch(const memory_model::Memory& memory, BufferId array, bool aliased) {
  const absl::Span<const std::int64_t> shape = memory.ShapeOf(array);
  watched_.push_back({.id = array,
                      .aliased = aliased,
                      .shape = {shape.begin(), shape.end()},
                      .element_size = memory.ElementSizeOf(array),
                      .data = memory.DataOf(array)});
}

BlockChecks::Watched* BlockChecks::Find(BufferId id) {
  for (Watched& watched : watched_) {
    if (watched.id == id) return &watched;
  }
  return nullptr;
}

// A task may be on a core of its own: what other tasks flushed is no revisit, and the sweep's business.
void BlockChecks::Running(const RunningAgent& now) {
  running_.assign(now.index.begin(), now.index.end());
  if (!now.begins) return;
  ++step_;
  if (!clock_.Begin(now.index)) return;
  for (Watched& watched : watched_) {
    if (!tasks_return_) watched.flushed.clear();
    watched.recent.clear();
  }
}

std::vector<std::int64_t> BlockChecks::Task() const {
  std::vector<std::int64_t> task;
  for (std::size_t d = 0; d < running_.size(); ++d) {
    if (dims_[d].parallel) task.push_back(running_[d]);
  }
  return task;
}

void BlockChecks::Issued(const AsyncRequest& request, Halves halves) {
  if (halves != Halves::kHere) return;
  from_ = request.sources[0].buffer();
  to_ = request.destinations[0].buffer();
}

void BlockChecks::Box(AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                      const std::byte* value) {
  if (access.buffer != from_ && access.buffer != to_) return;
  const bool flush = kind == AccessKind::kWrite && access.buffer == to_;
  const bool fetch = kind == AccessKind::kRead && access.buffer == from_;
  const BufferId block = from_, to = to_;
  if (kind == AccessKind::kWrite) from_ = to_ = BufferId();  // the second half of the copy
  Watched* watched = Find(access.buffer);
  memory_model::ElementBox box;
  if (watched == nullptr || memory_model::ExtentOf(access, reach, &box) == memory_model::Extent::kNothing) return;
  ++copies_;
  // What an output flushed is complete when it fetches its own block again.
  const bool own = fetch && watched->flushes == to;
  if (flush) watched->flushes = block;
  if (flush && watched->aliased) RecordFlush(*watched, access, reach, value);
  if (flush && !watched->aliased) CheckRevisit(*watched, access, box);
  if (fetch && watched->aliased && !own) CheckFetch(*watched, access, reach);
}

memory_model::WitnessAccess BlockChecks::AccessOf(AccessKind kind, const BoxAccess& access,
                                                  const memory_model::ElementBox& box) const {
  const absl::Span<const std::int64_t> program = clock_.program();
  return {.kind = kind,
          .program = {program.begin(), program.end()},
          .box = memory_model::ToString(box),
          .loc = access.site.loc,
          .text_line = access.site.text_line};
}

void BlockChecks::CheckRevisit(Watched& watched, const BoxAccess& access, const memory_model::ElementBox& box) {
  std::int64_t element = -1;
  memory_model::ElementBox overlap;
  const memory_model::BoxList none(std::max(1, static_cast<int>(watched.shape.size())));
  Flushed& flushed = watched.flushed.try_emplace(Task(), Flushed{none, nullptr}).first->second;
  if (flushed.owners == nullptr) {
    if (flushed.boxes.Meets(box, &overlap)) {
      element = 0;
      for (std::size_t d = 0; d < watched.shape.size(); ++d) element = element * watched.shape[d] + overlap.low[d];
    } else if (!flushed.boxes.Add(box)) {
      std::int64_t elements = 1;
      for (std::int64_t size : watched.shape) elements *= size;
      flushed.owners = std::make_unique<memory_model::UnitOwners>(elements);
      for (std::size_t i = 0; i < flushed.boxes.size(); ++i) {
        memory_model::VisitRuns(flushed.boxes.At(i), watched.shape, [&](std::int64_t first, std::int64_t last) {
          flushed.owners->Overwrite(first, last, memory_model::UnitOwners::kSeveral);
        });
      }
    }
  }
  if (flushed.owners != nullptr) {
    memory_model::VisitRuns(box, watched.shape, [&](std::int64_t first, std::int64_t last) {
      if (element < 0) element = flushed.owners->FirstInherited(first, last, memory_model::UnitOwners::kFirstTask);
      flushed.owners->Overwrite(first, last, memory_model::UnitOwners::kSeveral);
    });
  }
  if (element < 0) return;
  for (Revisit& known : revisits_) {
    if (known.buffer != watched.id) continue;
    ++known.count;
    return;
  }
  revisits_.push_back({.buffer = watched.id,
                       .byte = ElementCount(element) * watched.element_size,
                       .again = AccessOf(AccessKind::kWrite, access, box)});
}

// Called before the bytes move, so the array still has the old ones.
void BlockChecks::RecordFlush(Watched& watched, const BoxAccess& access, const memory_model::BoxReach& reach,
                              const std::byte* value) {
  Flush flush{.step = step_};
  memory_model::ExtentOf(access, reach, &flush.box);
  flush.access = AccessOf(AccessKind::kWrite, access, flush.box);
  const std::int64_t bytes = watched.element_size.value();
  memory_model::VisitElements(access, reach, watched.shape, [&](std::int64_t element, std::int64_t lane) {
    const std::byte* old = watched.data + element * bytes;
    if (std::memcmp(old, value + lane * bytes, static_cast<std::size_t>(bytes)) != 0) flush.changed.push_back(element);
  });
  std::sort(flush.changed.begin(), flush.changed.end());
  std::vector<Flush>& recent = watched.recent;
  recent.erase(std::remove_if(recent.begin(), recent.end(), [&](const Flush& old) { return old.step + 1 < step_; }),
               recent.end());
  if (!flush.changed.empty()) recent.push_back(std::move(flush));
}

// The fetch for this step i + 1 started before the body of step i: the flushes of steps i and i - 1 are not before it.
void BlockChecks::CheckFetch(Watched& watched, const BoxAccess& access, const memory_model::BoxReach& reach) {
  memory_model::ElementBox box;
  memory_model::ExtentOf(access, reach, &box);
  for (const Flush& flush : watched.recent) {
    if (flush.step + 2 < step_) continue;
    bool meets = true;
    for (std::size_t d = 0; d < watched.shape.size(); ++d)
      meets &= box.low[d] < flush.box.high[d] && flush.box.low[d] < box.high[d];
    std::int64_t element = -1;
    if (meets) {
      memory_model::VisitElements(access, reach, watched.shape, [&](std::int64_t e, std::int64_t) {
        if (element < 0 && std::binary_search(flush.changed.begin(), flush.changed.end(), e)) element = e;
      });
    }
    if (element < 0) continue;
    for (StaleFetch& known : stale_) {
      if (known.buffer != watched.id || known.fetch.text_line != access.site.text_line) continue;
      ++known.count;
      return;
    }
    stale_.push_back({.buffer = watched.id,
                      .byte = ElementCount(element) * watched.element_size,
                      .flush = flush.access,
                      .fetch = AccessOf(AccessKind::kRead, access, box)});
    return;
  }
}

}  // namespace palladion::launch
