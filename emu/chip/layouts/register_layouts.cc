#include "emu/chip/layouts/register_layouts.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include "emu/chip/layouts/layout_names.h"
#include "semantics/base/cat.h"

namespace palladion::layouts {
namespace {

std::size_t FromEnd(std::size_t count, int dim) { return count - static_cast<std::size_t>(-dim); }

// Tiling.tile_shape: each tile cuts the last dimensions in two, and what is inside of it comes after all others.
std::optional<Shape> TileShape(const std::vector<Shape>& tiles, Shape shape) {
  for (const Shape& tile : tiles) {
    if (tile.size() > shape.size()) return std::nullopt;
    const std::size_t first = shape.size() - tile.size();
    for (std::size_t i = 0; i < tile.size(); ++i) {
      if (shape[first + i] % tile[i] != 0) return std::nullopt;
      shape[first + i] /= tile[i];
    }
    shape.insert(shape.end(), tile.begin(), tile.end());
  }
  return shape;
}

// Tiling.canonicalize: no tile that cuts nothing, none that begins with dimensions of 1.
std::vector<Shape> Canonical(const std::vector<Shape>& tiles) {
  std::vector<Shape> canonical;
  for (const Shape& tile : tiles) {
    if (canonical.empty()) {
      canonical.push_back(tile);
      continue;
    }
    const auto from = std::find_if(tile.begin(), tile.end(), [](std::int64_t size) { return size != 1; });
    const Shape kept = from == tile.end() ? Shape{1} : Shape(from, tile.end());
    const Shape& last = canonical.back();
    if (kept.size() > last.size() || !std::equal(kept.rbegin(), kept.rend(), last.rbegin())) canonical.push_back(kept);
  }
  return canonical;
}

// Tiling.remove_dimension
std::vector<Shape> Without(const std::vector<Shape>& tiles, std::size_t dim) {
  std::vector<Shape> left;
  auto at = static_cast<std::ptrdiff_t>(dim);
  std::size_t rank = tiles.front().size();
  for (Shape tile : tiles) {
    at -= static_cast<std::ptrdiff_t>(rank - tile.size());
    rank = tile.size();
    if (at >= 0) tile.erase(tile.begin() + at);
    if (tile.empty()) break;
    left.push_back(std::move(tile));
  }
  return left;
}

// TiledLayout.canonicalize
TiledLayout Canonical(const TiledLayout& layout) {
  TiledLayout canonical{.tiles = Canonical(layout.tiles)};
  const Shape inside = layout.Inside(), kept = canonical.Inside();
  std::vector<int> removed(inside.size());  // by dimension: how many of those from it on are gone
  std::size_t left = kept.size();
  int gone = 0;
  for (std::size_t i = inside.size(); i-- > 0;) {
    if (left > 0 && inside[i] == kept[left - 1]) {
      --left;
    } else {
      ++gone;
    }
    removed[i] = gone;
  }
  const auto moved = [&](int dim) { return dim + removed[FromEnd(inside.size(), dim)]; };
  const auto all = [&](const std::vector<int>& dims) {
    std::vector<int> left_over;
    for (const int dim : dims) {
      if (dim > 0) left_over.push_back(dim);
      if (dim < 0 && inside[FromEnd(inside.size(), dim)] != 1) left_over.push_back(moved(dim));
    }
    return left_over;
  };
  canonical.warps = all(layout.warps);
  canonical.lanes = all(layout.lanes);
  canonical.vector = moved(layout.vector);
  return canonical;
}

// TiledLayout.remove_dimension
TiledLayout Without(const TiledLayout& layout, std::size_t dim) {
  const Shape inside = layout.Inside();
  const std::vector<bool> gone = layout.DimensionsOf(dim);
  std::vector<int> offsets(gone.size());
  for (std::size_t i = gone.size(), count = 0; i-- > 0;) {
    count += gone[i] ? 1 : 0;
    offsets[i] = static_cast<int>(count);
  }
  TiledLayout left{.tiles = Without(layout.tiles, dim)};
  if (gone[FromEnd(gone.size(), layout.vector)]) {
    left.tiles.push_back({1});
    left.vector = -1;
    for (int& offset : offsets) --offset;
  } else {
    left.vector = layout.vector + offsets[FromEnd(gone.size(), layout.vector)];
  }
  const auto all = [&](std::vector<int> dims) {
    for (int& at : dims) {
      if (at > 0) continue;
      at = gone[FromEnd(gone.size(), at)] ? static_cast<int>(inside[FromEnd(inside.size(), at)])
                                          : at + offsets[FromEnd(gone.size(), at)];
    }
    return dims;
  };
  left.warps = all(layout.warps);
  left.lanes = all(layout.lanes);
  return Canonical(left);
}

// ---- names

struct NamedLayout {
  std::string_view text;  // as JAX has it; none: another layout reduced
  LayoutName name;
};
constexpr NamedLayout kNamed[] = {
    {"WGMMA", LayoutName::kWgmma},
    {"TCGEN05", LayoutName::kTcgen05},
    {"WG_SPLAT", LayoutName::kSplat},
    {"WG_STRIDED", LayoutName::kStrided},
    {"WGMMA_TRANSPOSED", LayoutName::kWgmmaTransposed},
    {"WGMMA_8BIT", LayoutName::kWgmma8Bit},
    {"WGMMA_UPCAST_2X", LayoutName::kWgmmaUpcast2x},
    {"WGMMA_UPCAST_4X", LayoutName::kWgmmaUpcast4x},
    {"_WGMMA_ACC_32BIT", LayoutName::kWgmmaAccumulator},
    {"TCGEN05_TRANSPOSED", LayoutName::kTcgen05Transposed},
    {"TCGEN05_M64_COLLECTIVE", LayoutName::kTcgen05M64Collective},
    {"TCGEN05_TMEM_NATIVE", LayoutName::kTmemNative},
    {"TMA_INDICES", LayoutName::kTmaIndices},
    {"TMA_INDICES_4", LayoutName::kTmaIndices4},
};

TiledLayout TiledOf(LayoutName name, std::int64_t number) {
  const std::int64_t native = number == 0 ? 2 : number;
  switch (name) {
    case LayoutName::kWgmma:
      return {{{64, 8}, {16, 8}, {8, 8}, {2}}, {-7}, {-3, -2}, -1};
    case LayoutName::kWgmmaAccumulator:
      return {{{64, 8}, {16, 8}, {8, 8}, {2}, {1}}, {-8}, {-4, -3}, -1};
    case LayoutName::kTcgen05:
      return {{{128, 8}, {32, 8}, {8, 8}, {2}}, {-7}, {-3, -2}, -1};
    case LayoutName::kWgmmaRow:
      return {{{64}, {16}, {8}, {1}}, {-4}, {-2, 4}, -1};
    case LayoutName::kTcgen05Row:
      return {{{128}, {32}, {8}, {1}}, {-4}, {-2, 4}, -1};
    case LayoutName::kWgmmaColumn:
      return {{{8}, {2}}, {4}, {8, -2}, -1};
    case LayoutName::kWgmmaTransposed:
      return {{{64, 8}, {16, 8}, {8, 8}, {2, 2}, {2, 1}}, {-10}, {-6, -3, -5}, -2};
    case LayoutName::kTcgen05Transposed:
      return {{{128, 8}, {32, 8}, {8, 8}, {2, 2}, {2, 1}}, {-10}, {-6, -3, -5}, -2};
    case LayoutName::kWgmma8Bit:
      return {{{64, 16}, {16, 16}, {8, 16}, {4}}, {-7}, {-3, -2}, -1};
    case LayoutName::kWgmmaUpcast2x:
      return {{{64, 16}, {16, 16}, {8, 16}, {8}, {4}}, {-8}, {-4, -2, -3}, -1};
    case LayoutName::kWgmmaUpcast4x:
      return {{{64, 32}, {16, 32}, {8, 32}, {8}}, {-7}, {-3, -2}, -1};
    case LayoutName::kTcgen05M64Collective:
      return {{{64, number}, {32, number / 2}, {8, 8}, {2}}, {-6, -7}, {-3, -2}, -1};
    case LayoutName::kTmemNative:
      return {{{128, native}, {32, native}}, {-4}, {-2}, -1};
    case LayoutName::kTmaIndices:
      return {{{16}, {4}}, {-2}, {32}, -1};
    case LayoutName::kTmaIndices4:
      return {{{4}}, {4}, {32}, -1};
    case LayoutName::kUnknown:
    case LayoutName::kSplat:
    case LayoutName::kStrided:
      break;
  }
  return {};
}

// The whole numbers that stand in `text` from the first `key` on, up to the first of `ends`.
std::vector<std::int64_t> NumbersAfter(std::string_view text, std::string_view key, char end) {
  std::vector<std::int64_t> numbers;
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return numbers;
  text = text.substr(at + key.size());
  text = text.substr(0, text.find(end));
  for (const char *from = text.data(), *to = text.data() + text.size(); from < to;) {
    std::int64_t number = 0;
    const auto [next, error] = std::from_chars(from, to, number);
    if (error == std::errc() && number >= 0 && number <= kMaxElements) numbers.push_back(number);
    from = next == from ? from + 1 : next;
  }
  return numbers;
}

std::int64_t FirstNumberAfter(std::string_view text, std::string_view key) {
  const std::vector<std::int64_t> numbers = NumbersAfter(text, key, ')');
  return numbers.empty() ? 0 : numbers.front();
}

// The argument of a layout that has one: args=(4,) or {'vector_length': 4}.
std::int64_t ArgumentOf(std::string_view text, std::string_view key) {
  const std::int64_t named = FirstNumberAfter(text, key);
  return named != 0 ? named : FirstNumberAfter(text, "args=(");
}

// args=((128, 64), 2), kwargs={'shape': (128, 64), 'vec_size': 2}, or the one and the other.
std::int64_t VectorFromText(std::string_view text) {
  if (const std::int64_t named = FirstNumberAfter(text, "'vec_size': "); named != 0) return named;
  const std::size_t at = text.find("args=((");
  return at == std::string_view::npos ? 0 : FirstNumberAfter(text.substr(at), ")");
}

RegisterLayout WithoutAxes(std::string_view text) {
  constexpr std::string_view kClass = "Layout.";
  const std::size_t at = text.find(kClass);
  if (at == std::string_view::npos) return {};
  std::string_view name = text.substr(at + kClass.size());
  name = name.substr(0, name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"));
  const auto row =
      std::find_if(std::begin(kNamed), std::end(kNamed), [&](const NamedLayout& it) { return it.text == name; });
  if (row == std::end(kNamed)) return {};
  switch (row->name) {
    case LayoutName::kStrided:
      return {row->name, VectorFromText(text)};
    case LayoutName::kTmemNative:
      return {row->name, ArgumentOf(text, "'vector_length': ")};
    case LayoutName::kTcgen05M64Collective: {
      const std::int64_t columns = ArgumentOf(text, "'columns': ");
      if (columns == 0 || columns % 16 != 0) return {};
      return {row->name, columns};
    }
    default:
      return row->name;
  }
}

}  // namespace

Shape TiledLayout::Inside() const {
  const Shape all = TileShape(tiles, Unit()).value_or(Shape{});
  return {all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), Unit().size())), all.end()};
}

std::int64_t TiledLayout::VectorLength() const {
  const Shape inside = Inside();
  return inside[FromEnd(inside.size(), vector)];
}

bool TiledLayout::HasCopies() const {
  const auto copies = [](const std::vector<int>& dims) {
    return std::any_of(dims.begin(), dims.end(), [](int dim) { return dim > 0; });
  };
  return copies(warps) || copies(lanes);
}

std::vector<bool> TiledLayout::DimensionsOf(std::size_t dim) const {
  std::vector<bool> from(Unit().size());
  from[dim] = true;
  for (const Shape& tile : tiles) {
    const std::vector<bool> cut(from.end() - static_cast<std::ptrdiff_t>(tile.size()), from.end());
    from.insert(from.end(), cut.begin(), cut.end());
  }
  return from;
}

TiledLayout TiledLayout::Reduced(absl::Span<const std::int64_t> dims) const {
  std::vector<std::int64_t> last_first(dims.begin(), dims.end());
  std::sort(last_first.rbegin(), last_first.rend());
  TiledLayout left = *this;
  for (const std::int64_t dim : last_first) left = Without(left, static_cast<std::size_t>(dim));
  return left;
}

TiledLayout TiledLayout::InCanonicalForm() const { return Canonical(*this); }

RegisterLayout::RegisterLayout(LayoutName name, std::int64_t number) {
  if (name == LayoutName::kUnknown) return;
  kind = name == LayoutName::kSplat ? Kind::kSplat : name == LayoutName::kStrided ? Kind::kStrided : Kind::kTiled;
  if (kind == Kind::kStrided) vector = number;
  if (kind == Kind::kTiled) tiled = TiledOf(name, number);
}

std::string NameOf(const RegisterLayout& layout) {
  switch (layout.kind) {
    case RegisterLayout::Kind::kUnknown:
      return "unknown";
    case RegisterLayout::Kind::kSplat:
      return "WG_SPLAT";
    case RegisterLayout::Kind::kStrided:
      return "WG_STRIDED";
    case RegisterLayout::Kind::kTiled:
      break;
  }
  const TiledLayout& tiled = layout.tiled;
  const std::int64_t number = tiled.Unit().back();  // where a layout has one
  for (const NamedLayout& row : kNamed) {
    if (row.name == LayoutName::kTcgen05M64Collective && number % 16 != 0) continue;
    const RegisterLayout named(row.name, number);
    if (!named.is_tiled()) continue;
    if (named.tiled == tiled) return std::string(row.text);
    if (named.tiled.Unit().size() != 2 || tiled.Unit().size() != 1) continue;
    for (const std::int64_t axis : {1, 0}) {
      if (named.tiled.Reduced({axis}) == tiled) return Cat(row.text, ".reduce(", axis, ")");
    }
  }
  return "a tiled layout";
}

RegisterLayout LayoutFromText(std::string_view text) {
  RegisterLayout layout = WithoutAxes(text);
  if (!text.starts_with("ReducedLayout") || !layout.known()) return layout;
  if (!layout.is_tiled()) return {};
  const std::vector<std::int64_t> axes = NumbersAfter(text, "axes=(", ')');
  for (const std::int64_t axis : axes) {
    if (axis >= static_cast<std::int64_t>(layout.tiled.Unit().size())) return {};
  }
  if (axes.size() >= layout.tiled.Unit().size()) return {};
  return RegisterLayout(layout.tiled.Reduced(axes));
}

std::optional<Shape> ShapeFromText(std::string_view text) {
  for (const std::string_view key : {"'shape': (", "args=(("}) {
    if (text.find(key) == std::string_view::npos) continue;
    const std::vector<std::int64_t> numbers = NumbersAfter(text, key, ')');
    return Shape(numbers.begin(), numbers.end());
  }
  return std::nullopt;
}

std::optional<std::int64_t> StridedVector(const Type& type) {
  constexpr std::int64_t kMostBytes = 8;
  const std::int64_t elements = NumElements(type.shape), bits = Info(type.dtype).bits;
  if (bits % 8 != 0 || bits > 8 * kMostBytes || elements <= 0 || elements % kLanesOfGroup != 0) return std::nullopt;
  std::int64_t vector = std::min(kMostBytes / (bits / 8), elements / kLanesOfGroup);
  while (vector > 1 && elements % (vector * kLanesOfGroup) != 0) vector /= 2;
  return vector;
}

bool Fits(const RegisterLayout& layout, const Type& type) {
  if (layout.is_tiled()) return TileShape(layout.tiled.tiles, type.shape).has_value();
  if (layout.kind != RegisterLayout::Kind::kStrided) return true;
  if (layout.vector == 0) return StridedVector(type).has_value();
  return NumElements(type.shape) % (layout.vector * kLanesOfGroup) == 0;
}

std::string PublicLayoutNames() {
  std::string names;
  for (const NamedLayout& row : kNamed) {
    if (row.text[0] != '_') Append(&names, names.empty() ? "" : ", ", row.text);
  }
  return names;
}

}  // namespace palladion::layouts
