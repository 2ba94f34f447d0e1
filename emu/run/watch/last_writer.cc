#include "emu/run/watch/last_writer.h"

#include "memory_model/sets/region.h"
#include "semantics/base/cat.h"
#include "semantics/tensor/element_index.h"

namespace palladion::watch {
void LastWriter::Watch(const memory_model::Memory& memory, BufferId array) {
  array_ = array;
  name_ = std::string(memory.NameOf(array));
  element_size_ = memory.ElementSizeOf(array);
  index_ = IndexOfElement(memory.ShapeOf(array), element_.value());
  box_ = IndexText(memory.ShapeOf(array), element_.value());
}

void LastWriter::Running(const RunningAgent& now) { program_.assign(now.index.begin(), now.index.end()); }

void LastWriter::Record(const Who& who, AccessKind kind, const Site& site) {
  writer_ = FindingAccess{.kind = kind,
                          .agent = who.of_engine() ? "a copy" : AgentName(naming_, program_),
                          .object = name_,
                          .box = box_,
                          .loc = site.loc,
                          .text_line = site.text_line};
}

void LastWriter::Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                     const std::byte*) {
  if (kind == AccessKind::kRead || access.buffer != array_ || reach.empty || reach.none_copied) return;
  if (memory_model::HoldsElement(access, reach, index_)) Record(who, kind, access.site);
}

void LastWriter::Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte*) {
  if (kind == AccessKind::kRead || access.buffer != array_) return;
  const std::int64_t first = (element_ * element_size_).value(), last = first + element_size_.value();
  for (std::size_t p = 0; p < access.offset.size(); ++p) {
    const std::int64_t offset = access.offset[p];
    if (offset >= last || offset + static_cast<std::int64_t>(access.piece_bytes) <= first) continue;
    if (!memory_model::Touches(access, p)) continue;
    Record(who, kind, access.site);
    return;
  }
}

}  // namespace palladion::watch
