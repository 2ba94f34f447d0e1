#include "emu/chip/layouts/tmem_register_layouts.h"

#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

#include "semantics/base/cat.h"

namespace palladion::layouts {
namespace {

constexpr std::int64_t kRows = kTmemLanes, kHalf = kTmemLanes / 2;

TiledLayout M64Collective(std::int64_t columns, std::int64_t packing) {
  const TiledLayout layout{
      .tiles = {{kHalf, columns}, {kLanesOfWarp, columns / 2}, {packing}}, .warps = {-4, -5}, .lanes = {-3}};
  return layout.InCanonicalForm();
}

// ---- what JAX prints

// The text behind `key` up to the bracket that closes the one which `key` ends with; none: there is no such key.
std::optional<std::string_view> Bracketed(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  text = text.substr(at + key.size());
  int open = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++open;
    if (text[i] == ')' && --open == 0) return text.substr(0, i);
  }
  return std::nullopt;
}

std::vector<std::int64_t> Numbers(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (const char *from = text.data(), *to = text.data() + text.size(); from < to;) {
    std::int64_t number = 0;
    const auto [next, error] = std::from_chars(from, to, number);
    if (error == std::errc() && number >= -kMaxElements && number <= kMaxElements) numbers.push_back(number);
    from = next == from ? from + 1 : next;
  }
  return numbers;
}

// "(128, 4), (32, 1)"
std::vector<Shape> Tiles(std::string_view text) {
  std::vector<Shape> tiles;
  for (std::size_t at = text.find('('); at != std::string_view::npos; at = text.find('(', at + 1)) {
    const std::vector<std::int64_t> sizes = Numbers(text.substr(at + 1, text.find(')', at) - at - 1));
    tiles.emplace_back(sizes.begin(), sizes.end());
  }
  return tiles;
}

// "-4, Replicated(times=2)": a positive number is so many copies.
std::vector<int> Dimensions(std::string_view text) {
  std::vector<int> dims;
  for (const std::int64_t dim : Numbers(text)) dims.push_back(static_cast<int>(dim));
  return dims;
}

// Do the dimensions exist, and do the tiles divide each other, so that the layout can be worked with?
bool IsSound(const TiledLayout& layout) {
  if (layout.tiles.empty() || layout.tiles.front().empty()) return false;
  std::size_t rank = layout.Unit().size();
  for (const Shape& tile : layout.tiles) {
    if (tile.empty() || tile.size() > layout.Unit().size()) return false;
    for (const std::int64_t size : tile) {
      if (size <= 0) return false;
    }
    rank += tile.size();
  }
  const std::size_t inside = layout.Inside().size();
  if (inside + layout.Unit().size() != rank) return false;
  const auto exists = [&](int dim) { return dim != 0 && (dim > 0 || dim >= -static_cast<std::int64_t>(inside)); };
  for (const std::vector<int>* dims : {&layout.warps, &layout.lanes}) {
    for (const int dim : *dims) {
      if (!exists(dim)) return false;
    }
  }
  return layout.vector < 0 && exists(layout.vector);
}

std::optional<TiledLayout> FromTiled(std::string_view text) {
  const std::optional<std::string_view> tiles = Bracketed(text, "tiles=("), warps = Bracketed(text, "'warp_dims': ("),
                                        lanes = Bracketed(text, "'lane_dims': (");
  constexpr std::string_view kVector = "'vector_dim': ";
  const std::size_t vector = text.find(kVector);
  if (!tiles.has_value() || !warps.has_value() || !lanes.has_value() || vector == std::string_view::npos)
    return std::nullopt;
  const std::vector<std::int64_t> number = Numbers(text.substr(vector + kVector.size()));
  TiledLayout layout{.tiles = Tiles(*tiles), .warps = Dimensions(*warps), .lanes = Dimensions(*lanes)};
  if (number.empty()) return std::nullopt;
  layout.vector = static_cast<int>(number.front());
  if (!IsSound(layout)) return std::nullopt;
  return layout.InCanonicalForm();
}

// args=(160,) or args=(160, 2), or by name
std::optional<TiledLayout> FromM64(std::string_view text) {
  std::vector<std::int64_t> numbers = Numbers(Bracketed(text, "args=(").value_or(""));
  for (const std::string_view key : {"'columns': ", "'packing': "}) {
    const std::size_t at = text.find(key);
    if (at == std::string_view::npos) continue;
    const std::vector<std::int64_t> named = Numbers(text.substr(at + key.size()));
    if (!named.empty()) numbers.push_back(named.front());
  }
  if (numbers.empty() || numbers.size() > 2) return std::nullopt;
  const std::int64_t columns = numbers[0], packing = numbers.size() == 2 ? numbers[1] : 1;
  if (columns <= 0 || columns % 16 != 0 || packing <= 0 || (columns / 2) % packing != 0) return std::nullopt;
  return M64Collective(columns, packing);
}

}  // namespace

std::optional<TiledLayout> AsRegisters(const TmemLayout& layout) {
  const std::int64_t packing = layout.packing, columns = layout.tile_columns;
  TiledLayout tiled;
  switch (layout.name) {
    case TmemLayoutName::kDefault:
      tiled = {.tiles = {{kRows, packing}, {kLanesOfWarp, packing}}, .warps = {-4}, .lanes = {-2}};
      break;
    case TmemLayoutName::kHalfLane:
      tiled = {
          .tiles = {{kHalf, columns}, {kLanesOfWarp / 2, columns / 2}, {packing}}, .warps = {-5}, .lanes = {-4, -3}};
      break;
    case TmemLayoutName::kM64Collective:
      return IsSound({.tiles = {{kHalf, columns}, {kLanesOfWarp, columns / 2}, {packing}}})
                 ? std::optional(M64Collective(columns, packing))
                 : std::nullopt;
    case TmemLayoutName::kScales:
      tiled = {.tiles = {{kRows, 4}, {kLanesOfWarp, 1}}, .warps = {4}, .lanes = {-2}, .vector = -3};
      break;
    case TmemLayoutName::kScalesM64Collective:
      tiled = {.tiles = {{2 * kRows, 4}, {kRows, 4}, {kLanesOfWarp, 4}}, .warps = {2, -6}, .lanes = {-2}};
      break;
    case TmemLayoutName::kSparseMetadata:
      return std::nullopt;
  }
  if (!IsSound(tiled)) return std::nullopt;
  return tiled.InCanonicalForm();
}

std::optional<TiledLayout> GivenLayout(std::string_view text) {
  if (text.starts_with("ReducedLayout")) return std::nullopt;
  if (text.find("Layout.TILED") != std::string_view::npos) return FromTiled(text);
  if (text.find("Layout.TCGEN05_M64_COLLECTIVE_NATIVE") != std::string_view::npos) return FromM64(text);
  return std::nullopt;
}

}  // namespace palladion::layouts
