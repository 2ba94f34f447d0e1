#include "emu/chip/layouts/layout_tables.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "emu/chip/layouts/bank_conflicts.h"
#include "emu/chip/layouts/layout_names.h"
#include "emu/chip/layouts/tiles.h"
#include "emu/chip/layouts/tmem_register_layouts.h"
#include "emu/chip/machines/chip.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"
#include "semantics/base/status.h"
#include "semantics/ir/tmem_layout.h"
#include "semantics/tensor/tensor.h"

namespace palladion::layouts {
namespace {

constexpr std::int64_t kMostElements = 65536, kBanks = 32;

JsonWriter& AddList(JsonWriter& json, std::string_view name, absl::Span<const std::int64_t> numbers) {
  json.Key(name).Open('[');
  for (const std::int64_t number : numbers) json.Number(number);
  return json.Close(']');
}

JsonWriter Begin(std::string_view kind, const TableRequest& request) {
  JsonWriter json;
  json.Open('{').Key("kind").String(kind).Key("layout").String(request.layout);
  json.Key("type").String(TypeString(request.type.dtype, request.type.shape));
  AddList(json, "shape", request.type.shape);
  return json;
}

// Goes on by the steps that `number` chooses.
void Step(const std::vector<Steps>& all, std::int64_t number, bool linear, absl::Span<std::int64_t> index) {
  for (std::size_t i = all.size(); i-- > 0;) {
    index[linear ? 0 : all[i].dim] += number % all[i].size * all[i].step;
    number /= all[i].size;
  }
}

std::vector<std::int64_t> IndexOf(std::int64_t element, const Shape& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = index.size(); d-- > 0;) {
    index[d] = element % shape[d];
    element /= shape[d];
  }
  return index;
}

std::int64_t ElementAt(absl::Span<const std::int64_t> index, const Shape& shape) {
  std::int64_t element = 0;
  for (std::size_t d = 0; d < index.size(); ++d) element = element * shape[d] + index[d];
  return element;
}

struct Holders {
  std::vector<std::int64_t> lane, slot, count;  // by element: the first lane of the group, its place there, how many
  std::vector<std::vector<std::int64_t>>
      first;  // of warp 0 in its first vector: where each lane's begins, by dimension
};

Holders HoldersOf(const Spread& spread) {
  const auto elements = static_cast<std::size_t>(NumElements(spread.shape));
  Holders holders{.lane = std::vector<std::int64_t>(elements, -1),
                  .slot = std::vector<std::int64_t>(elements, -1),
                  .count = std::vector<std::int64_t>(elements, 0),
                  .first = {}};
  for (std::int64_t warp = 0; warp < kWarpsOfGroup; ++warp) {
    for (std::int64_t lane = 0; lane < kLanesOfWarp; ++lane) {
      for (std::int64_t reg = 0; reg < spread.Registers(); ++reg) {
        std::vector<std::int64_t> index(spread.shape.size(), 0);
        Step(spread.registers, reg, spread.linear, absl::MakeSpan(index));
        Step(spread.warps, warp, spread.linear, absl::MakeSpan(index));
        Step(spread.lanes, lane, spread.linear, absl::MakeSpan(index));
        if (spread.linear) index = IndexOf(index[0], spread.shape);
        if (warp == 0 && reg == 0) holders.first.push_back(index);
        std::int64_t stride = 1;
        for (std::size_t d = spread.vector_dim + 1; d < spread.shape.size(); ++d) stride *= spread.shape[d];
        for (std::int64_t v = 0; v < spread.vector; ++v) {
          const auto at = static_cast<std::size_t>(ElementAt(index, spread.shape) + v * stride);
          if (at >= elements) continue;
          if (holders.count[at]++ > 0) continue;
          holders.lane[at] = warp * kLanesOfWarp + lane;
          holders.slot[at] = reg * spread.vector + v;
        }
      }
    }
  }
  return holders;
}

// As JAX prints it, or the bare name: "Layout.WGMMA", "WGMMA".
RegisterLayout NamedRegisters(const std::string& name) {
  for (const std::string& text : {name, Cat("Layout.", name)}) {
    if (RegisterLayout layout = LayoutFromText(text); layout.known()) return layout;
  }
  const std::optional<TiledLayout> tiled = GivenLayout(name);
  return tiled.has_value() ? RegisterLayout(*tiled) : RegisterLayout();
}

absl::StatusOr<Spread> SpreadNamed(const std::string& name, const Type& type) {
  RegisterLayout layout = NamedRegisters(name);
  if (!layout.known())
    return absl::InvalidArgumentError(Cat("no layout of registers is called '", name, "'; there are ",
                                          PublicLayoutNames(), ", and the memories smem, vmem and tmem"));
  if (layout.kind == RegisterLayout::Kind::kStrided && layout.vector == 0)
    layout.vector = StridedVector(type).value_or(0);
  const bool has_vectors = layout.kind != RegisterLayout::Kind::kStrided || layout.vector > 0;
  const std::optional<Spread> spread = has_vectors ? SpreadOf(layout, type) : std::nullopt;
  if (spread.has_value()) return *spread;
  return absl::InvalidArgumentError(Cat("an array ", TypeString(type.dtype, type.shape), " does not have the layout ",
                                        name, ": it does not divide its shape, or every lane holds all of it"));
}

absl::StatusOr<std::string> Registers(const TableRequest& request) {
  PALLADION_ASSIGN_OR_RETURN(const Spread spread, SpreadNamed(request.layout, request.type));
  const Holders holders = HoldersOf(spread);
  JsonWriter json = Begin("registers", request);
  json.Key("name").String(NameOf(NamedRegisters(request.layout))).Key("vector").Number(spread.vector);
  json.Key("held").Number(spread.Registers() * spread.vector);
  AddList(AddList(json, "lane", holders.lane), "slot", holders.slot);
  return json.Key("copies").Number(*std::max_element(holders.count.begin(), holders.count.end())).Close('}').Take();
}

absl::StatusOr<InMemory> MemoryOf(const TableRequest& request) {
  const Shape& shape = request.type.shape;
  InMemory memory{.dims = {}, .swizzle = request.swizzle, .bits = Info(request.type.dtype).bits};
  if (request.swizzle != 0 && request.swizzle != 16 && request.swizzle != 32 && request.swizzle != 64 &&
      request.swizzle != 128)
    return absl::InvalidArgumentError(Cat("a swizzle is of 128, 64, 32 or 16 bytes; found ", request.swizzle));
  if (!request.tile.empty() && request.tile.size() != shape.size())
    return absl::InvalidArgumentError("tile has a size for each dimension of shape");
  std::int64_t stride = 1, tile_stride = 1;
  for (const std::int64_t size : request.tile) tile_stride *= size;
  for (std::size_t d = shape.size(); d-- > 0;) {
    InMemory::Dim dim{.size = shape[d], .stride = stride};
    if (!request.tile.empty()) {
      if (request.tile[d] < 1 || shape[d] % request.tile[d] != 0)
        return absl::InvalidArgumentError("tile divides shape in each dimension");
      dim.tile = request.tile[d];
      dim.tile_stride = tile_stride;
      tile_stride *= shape[d] / request.tile[d];
    }
    stride *= request.tile.empty() ? shape[d] : request.tile[d];
    memory.dims.insert(memory.dims.begin(), dim);
  }
  return memory;
}

absl::StatusOr<std::string> SharedMemory(const TableRequest& request) {
  PALLADION_ASSIGN_OR_RETURN(const InMemory memory, MemoryOf(request));
  std::vector<std::int64_t> bytes;
  for (std::int64_t i = 0; i < NumElements(request.type.shape); ++i) {
    bytes.push_back(memory.ByteOf(IndexOf(i, request.type.shape)));
  }
  JsonWriter json = Begin("smem", request);
  AddList(json.Key("swizzle").Number(request.swizzle), "tile", request.tile);
  AddList(json.Key("banks").Number(kBanks).Key("bank_bytes").Number(kBankBytes), "byte", bytes);
  if (request.access.empty()) return json.Close('}').Take();
  PALLADION_ASSIGN_OR_RETURN(const Spread spread, SpreadNamed(request.access, request.type));
  const std::optional<SharedTransfer> transfer = TransferOf(spread, memory, {.banks = kBanks});
  if (!transfer.has_value())
    return absl::InvalidArgumentError(Cat("a vector of ", request.access, " is not one piece of this memory"));
  std::vector<std::int64_t> first;
  for (const std::vector<std::int64_t>& index : HoldersOf(spread).first) first.push_back(memory.ByteOf(index));
  AddList(json.Key("access").String(NameOf(NamedRegisters(request.access))), "first", first);
  json.Key("vector_bytes").Number(spread.vector * memory.bits / 8).Key("turns").Number(transfer->turns);
  json.Key("least").Number(transfer->least).Key("selects").Number(transfer->selects);
  return json.Key("refused").Bool(transfer->refused).Close('}').Take();
}

absl::StatusOr<std::string> VectorMemory(const TableRequest& request) {
  const machines::Chip* chip = machines::FindChip(request.chip);
  if (chip == nullptr || !chip->is_tpu)
    return absl::InvalidArgumentError(Cat("tiles of vector memory are a TPU's; '", request.chip, "' is none"));
  const Shape& shape = request.type.shape;
  const std::int64_t packing = PackingOf(request.type.dtype);
  const std::int64_t rows = shape.size() == 1 ? (shape[0] + chip->lanes - 1) / chip->lanes : shape[shape.size() - 2];
  JsonWriter json = Begin("vmem", request);
  json.Key("chip").String(chip->name).Key("packing").Number(packing);
  AddList(json, "tile", {TileRows(rows, packing, chip->sublanes), chip->lanes});
  json.Key("sublanes").Number(chip->sublanes).Key("bytes").Number(TiledBytes(request.type, shape, *chip));
  return json.Key("dense").Number(DenseBytes(request.type, shape)).Close('}').Take();
}

absl::StatusOr<std::string> TensorMemory(const TableRequest& request) {
  const std::int64_t bits = Info(request.type.dtype).bits;
  TmemLayout layout{.packing = request.packed ? kTmemCellBits / bits : 1};
  layout.tile_columns = layout.packing;
  PALLADION_RETURN_IF_ERROR(CheckTmemShape(layout, request.type));
  const std::optional<TiledLayout> tiled = AsRegisters(layout);
  const std::optional<Spread> spread =
      tiled.has_value() ? SpreadOf(RegisterLayout(*tiled), request.type) : std::nullopt;
  if (!spread.has_value()) return absl::InvalidArgumentError("tensor memory does not hold an array of this shape");
  const Holders holders = HoldersOf(*spread);
  std::vector<std::int64_t> column;
  for (const std::int64_t slot : holders.slot) column.push_back(slot / layout.packing);
  JsonWriter json = Begin("tmem", request);
  json.Key("packing").Number(layout.packing).Key("columns").Number(TmemColumns(layout, request.type.shape));
  AddList(AddList(json, "lane", holders.lane), "column", column);
  return json.Close('}').Take();
}

}  // namespace

absl::StatusOr<std::string> LayoutTable(const TableRequest& request) {
  const Shape& shape = request.type.shape;
  const bool positive = std::all_of(shape.begin(), shape.end(), [](std::int64_t size) { return size > 0; });
  if (shape.empty() || shape.size() > 2 || !positive || NumElements(shape) > kMostElements)
    return absl::InvalidArgumentError(
        Cat("a layout is drawn of an array of one or two dimensions with 1 to ", kMostElements, " elements"));
  if (request.layout == "smem") return SharedMemory(request);
  if (request.layout == "vmem") return VectorMemory(request);
  if (request.layout == "tmem") return TensorMemory(request);
  return Registers(request);
}

}  // namespace palladion::layouts
