#include "emu/check/legality/tpu/tiles.h"

#include <algorithm>
#include <utility>

#include "emu/check/legality/tpu/limits.h"
#include "emu/chip/layouts/tiles.h"
#include "semantics/ir/view_type.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kLanes = 128, kSublanes = 8, kWord = 32;

// From where on 16-bit arrays have tiles of 16 rows.
bool HasTallTiles(std::int64_t bits, TileOwner owner, const machines::Chip* chip) {
  constexpr int kOperands = 7, kScratch = 6;  // the generation
  if (bits < 16) return true;
  return bits == 16 && chip != nullptr && chip->generation >= (owner == TileOwner::kOperand ? kOperands : kScratch);
}

// What the kernel sees of an operand, dimensions that its block leaves out counted as 1: where they are.
std::vector<std::int64_t> WholeShape(const Legality& legality, ValueId ref, Shape& shape) {
  const Operand* operand = legality.OperandOf(ref);
  const Shape& seen = legality.kernel().values[ref.index()].type.shape;
  std::vector<std::int64_t> dims;
  shape.clear();
  const bool squeezed = operand != nullptr && operand->block.has_value() && operand->block->dims.size() > seen.size();
  for (std::size_t d = 0; squeezed && d < operand->block->dims.size(); ++d) {
    const bool left_out = operand->block->dims[d].kind == BlockDim::Kind::kSqueezed;
    if (!left_out) dims.push_back(static_cast<std::int64_t>(d));
    shape.push_back(left_out ? 1 : operand->block->dims[d].size);
  }
  if (dims.size() == seen.size() && squeezed) return dims;
  dims.clear();
  shape = seen;
  for (std::size_t d = 0; d < seen.size(); ++d) dims.push_back(static_cast<std::int64_t>(d));
  return dims;
}

std::optional<std::int64_t> LiteralSize(const Arg& size) {
  if (size.kind != Arg::Kind::kLiteral || size.literal.dtype != DType::kI32) return std::nullopt;
  std::int32_t number = 0;
  std::copy_n(size.literal.bytes.begin(), sizeof(number), reinterpret_cast<std::byte*>(&number));
  return number;
}

// nullopt: an index that is no scalar and no slice.
std::optional<SlicedDim> DimOf(const Kernel& kernel, const Index& index, SlicedDim dim) {
  dim.step = index.stride;
  switch (index.kind) {
    case Index::Kind::kFull:
      dim.size = dim.from;
      return dim;
    case Index::Kind::kPoint:
      if (!TypeOfArg(kernel, index.start).shape.empty()) return std::nullopt;
      dim.size = 1;
      dim.start = &index.start;
      return dim;
    case Index::Kind::kSlice:
      dim.size = LiteralSize(index.size);
      dim.start = &index.start;
      return dim;
    default:
      return std::nullopt;
  }
}

// What a chain of views shows so far: dimensions of the whole array, and how much of each.
struct Shown {
  std::vector<std::int64_t> dims;
  Shape sizes;
};

// nullopt: an `.at` that is not judged. `rest`: what it leaves, none where what follows is not judged.
std::optional<Slicing> SliceBy(const Kernel& kernel, const Transform& at, const Shown& shown, Slicing slicing,
                               std::optional<Shown>& rest) {
  if (at.kind != Transform::Kind::kAt || at.indices.size() != shown.dims.size()) return std::nullopt;
  const std::size_t rank = slicing.array.size(), tiled_from = rank - std::min<std::size_t>(rank, 2);
  Shown kept;
  bool ends = false;
  for (std::size_t d = 0; d < shown.dims.size(); ++d) {
    const SlicedDim seen{.array = shown.dims[d], .from = shown.sizes[d]};
    const std::optional<SlicedDim> dim = DimOf(kernel, at.indices[d], seen);
    if (!dim.has_value()) return std::nullopt;
    slicing.dims.push_back(*dim);
    const bool left_out = at.indices[d].kind == Index::Kind::kPoint;
    ends |= (left_out && static_cast<std::size_t>(seen.array) >= tiled_from) || !dim->size.has_value();
    if (left_out) continue;
    kept.dims.push_back(seen.array);
    kept.sizes.push_back(dim->size.value_or(0));
  }
  rest = ends ? std::nullopt : std::optional(std::move(kept));
  return slicing;
}

}  // namespace

Tiling TilingOf(DType dtype, const Shape& shape, TileOwner owner, const machines::Chip* chip) {
  const std::int64_t bits = IsBool(dtype) ? kWord : Info(dtype).bits;
  const std::int64_t packing = layouts::PackingOf(dtype);
  if (shape.empty()) return {};
  if (shape.size() == 1)
    return {1, 1, layouts::TileRows((shape[0] + kLanes - 1) / kLanes, packing, kSublanes) * kLanes};
  const std::int64_t rows = shape[shape.size() - 2], tall = kSublanes * packing;
  if (bits == kWord && shape.back() <= kLanes) return {};  // rows are free
  if (packing > 1 && rows % tall == 0 && HasTallTiles(bits, owner, chip)) return {tall, kSublanes, kLanes};
  const std::int64_t tile = layouts::TileRows(rows, packing, kSublanes);
  return {tile, tile, kLanes};
}

std::vector<Slicing> SlicingsOf(const Legality& legality, const Arg& view) {
  std::vector<Slicing> slicings;
  const Kernel& kernel = legality.kernel();
  if (view.kind != Arg::Kind::kValue || !view.value.valid()) return slicings;
  const ValueInfo& info = kernel.values[view.value.index()];
  if (!info.type.is_ref() || info.type.element != ElementKind::kData || !info.type.key_impl.empty()) return slicings;
  const Operand* operand = legality.OperandOf(view.value);
  const bool scratch = operand != nullptr && operand->role == Role::kScratch;
  Slicing first{.name = info.label.empty() ? info.name : info.label,
                .dtype = info.type.dtype,
                .space = TpuSpace(legality.SpaceOf(view.value))};
  std::optional<Shown> shown(std::in_place);
  shown->dims = WholeShape(legality, view.value, first.array);
  for (const std::int64_t dim : shown->dims) shown->sizes.push_back(first.array[static_cast<std::size_t>(dim)]);
  first.tiling =
      TilingOf(first.dtype, first.array, scratch ? TileOwner::kScratch : TileOwner::kOperand, legality.chip());
  for (std::size_t t = 0; t < view.transforms.size() && shown.has_value(); ++t) {
    first.is_last = t + 1 == view.transforms.size();
    std::optional<Shown> rest;
    std::optional<Slicing> slicing = SliceBy(kernel, view.transforms[t], *shown, first, rest);
    if (!slicing.has_value()) return slicings;
    slicings.push_back(*std::move(slicing));
    shown = std::move(rest);
  }
  return slicings;
}

}  // namespace palladion::legality
