#include "emu/run/launch/block_checks.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace palladion::launch {

void BlockChecks::Watch(const memory_model::Memory& memory, BufferId array) {
  const absl::Span<const std::int64_t> shape = memory.ShapeOf(array);
  watched_.push_back({.id = array, .shape = {shape.begin(), shape.end()}, .element_size = memory.ElementSizeOf(array)});
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

void BlockChecks::Issued(const Who& who, const AsyncRequest& request) {
  if (!(who.at_once || request.block != nullptr) || !cores_.any()) return;
  const auto* const flush = std::get_if<BoxAccess>(&request.destinations[0].where);
  const Watched* const watched = Find(flush->buffer);
  if (watched == nullptr) return;
  memory_model::ElementBox box;
  const memory_model::BoxReach reach = memory_model::ReachOf(watched->shape, *flush);
  if (memory_model::ExtentOf(*flush, reach, &box) == memory_model::Extent::kNothing) return;
  ++copies_;
  CheckRevisit(*watched, *flush, box);
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
                       .again = {.kind = AccessKind::kWrite,
                                 .program = cores_.program(),
                                 .box = memory_model::ToString(box),
                                 .loc = access.site.loc,
                                 .text_line = access.site.text_line}});
}

}  // namespace palladion::launch
