#include "memory_model/order/arena_past.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace palladion::memory_model {
namespace {

std::vector<ByteRange> RangesOf(const AccessSet& set, const ArenaLayout& layout) {
  if (!set.is_box) return set.ranges;
  std::vector<ByteRange> ranges;
  ForEachRun(set.box, layout.shape, layout.element_bytes, [&](std::int64_t begin, std::int64_t end) {
    ranges.push_back({begin, end});
  });
  return ranges;
}

// One range of bytes as a box of the allocation, where it is one: histories of boxes are the cheap ones.
AccessSet SetOfRange(const ByteRange& range, const ArenaLayout& layout) {
  const std::size_t rank = layout.shape.size();
  std::int64_t stride = layout.end() - layout.offset;
  const std::int64_t length = range.end - range.begin;
  AccessBox box;
  box.rank = static_cast<std::int32_t>(rank);
  for (std::size_t d = 0; d < rank && rank <= static_cast<std::size_t>(kMaxHistoryRank); ++d) {
    if (layout.shape[d] > std::numeric_limits<std::int32_t>::max()) break;
    stride /= layout.shape[d];
    const std::int64_t at = range.begin / stride % layout.shape[d];
    if (range.begin % stride != 0 || length % stride != 0) {
      box.dim[d] = {static_cast<std::int32_t>(at), 1, 1};
      continue;
    }
    const std::int64_t count = length / stride;
    if (at + count > layout.shape[d]) break;
    box.dim[d] = {static_cast<std::int32_t>(at), static_cast<std::int32_t>(count), 1};
    for (std::size_t inner = d + 1; inner < rank; ++inner) {
      box.dim[inner] = {0, static_cast<std::int32_t>(layout.shape[inner]), 1};
    }
    return AccessSet::Of(box);
  }
  return AccessSet::Of(std::vector<ByteRange>{range});
}

}  // namespace

std::int64_t ArenaLayout::end() const {
  return offset + std::accumulate(shape.begin(), shape.end(), element_bytes, std::multiplies<>());
}

void ArenaPast::Add(ArenaLayout layout, std::vector<Use> uses) {
  if (uses.empty()) return;
  const std::int64_t begin = layout.offset, end = layout.end();
  pieces_.push_back({std::make_shared<const Past>(Past{std::move(layout), std::move(uses)}), begin, end});
}

std::vector<ArenaPast::Use> ArenaPast::Take(const ArenaLayout& layout) {
  std::vector<Use> taken;
  std::vector<Piece> left;
  const std::int64_t layout_end = layout.end();
  for (Piece& piece : pieces_) {
    const std::int64_t begin = std::max(piece.begin, layout.offset), end = std::min(piece.end, layout_end);
    if (begin >= end) {
      left.push_back(std::move(piece));
      continue;
    }
    const ArenaLayout& old = piece.past->layout;
    const bool same = old == layout && begin == layout.offset && end == layout_end;
    for (const Use& use : piece.past->uses) {
      if (same) {
        taken.push_back(use);
        continue;
      }
      std::vector<ByteRange> ranges;
      for (const ByteRange& range : RangesOf(use.set, old)) {
        const ByteRange part = {std::max(range.begin + old.offset, begin) - layout.offset,
                                std::min(range.end + old.offset, end) - layout.offset};
        if (part.begin < part.end) ranges.push_back(part);
      }
      AccessSet set = AccessSet::Of(std::move(ranges));
      if (set.empty()) continue;
      if (set.ranges.size() == 1) set = SetOfRange(set.ranges[0], layout);
      taken.push_back({use.event, std::move(set), use.object});
    }
    if (piece.begin < begin) left.push_back({piece.past, piece.begin, begin});
    if (end < piece.end) left.push_back({piece.past, end, piece.end});
  }
  pieces_ = std::move(left);
  return taken;
}

}  // namespace palladion::memory_model
