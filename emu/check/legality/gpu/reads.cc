// Arrays that are read in a layout that the kernel names: a load, and a layout_cast right behind it. Sources: JAX
// 0.10.2, jax/experimental/mosaic/gpu/fragmented_array.py (TiledLayout, load_tiled, plan_tiled_transfer,
// StaggeredTransferPlan); the CUDA C++ Programming Guide, "Shared Memory" (32 banks of 4 bytes). Reads of tensor
// memory: tmem_transfers.cc. Does not catch: reads through a transposition, layouts that
// register_layouts.h does not know.
#include <algorithm>
#include <numeric>

#include "emu/check/legality/gpu/limits.h"
#include "emu/chip/layouts/bank_conflicts.h"
#include "emu/chip/layouts/register_facts.h"
#include "emu/chip/layouts/register_layouts.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_row.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kLanes = 32, kRowOfBanks = 128, kLanesOfRow = 4;
constexpr std::int64_t kStaggered = 2;  // as many lanes at one bank as staggering separates
constexpr std::int64_t kChunk = 8;      // bytes of a lane that a swizzle keeps apart from the other lanes'

// A layout in tiles of `tile`, a lane with `vector` elements that lie one after another.
struct Tiles {
  std::string name{};
  Shape tile{};
  std::int64_t vector = 0, lanes_of_row = kLanesOfRow;
};

struct ReadSite {
  const Kernel& kernel;
  const Instr& op;
  bool lanes = true;
  layouts::GpuView view;
  Shape shape;
  Tiles layout;
  layouts::RegisterLayout registers;
};

std::int64_t NumberBehind(std::string_view text, std::string_view key, std::int64_t otherwise) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return otherwise;
  std::int64_t number = 0;
  for (const char c : text.substr(at + key.size())) {
    if (c < '0' || c > '9' || number > kMaxElements) break;
    number = 10 * number + (c - '0');
  }
  return number;
}

std::optional<Tiles> TilesOf(std::string_view text) {
  constexpr std::string_view kClass = "Layout.";
  const std::size_t at = text.find(kClass);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view name = text.substr(at + kClass.size());
  name = name.substr(0, name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"));
  Tiles tiles{.name = std::string(name)};
  if (name == "WGMMA") tiles = {.name = tiles.name, .tile = {64, 8}, .vector = 2};
  if (name == "TCGEN05") tiles = {.name = tiles.name, .tile = {128, 8}, .vector = 2};
  if (name == "TCGEN05_TMEM_NATIVE") {
    const std::int64_t vector = std::max<std::int64_t>(1, NumberBehind(text, "args=(", 2));
    tiles = {.name = tiles.name, .tile = {128, vector}, .vector = vector, .lanes_of_row = 1};
  }
  if (tiles.tile.empty()) {
    const layouts::RegisterLayout other = layouts::LayoutFromText(text);
    return other.is_tiled() ? std::optional<Tiles>({.name = NameOf(other), .tile = other.tiled.Unit()}) : std::nullopt;
  }
  if (text.starts_with("ReducedLayout")) {
    const std::int64_t axis = NumberBehind(text, "axes=(", 0);
    tiles = {.name = Cat(tiles.name, ".reduce(", axis, ")"), .tile = {tiles.tile[axis == 0 ? 1 : 0]}};
  }
  return tiles;
}

std::optional<std::string> Fills(const ReadSite& site) {
  if (layouts::Fits(site.registers, site.op.types[0]) && site.layout.vector == 0) return std::nullopt;
  // Leading dimensions are not cut: each of their elements has registers of its own (Tiling.tile_shape).
  const std::size_t rank = site.layout.tile.size(), more = site.shape.size() < rank ? 0 : site.shape.size() - rank;
  bool fills = site.shape.size() >= rank;
  for (std::size_t d = 0; fills && d < rank; ++d) fills = site.shape[more + d] % site.layout.tile[d] == 0;
  if (fills) return std::nullopt;
  return Cat(ToString(site.shape), " in the layout ", site.layout.name, ", whose tile is ", ToString(site.layout.tile));
}

// In a layout whose banks are not counted by hand.
std::optional<std::string> OtherBanks(const ReadSite& site) {
  if (!site.lanes) return std::nullopt;
  const std::optional<layouts::InMemory> memory = layouts::InMemoryOf(site.kernel, site.op.args[0]);
  const std::optional<layouts::Spread> spread = layouts::SpreadOf(site.registers, site.op.types[0]);
  if (!memory.has_value() || !spread.has_value() || !layouts::HasNoOrder(*spread, *memory)) return std::nullopt;
  return Cat(ToString(site.shape), " of ", ToString(site.view.ref), " in the layout ", site.layout.name);
}

std::optional<std::string> Banks(const ReadSite& site) {
  const layouts::GpuView& view = site.view;
  if (view.ref.space != Space::kSmem || Fills(site).has_value()) return std::nullopt;
  const Attr* optimized = Find(site.op.attrs, "optimized");
  const bool* given = optimized == nullptr ? nullptr : std::get_if<bool>(&optimized->value);
  if (given != nullptr && !*given) return std::nullopt;
  if (site.layout.vector == 0) return OtherBanks(site);
  const std::int64_t bytes = site.layout.vector * view.bits() / 8;
  const bool tiles = !view.tile.empty(), swizzled = view.swizzle().has_value(), native = site.layout.lanes_of_row == 1;
  if (!site.lanes && (!native || bytes >= kChunk)) return std::nullopt;
  std::int64_t at_once = 1;
  if (tiles && swizzled) {
    at_once = native && bytes > 0 ? 2 * kChunk / bytes : 1;
  } else if (!tiles && !swizzled && !view.ref.shape.empty()) {
    const std::int64_t row = view.ref.shape.back() * view.bits() / 8;
    const std::int64_t rows =
        kLanes / std::max<std::int64_t>(1, bytes / layouts::kBankBytes) / site.layout.lanes_of_row;
    at_once = rows * std::gcd(row, kRowOfBanks) / kRowOfBanks;
  }
  if (at_once <= kStaggered) return std::nullopt;
  return Cat(ToString(site.shape), " of ", ToString(view.ref), " in the layout ", site.layout.name, ", ", at_once,
             " lanes at one bank");
}

constexpr GpuLimit<ReadSite> kReadLimits[] = {
    {{"layout.tiles",
      "an array that is read in a tiled layout has the dimensions of the layout at its end, and fills the "
      "layout's tiles",
      "Mosaic GPU, TiledLayout.registers_shape", "read it in another layout, or in another shape"},
     Fills},
    {{"layout.banks",
      "where SMEM is read in a tiled layout, at most two lanes read from one bank at once; with warpgroup "
      "semantics this holds for TCGEN05_TMEM_NATIVE of less than 8 bytes",
      "Mosaic GPU, plan_tiled_transfer",
      "tile and swizzle the ref, or write plgpu.load(ref, (), layout=..., optimized=False)"},
     Banks},
};

bool Transposes(const layouts::GpuView& view) {
  return std::any_of(view.rest.begin(), view.rest.end(),
                     [](const Transform& transform) { return transform.kind != Transform::Kind::kAt; });
}

void Look(Legality& legality, const layouts::GpuFacts& facts, const Instr& read, const Instr& cast) {
  const bool reads = RowOf(read).access == RefAccess::kLoad && RowOf(read).backends.accepts(Backend::kMosaicGpu);
  if (!reads || !layouts::IsLayoutCast(cast) || read.args.empty() || cast.args.empty() || read.results.size() != 1)
    return;
  if (!layouts::IsRefArg(*facts.kernel, read.args[0]) || cast.args[0].kind != Arg::Kind::kValue) return;
  if (read.results[0] != cast.args[0].value || read.types[0].shape.empty()) return;
  const std::optional<Tiles> tiles = TilesOf(layouts::WordOf(cast.attrs, "layout"));
  const layouts::GpuView view = layouts::GpuViewOf(*facts.kernel, read.args[0]);
  const bool known = view.ref.space == Space::kSmem || view.ref.space == Space::kGmem;
  if (!tiles.has_value() || !known || Transposes(view)) return;
  const ReadSite site{*facts.kernel,
                      read,
                      facts.lanes,
                      view,
                      read.types[0].shape,
                      *tiles,
                      layouts::LayoutFromText(layouts::WordOf(cast.attrs, "layout"))};
  Judge(legality, read, absl::Span<const GpuLimit<ReadSite>>(kReadLimits), site);
}

void Walk(Legality& legality, const layouts::GpuFacts& facts, const Region& region) {
  for (std::size_t i = 0; i < region.body.size(); ++i) {
    if (i + 1 < region.body.size()) Look(legality, facts, region.body[i], region.body[i + 1]);
    for (const Region& inner : region.body[i].regions) Walk(legality, facts, inner);
  }
}

}  // namespace

void CheckReads(Legality& legality, const layouts::GpuFacts& facts) {
  Walk(legality, facts, facts.kernel->bodies[0].region);
}

void ListReadLimits(std::vector<LimitText>& texts) {
  ListLimits(absl::Span<const GpuLimit<ReadSite>>(kReadLimits), texts);
}

}  // namespace palladion::legality
