#include "emu/timing/gpu/sector_lines.h"

#include <algorithm>
#include <cstddef>

#include "memory_model/sets/region.h"

namespace palladion::timing::gpu {
namespace {

template <class F>
void ForEachRow(const GlobalBox& box, const F& on_row) {
  for (std::int64_t plane = 0; plane < box.planes; ++plane) {
    for (std::int64_t row = 0; row < box.rows; ++row)
      on_row(box.first_byte + plane * box.plane_stride + row * box.row_stride);
  }
}

SectorLine::Sectors SectorsOf(std::int64_t first, std::int64_t last, const SectorSizes& sizes) {
  unsigned bits = 0;
  for (std::int64_t s = first / sizes.sector_bytes; s <= last / sizes.sector_bytes; ++s) bits |= 1u << s;
  return static_cast<SectorLine::Sectors>(bits);
}

// Bytes of one row.
void AddRow(std::int64_t array, std::int64_t begin, std::int64_t end, const SectorSizes& sizes,
            std::vector<SectorLine>* lines) {
  for (std::int64_t line = begin / sizes.line_bytes; line * sizes.line_bytes < end; ++line) {
    const std::int64_t base = line * sizes.line_bytes;
    const std::int64_t first = std::max(begin, base) - base, last = std::min(end, base + sizes.line_bytes) - 1 - base;
    const SectorLine::Sectors sectors = SectorsOf(first, last, sizes);
    if (!lines->empty() && lines->back().key == SectorLine::Key(array, line)) {
      lines->back().sectors |= sectors;
    } else {
      lines->push_back({.key = {array, line}, .sectors = sectors});
    }
  }
}

bool Joins(const GlobalBox& box, const GlobalBox& row) {
  if (box.array != row.array || box.row_bytes != row.row_bytes) return false;
  const std::int64_t stride = row.first_byte - (box.first_byte + (box.rows - 1) * box.row_stride);
  return box.rows == 1 || stride == box.row_stride;
}

}  // namespace

std::vector<SectorLine> LinesOf(absl::Span<const GlobalBox> boxes, const SectorSizes& sizes) {
  std::vector<SectorLine> lines;
  for (const GlobalBox& box : boxes) {
    ForEachRow(box, [&](std::int64_t begin) { AddRow(box.array, begin, begin + box.row_bytes, sizes, &lines); });
  }
  const auto before = [](const SectorLine& a, const SectorLine& b) { return a.key < b.key; };
  if (std::is_sorted(lines.begin(), lines.end(), before)) return lines;
  std::sort(lines.begin(), lines.end(), before);
  std::size_t kept = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].key == lines[kept].key) {
      lines[kept].sectors |= lines[i].sectors;
    } else {
      lines[++kept] = lines[i];
    }
  }
  lines.resize(std::min(lines.size(), kept + 1));
  return lines;
}

std::vector<GlobalBox> BoxesOf(absl::Span<const SectorLine> lines, const SectorSizes& sizes) {
  std::vector<GlobalBox> runs;
  for (const SectorLine& line : lines) {
    const std::int64_t base = line.key.second * sizes.line_bytes;
    for (std::int64_t s = 0; s * sizes.sector_bytes < sizes.line_bytes; ++s) {
      if ((line.sectors >> s & 1) == 0) continue;
      const std::int64_t begin = base + s * sizes.sector_bytes;
      GlobalBox* const last = runs.empty() ? nullptr : &runs.back();
      if (last != nullptr && last->array == line.key.first && last->first_byte + last->row_bytes == begin) {
        last->row_bytes += sizes.sector_bytes;
      } else {
        runs.push_back({.array = line.key.first,
                        .first_byte = begin,
                        .row_stride = 0,
                        .rows = 1,
                        .row_bytes = sizes.sector_bytes});
      }
    }
  }
  std::vector<GlobalBox> boxes;
  for (const GlobalBox& run : runs) {
    if (boxes.empty() || !Joins(boxes.back(), run)) {
      boxes.push_back(run);
      continue;
    }
    GlobalBox& box = boxes.back();
    box.row_stride = run.first_byte - (box.first_byte + (box.rows - 1) * box.row_stride);
    ++box.rows;
  }
  return boxes;
}

namespace {

std::int64_t ElementsOf(absl::Span<const GlobalBox> boxes, std::int64_t element_bytes) {
  std::int64_t bytes = 0;
  for (const GlobalBox& box : boxes) bytes += box.bytes();
  return bytes / std::max<std::int64_t>(1, element_bytes);
}

bool AllTakePart(const BoxAccess& access) {
  if (access.mask.lanes == nullptr) return true;
  std::int64_t elements = 1;
  for (std::size_t j = 0; j < static_cast<std::size_t>(access.value_rank); ++j)
    elements *= access.count[access.order[j]];
  return std::find(access.mask.lanes, access.mask.lanes + elements, std::uint8_t{0}) == access.mask.lanes + elements;
}

// Offsets of the elements of a box that its mask lets through, row-major over the value; -1 outside the array.
std::vector<std::int64_t> OffsetsOf(const BoxAccess& access, const ArrayLayout& array) {
  const auto rank = static_cast<std::size_t>(access.rank), value_rank = static_cast<std::size_t>(access.value_rank);
  std::vector<std::int64_t> stride(rank, array.element_bytes);
  for (std::size_t d = rank; d-- > 1;) stride[d - 1] = stride[d] * array.shape[d];
  std::int64_t elements = 1;
  for (std::size_t j = 0; j < value_rank; ++j) elements *= access.count[access.order[j]];
  std::vector<std::int64_t> offsets;
  for (std::int64_t e = 0; e < elements; ++e) {
    if (access.mask.lanes[e] == 0) continue;
    std::int64_t offset = 0, rest = e;
    for (std::size_t d = 0; d < rank; ++d) offset += access.start[d] * stride[d];
    bool inside = true;
    for (std::size_t j = value_rank; j-- > 0;) {
      const std::size_t d = access.order[j];
      const std::int64_t i = rest % access.count[d];
      rest /= access.count[d];
      const std::int64_t at = access.start[d] + i * access.step[d];
      inside = inside && at >= 0 && at < array.shape[d];
      offset += i * access.step[d] * stride[d];
    }
    if (inside) offsets.push_back(offset);
  }
  return offsets;
}

}  // namespace

Touched TouchedBy(const BoxAccess& access, const ArrayLayout& array) {
  Touched touched;
  touched.boxes =
      AllTakePart(access) ? BoxesOf(access, array) : BoxesOf(OffsetsOf(access, array), array.element_bytes, array);
  touched.elements = ElementsOf(touched.boxes, array.element_bytes);
  return touched;
}

Touched TouchedBy(const PointAccess& access, const ArrayLayout& array) {
  std::vector<std::int64_t> offsets;
  for (std::size_t p = 0; p < access.offset.size(); ++p) {
    if (memory_model::Touches(access, p)) offsets.push_back(access.offset[p]);
  }
  const auto piece = static_cast<std::int64_t>(access.piece_bytes);
  Touched touched{.boxes = BoxesOf(offsets, piece, array), .elements = 0};
  touched.elements = static_cast<std::int64_t>(offsets.size()) * piece / std::max<std::int64_t>(1, array.element_bytes);
  return touched;
}

std::int64_t VectorBytes(absl::Span<const GlobalBox> boxes, std::int64_t element_bytes) {
  constexpr std::int64_t kMost = 16;
  std::int64_t all = kMost;
  for (const GlobalBox& box : boxes)
    all |=
        box.first_byte | box.row_bytes | (box.rows > 1 ? box.row_stride : 0) | (box.planes > 1 ? box.plane_stride : 0);
  return std::max(element_bytes, all & -all);
}

}  // namespace palladion::timing::gpu
