#include "emu/last_writer.h"

#include "absl/strings/str_join.h"
#include "memory_model/region.h"
#include "semantics/base/cat.h"

namespace palladion {
namespace {

std::vector<std::int64_t> IndexOf(absl::Span<const std::int64_t> shape, std::int64_t element) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = element % shape[d];
    element /= shape[d];
  }
  return index;
}

}  // namespace

std::string IndexText(absl::Span<const std::int64_t> shape, std::int64_t element) {
  return Cat("[", absl::StrJoin(IndexOf(shape, element), ", "), "]");
}

void LastWriter::Watch(const Memory& memory, BufferId array) {
  array_ = array;
  name_ = std::string(memory.NameOf(array));
  element_bytes_ = memory.ElementBytesOf(array);
  index_ = IndexOf(memory.ShapeOf(array), element_);
  box_ = IndexText(memory.ShapeOf(array), element_);
}

void LastWriter::BeginProgram(absl::Span<const std::int64_t> grid_index) {
  program_.assign(grid_index.begin(), grid_index.end());
}

bool LastWriter::Holds(const BoxAccess& access, const BoxReach& reach) const {
  std::array<std::int64_t, kMaxBoxRank> at{};
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) {
    const std::int64_t distance = index_[d] - access.start[d];
    if (access.step[d] == 0) {
      if (distance != 0) return false;
    } else if (distance % access.step[d] != 0) {
      return false;
    } else {
      at[d] = distance / access.step[d];
    }
    if (!reach.copy[d].contains(at[d])) return false;
  }
  if (access.mask.lanes == nullptr) return true;
  std::int64_t lane = 0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(access.value_rank); ++j)
    lane = lane * access.count[access.order[j]] + at[access.order[j]];
  return access.mask.lanes[lane] != 0;
}

void LastWriter::Record(AccessKind kind, const Site& site) {
  writer_ = FindingAccess{.kind = kind,
                          .agent = Cat("program (", absl::StrJoin(program_, ", "), ")"),
                          .object = name_,
                          .box = box_,
                          .loc = site.loc,
                          .text_line = site.text_line};
}

void LastWriter::Box(AccessKind kind, const BoxAccess& access, const BoxReach& reach, const std::byte*) {
  if (kind == AccessKind::kRead || access.buffer != array_ || reach.empty || reach.none_copied) return;
  if (Holds(access, reach)) Record(kind, access.site);
}

void LastWriter::Points(AccessKind kind, const PointAccess& access, const std::byte*) {
  if (kind == AccessKind::kRead || access.buffer != array_) return;
  const std::int64_t first = element_ * static_cast<std::int64_t>(element_bytes_);
  const std::int64_t last = first + static_cast<std::int64_t>(element_bytes_);
  for (std::size_t p = 0; p < access.offset.size(); ++p) {
    const std::int64_t offset = access.offset[p];
    if (offset >= last || offset + static_cast<std::int64_t>(access.piece_bytes) <= first) continue;
    if (!Touches(access, p)) continue;
    Record(kind, access.site);
    return;
  }
}

}  // namespace palladion
