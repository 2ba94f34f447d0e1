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
  ForEachRun(set.box, layout.shape, layout.element_size, [&](std::int64_t begin, std::int64_t end) {
    ranges.push_back({begin, end});
  });
  return ranges;
}

ByteRange Shifted(const ByteRange& range, std::int64_t by) { return {range.begin + by, range.end + by}; }

// What the bytes of a buffer in tensor memory are of the arena.
std::vector<ByteRange> CellsOf(const std::vector<ByteRange>& ranges, const ArenaLayout& layout) {
  const TensorCells& cells = *layout.cells;
  const std::int64_t size = layout.element_size.value();
  std::vector<ByteRange> found;
  for (const ByteRange& range : ranges) {
    const auto first = static_cast<std::size_t>(range.begin / size);
    const auto last = static_cast<std::size_t>((range.end + size - 1) / size);
    for (std::size_t i = first * cells.copies; i < last * cells.copies; ++i) {
      const std::int64_t begin = layout.offset.value() + cells.of_element[i] * TensorCells::kCellBytes;
      found.push_back({begin, begin + TensorCells::kCellBytes});
    }
  }
  return AccessSet::Of(std::move(found)).ranges;
}

// The bytes of elements of which any cell is in the ranges of the arena, which lie inside the layout.
std::vector<ByteRange> ElementsIn(const std::vector<ByteRange>& ranges, const ArenaLayout& layout) {
  const TensorCells& cells = *layout.cells;
  std::vector<bool> touched(static_cast<std::size_t>(cells.columns * TensorCells::kLanes));
  for (const ByteRange& range : ranges) {
    for (std::int64_t at = range.begin; at < range.end; at += TensorCells::kCellBytes)
      touched[static_cast<std::size_t>((at - layout.offset.value()) / TensorCells::kCellBytes)] = true;
  }
  const std::int64_t size = layout.element_size.value();
  std::vector<ByteRange> found;
  for (std::size_t i = 0; i < cells.of_element.size(); ++i) {
    if (!touched[static_cast<std::size_t>(cells.of_element[i])]) continue;
    const auto element = static_cast<std::int64_t>(i / cells.copies);
    found.push_back({element * size, (element + 1) * size});
  }
  return AccessSet::Of(std::move(found)).ranges;
}

std::vector<ByteRange> InArena(const AccessSet& set, const ArenaLayout& layout) {
  std::vector<ByteRange> ranges = RangesOf(set, layout);
  if (layout.cells != nullptr) return CellsOf(ranges, layout);
  for (ByteRange& range : ranges) range = Shifted(range, layout.offset.value());
  return ranges;
}

std::vector<ByteRange> FromArena(std::vector<ByteRange> ranges, const ArenaLayout& layout) {
  if (layout.cells != nullptr) return ElementsIn(ranges, layout);
  for (ByteRange& range : ranges) range = Shifted(range, -layout.offset.value());
  return ranges;
}

// One range of bytes as a box of the allocation, where it is one: histories of boxes are the cheap ones.
AccessSet SetOfRange(const ByteRange& range, const ArenaLayout& layout) {
  const std::size_t rank = layout.shape.size();
  std::int64_t stride = layout.bytes().value();
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

// The same of the same part of rows one after another.
AccessSet SetOfRanges(std::vector<ByteRange> ranges, const ArenaLayout& layout) {
  if (ranges.size() == 1) return SetOfRange(ranges[0], layout);
  AccessSet set = AccessSet::Of(std::move(ranges));
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (set.ranges.empty() || layout.shape.size() != 2 || std::max(layout.shape[0], layout.shape[1]) > kMost) return set;
  const ByteRange& first = set.ranges[0];
  const std::int64_t size = layout.element_size.value(), row = layout.shape[1] * size;
  const std::int64_t length = first.end - first.begin, column = first.begin % row;
  if (column + length > row || column % size != 0 || length % size != 0) return set;
  for (std::size_t i = 1; i < set.ranges.size(); ++i) {
    if (!(set.ranges[i] == Shifted(first, static_cast<std::int64_t>(i) * row))) return set;
  }
  AccessBox box;
  box.rank = 2;
  box.dim[0] = {static_cast<std::int32_t>(first.begin / row), static_cast<std::int32_t>(set.ranges.size()), 1};
  box.dim[1] = {static_cast<std::int32_t>(column / size), static_cast<std::int32_t>(length / size), 1};
  return AccessSet::Of(box);
}

}  // namespace

ByteCount ArenaLayout::bytes() const {
  const ElementCount elements(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
  return elements * element_size;
}

ByteCount ArenaLayout::end() const {
  constexpr ByteCount kColumn(TensorCells::kLanes * TensorCells::kCellBytes);
  return offset + (cells == nullptr ? bytes() : cells->columns * kColumn);
}

void ArenaPast::Add(ArenaLayout layout, std::vector<Use> uses) {
  if (uses.empty()) return;
  const ByteCount begin = layout.offset, end = layout.end();
  pieces_.push_back({std::make_shared<const Past>(Past{std::move(layout), std::move(uses)}), begin, end});
}

std::vector<ArenaPast::Use> ArenaPast::Take(const ArenaLayout& layout) {
  std::vector<Use> taken;
  std::vector<Piece> left;
  const ByteCount layout_end = layout.end();
  for (Piece& piece : pieces_) {
    const ByteCount begin = std::max(piece.begin, layout.offset), end = std::min(piece.end, layout_end);
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
      for (const ByteRange& range : InArena(use.set, old)) {
        const ByteRange part = {std::max(range.begin, begin.value()), std::min(range.end, end.value())};
        if (part.begin < part.end) ranges.push_back(part);
      }
      AccessSet set = SetOfRanges(FromArena(std::move(ranges), layout), layout);
      if (set.empty()) continue;
      taken.push_back({use.event, std::move(set), use.object});
    }
    if (piece.begin < begin) left.push_back({piece.past, piece.begin, begin});
    if (end < piece.end) left.push_back({piece.past, end, piece.end});
  }
  pieces_ = std::move(left);
  return taken;
}

}  // namespace palladion::memory_model
