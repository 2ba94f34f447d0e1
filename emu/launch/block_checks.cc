#include "emu/launch/block_checks.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>

namespace palladion::launch {

void BlockChecks::Watch(const memory_model::Memory& memory, BufferId array, Buffers buffers) {
  const absl::Span<const std::int64_t> shape = memory.ShapeOf(array);
  const bool aliased = buffers.fetched > 0;
  memory_ = &memory;
  watched_.push_back({.id = array,
                      .aliased = aliased,
                      .fetched_early = buffers.fetched > 1,
                      .flushed_late = buffers.flushed > 1,
                      .shape = {shape.begin(), shape.end()},
                      .element_size = memory.ElementSizeOf(array),
                      .data = memory.DataOf(array)});
}

const BlockChecks::Watched* BlockChecks::Find(BufferId id) const {
  for (const Watched& watched : watched_) {
    if (watched.id == id) return &watched;
  }
  return nullptr;
}

BlockChecks::OfCore& BlockChecks::Here(const Watched& watched) {
  std::vector<OfCore>& arrays = cores_.here();
  arrays.resize(watched_.size());
  return arrays[static_cast<std::size_t>(&watched - watched_.data())];
}

// Nothing has moved yet: the array still has its old bytes.
void BlockChecks::Issued(const Who& who, const AsyncRequest& request) {
  if (!who.at_once || !cores_.any()) return;
  const auto* source = std::get_if<BoxAccess>(&request.sources[0].where);
  const auto* destination = std::get_if<BoxAccess>(&request.destinations[0].where);
  if (const Watched* from = Find(source->buffer)) Fetches(*from, *source, destination->buffer);
  if (const Watched* to = Find(destination->buffer)) Flushes(*to, *destination, source->buffer);
}

void BlockChecks::Fetches(const Watched& watched, const BoxAccess& access, BufferId block) {
  memory_model::ElementBox box;
  const memory_model::BoxReach reach = memory_model::ReachOf(watched.shape, access);
  if (memory_model::ExtentOf(access, reach, &box) == memory_model::Extent::kNothing) return;
  ++copies_;
  // What an output flushed is complete when it fetches its own block again.
  if (watched.open() > 0 && Here(watched).flushes != block) CheckFetch(watched, access, reach);
}

void BlockChecks::Flushes(const Watched& watched, const BoxAccess& access, BufferId block) {
  memory_model::ElementBox box;
  const memory_model::BoxReach reach = memory_model::ReachOf(watched.shape, access);
  if (memory_model::ExtentOf(access, reach, &box) == memory_model::Extent::kNothing) return;
  ++copies_;
  Here(watched).flushes = block;
  if (watched.open() > 0) RecordFlush(watched, access, reach, memory_->DataOf(block));
  if (!watched.aliased) CheckRevisit(watched, access, box);
}

memory_model::WitnessAccess BlockChecks::AccessOf(AccessKind kind, const BoxAccess& access,
                                                  const memory_model::ElementBox& box) const {
  return {.kind = kind,
          .program = cores_.program(),
          .box = memory_model::ToString(box),
          .loc = access.site.loc,
          .text_line = access.site.text_line};
}

void BlockChecks::CheckRevisit(const Watched& watched, const BoxAccess& access, const memory_model::ElementBox& box) {
  std::int64_t element = -1;
  memory_model::ElementBox overlap;
  OfCore& core = Here(watched);
  if (!core.flushed.has_value()) core.flushed.emplace(std::max(1, static_cast<int>(watched.shape.size())));
  if (core.owners == nullptr) {
    if (core.flushed->Meets(box, &overlap)) {
      element = 0;
      for (std::size_t d = 0; d < watched.shape.size(); ++d) element = element * watched.shape[d] + overlap.low[d];
    } else if (!core.flushed->Add(box)) {
      std::int64_t elements = 1;
      for (std::int64_t size : watched.shape) elements *= size;
      core.owners = std::make_unique<memory_model::UnitOwners>(elements);
      for (std::size_t i = 0; i < core.flushed->size(); ++i) {
        memory_model::VisitRuns(core.flushed->At(i), watched.shape, [&](std::int64_t first, std::int64_t last) {
          core.owners->Overwrite(first, last, memory_model::UnitOwners::kSeveral);
        });
      }
    }
  }
  if (core.owners != nullptr) {
    memory_model::VisitRuns(box, watched.shape, [&](std::int64_t first, std::int64_t last) {
      if (element < 0) element = core.owners->FirstInherited(first, last, memory_model::UnitOwners::kFirstTask);
      core.owners->Overwrite(first, last, memory_model::UnitOwners::kSeveral);
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

void BlockChecks::RecordFlush(const Watched& watched, const BoxAccess& access, const memory_model::BoxReach& reach,
                              const std::byte* block) {
  Flush flush{.step = cores_.step()};
  memory_model::ExtentOf(access, reach, &flush.box);
  flush.access = AccessOf(AccessKind::kWrite, access, flush.box);
  const std::int64_t bytes = watched.element_size.value();
  memory_model::VisitElements(access, reach, watched.shape, [&](std::int64_t element, std::int64_t lane) {
    const std::byte* old = watched.data + element * bytes;
    if (std::memcmp(old, block + lane * bytes, static_cast<std::size_t>(bytes)) != 0) flush.changed.push_back(element);
  });
  std::sort(flush.changed.begin(), flush.changed.end());
  std::vector<Flush>& recent = Here(watched).recent;
  const std::int64_t first_open = cores_.step() + 1 - watched.open();
  recent.erase(std::remove_if(recent.begin(), recent.end(), [&](const Flush& old) { return old.step < first_open; }),
               recent.end());
  recent.push_back(std::move(flush));
}

// With two buffers the fetch for this step i + 1 started before the body of step i, and the flush of step i - 1 is
// awaited after that.
void BlockChecks::CheckFetch(const Watched& watched, const BoxAccess& access, const memory_model::BoxReach& reach) {
  memory_model::ElementBox box;
  memory_model::ExtentOf(access, reach, &box);
  std::optional<StaleFetch> found;
  for (const Flush& flush : Here(watched).recent) {
    if (flush.step + watched.open() < cores_.step()) continue;
    bool meets = true;
    for (std::size_t d = 0; d < watched.shape.size(); ++d)
      meets &= box.low[d] < flush.box.high[d] && flush.box.low[d] < box.high[d];
    if (!meets) continue;
    const bool changed = ReadsChanged(watched, access, reach, flush);
    if (found.has_value() && !changed) continue;
    found = {.buffer = watched.id,
             .changed = changed,
             .fetched_early = watched.fetched_early,
             .flushed_late = watched.flushed_late,
             .flush = flush.access,
             .fetch = AccessOf(AccessKind::kRead, access, box)};
    if (changed) break;
  }
  if (found.has_value()) AddStale(*std::move(found));
}

bool BlockChecks::ReadsChanged(const Watched& watched, const BoxAccess& access, const memory_model::BoxReach& reach,
                               const Flush& flush) const {
  bool any = false;
  memory_model::VisitElements(access, reach, watched.shape, [&](std::int64_t element, std::int64_t) {
    any = any || std::binary_search(flush.changed.begin(), flush.changed.end(), element);
  });
  return any;
}

// A fetch that found other bytes says more than all that found the same.
void BlockChecks::AddStale(StaleFetch stale) {
  for (StaleFetch& known : stale_) {
    if (known.buffer != stale.buffer || known.fetch.text_line != stale.fetch.text_line) continue;
    if (known.changed == stale.changed) ++known.count;
    if (stale.changed && !known.changed) known = std::move(stale);
    return;
  }
  stale_.push_back(std::move(stale));
}

}  // namespace palladion::launch
