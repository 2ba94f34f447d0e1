#include "emu/timing/gpu/global_boxes.h"

#include <algorithm>
#include <cstddef>

namespace palladion::timing::gpu {
namespace {

// So many, a stride of bytes apart.
struct Level {
  std::int64_t count = 0, stride = 0;
};

// What of one dimension lies inside the array.
struct Inside {
  std::int64_t first = 0, count = 0;
};
Inside InsideOf(const BoxAccess& access, std::size_t d, std::int64_t size) {
  Inside inside{.first = access.start[d], .count = access.count[d]};
  const std::int64_t step = access.step[d];
  if (step <= 0) return inside;
  while (inside.count > 0 && inside.first < 0) inside = {.first = inside.first + step, .count = inside.count - 1};
  if (inside.first >= size) return {};
  inside.count = std::min(inside.count, (size - inside.first + step - 1) / step);
  return inside;
}

void AddBoxes(const GlobalBox& inner, absl::Span<const Level> outer, std::vector<GlobalBox>* boxes) {
  if (outer.empty()) {
    boxes->push_back(inner);
    return;
  }
  const Level& level = outer.back();
  for (std::int64_t i = 0; i < level.count; ++i) {
    GlobalBox box = inner;
    box.first_byte += i * level.stride;
    AddBoxes(box, outer.subspan(0, outer.size() - 1), boxes);
  }
}

}  // namespace

std::vector<GlobalBox> BoxesOf(const BoxAccess& access, const ArrayLayout& array) {
  GlobalBox box{.array = array.number, .rows = 1, .row_bytes = array.element_bytes};
  std::vector<Level> levels;  // from the last dimension on, those that do not join the one before
  std::int64_t stride = array.element_bytes;
  for (auto d = static_cast<std::size_t>(access.rank); d-- > 0; stride *= array.shape[d]) {
    const Inside inside = InsideOf(access, d, array.shape[d]);
    if (inside.count <= 0) return {};
    box.first_byte += inside.first * stride;
    const Level level{.count = inside.count, .stride = stride * access.step[d]};
    if (level.count == 1) continue;
    if (levels.empty() && level.stride == box.row_bytes) {
      box.row_bytes *= level.count;
    } else if (!levels.empty() && level.stride == levels.back().count * levels.back().stride) {
      levels.back().count *= level.count;
    } else {
      levels.push_back(level);
    }
  }
  if (!levels.empty()) {
    box.rows = levels[0].count;
    box.row_stride = levels[0].stride;
  }
  if (levels.size() > 1) {
    box.planes = levels[1].count;
    box.plane_stride = levels[1].stride;
  }
  std::vector<GlobalBox> boxes;
  AddBoxes(box, absl::MakeConstSpan(levels).subspan(std::min<std::size_t>(2, levels.size())), &boxes);
  return boxes;
}

std::vector<GlobalBox> BoxesOf(absl::Span<const std::int64_t> offsets, std::int64_t piece_bytes,
                               const ArrayLayout& array) {
  std::vector<GlobalBox> boxes;
  for (const std::int64_t offset : offsets) {
    if (offset < 0) continue;
    GlobalBox* const last = boxes.empty() ? nullptr : &boxes.back();
    if (last != nullptr && last->first_byte + last->row_bytes == offset) {
      last->row_bytes += piece_bytes;
    } else {
      boxes.push_back(
          {.array = array.number, .first_byte = offset, .row_stride = 0, .rows = 1, .row_bytes = piece_bytes});
    }
  }
  return boxes;
}

}  // namespace palladion::timing::gpu
