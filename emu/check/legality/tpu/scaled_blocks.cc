#include "emu/check/legality/tpu/scaled_blocks.h"

#include <algorithm>
#include <utility>

#include "emu/chip/layouts/tiles.h"
#include "emu/chip/layouts/windows.h"
#include "semantics/base/cat.h"
#include "semantics/base/saturating.h"

namespace palladion::legality {
namespace {

// The dimensions of a block that the body sees.
std::vector<std::size_t> KeptDims(const BlockSpec& block) {
  std::vector<std::size_t> kept;
  for (std::size_t d = 0; d < block.dims.size(); ++d) {
    if (block.dims[d].kind != BlockDim::Kind::kSqueezed) kept.push_back(d);
  }
  return kept;
}

Shape KeptShape(const BlockSpec& block) {
  Shape shape;
  for (const std::size_t d : KeptDims(block)) shape.push_back(block.dims[d].size);
  return shape;
}

}  // namespace

ScaledBlocks::ScaledBlocks(const Legality& legality)
    : legality_(legality), scaled_(legality.kernel()), scaled_legality_(legality.Of(scaled_)) {
  for (std::size_t d = 0; d < was().launch.grid.size(); ++d) Add(d);
  AddBuffers();
}

std::vector<std::size_t> ScaledBlocks::Now() const {
  std::vector<std::size_t> now;
  for (const ScaledDim& dim : dims_) now.push_back(dim.now);
  return now;
}

void ScaledBlocks::LimitChoices(std::size_t most) {
  const auto choices = [&] {
    std::size_t product = 1;
    for (const ScaledDim& dim : dims_) product *= dim.scales.size();
    return product;
  };
  while (choices() > most) {
    ScaledDim& dim = *std::max_element(dims_.begin(), dims_.end(), [](const ScaledDim& a, const ScaledDim& b) {
      return a.scales.size() < b.scales.size();
    });
    if (dim.now > dim.scales.size() - 1 - dim.now) {
      dim.scales.erase(dim.scales.begin());
      --dim.now;
    } else {
      dim.scales.pop_back();
      dim.whole = false;
    }
  }
}

const Legality& ScaledBlocks::At(const std::vector<std::size_t>& choice) {
  for (std::size_t k = 0; k < dims_.size(); ++k) {
    scaled_.launch.grid[dims_[k].dimension].size = ProgramsAt(k, choice[k]);
    for (const BlockPlace& place : dims_[k].places)
      scaled_.operands[place.operand].block->dims[place.dim].size = dims_[k].scales[choice[k]].Of(SizeAt(place));
  }
  for (const Buffer& buffer : buffers_) {
    const std::int64_t size = was().values[buffer.value].type.shape[buffer.dim];
    std::int64_t scaled = 0;
    for (const std::size_t k : buffer.follows) scaled = std::max(scaled, dims_[k].scales[choice[k]].Of(size));
    scaled_.values[buffer.value].type.shape[buffer.dim] = scaled;
  }
  return scaled_legality_;
}

std::int64_t ScaledBlocks::ProgramsAt(std::size_t dim, std::size_t scale) const {
  const std::int64_t now = was().launch.grid[dims_[dim].dimension].size;
  const BlockScale& by = dims_[dim].scales[scale];
  return SaturatingAdd(SaturatingMultiply(now, by.part), by.times - 1) / by.times;
}

void ScaledBlocks::Add(std::size_t dimension) {
  const auto not_scaled = [&](const std::string& why) {
    not_scaled_.push_back(Cat("grid dimension ", dimension, ": ", why));
  };
  if (was().launch.grid[dimension].bound.valid()) return not_scaled("its size is an operand's value");
  ScaledDim dim{.dimension = dimension};
  for (std::size_t i = 0; i < was().operands.size(); ++i) {
    const Operand& operand = was().operands[i];
    if (!operand.block.has_value() || !IsWhole(operand)) continue;
    if (layouts::ResultsOf(was(), *operand.block, dimension).empty()) continue;
    const std::optional<std::size_t> direct = DirectDim(*operand.block, dimension);
    if (!direct.has_value())
      return not_scaled(Cat("the index map of '", legality_.NameOf(operand), "' computes with it"));
    if (operand.block->dims[*direct].kind != BlockDim::Kind::kBlocked)
      return not_scaled(Cat("it picks one of a dimension of '", legality_.NameOf(operand), "'"));
    dim.places.push_back({i, *direct});
  }
  if (dim.places.empty()) return not_scaled("no block depends on it");
  AddScales(&dim);
  dims_.push_back(std::move(dim));
}

void ScaledBlocks::AddScales(ScaledDim* dim) const {
  dim->scales.push_back({});
  for (std::int64_t part = 2; Shrinks(*dim, part); part = SaturatingMultiply(part, 2))
    dim->scales.insert(dim->scales.begin(), {.part = part});
  dim->now = dim->scales.size() - 1;
  for (std::int64_t times = 2; Grows(*dim, times); times = SaturatingMultiply(times, 2))
    dim->scales.push_back({.times = times});
  const auto is_whole = [&](std::int64_t times) {
    return std::all_of(dim->places.begin(), dim->places.end(), [&](const BlockPlace& place) {
      return SaturatingMultiply(SizeAt(place), times) == TypeOf(place.operand).shape[place.dim];
    });
  };
  const std::int64_t programs = was().launch.grid[dim->dimension].size;
  if (programs > dim->scales.back().times && is_whole(programs)) dim->scales.push_back({.times = programs});
  dim->whole = is_whole(dim->scales.back().times);
}

bool ScaledBlocks::Shrinks(const ScaledDim& dim, std::int64_t part) const {
  return std::all_of(dim.places.begin(), dim.places.end(), [&](const BlockPlace& place) {
    const std::int64_t size = SizeAt(place);
    return size % part == 0 && (size / part) % StepOf(place) == 0;
  });
}

bool ScaledBlocks::Grows(const ScaledDim& dim, std::int64_t times) const {
  return std::all_of(dim.places.begin(), dim.places.end(), [&](const BlockPlace& place) {
    const std::int64_t size = SizeAt(place), all = TypeOf(place.operand).shape[place.dim];
    if (SaturatingMultiply(size, times) > all) return false;
    const bool divides = all % size == 0;
    return !divides || (all % (size * times) == 0 && was().launch.grid[dim.dimension].size % times == 0);
  });
}

// The one dimension of the block whose index is that of the grid's, where no other depends on it.
std::optional<std::size_t> ScaledBlocks::DirectDim(const BlockSpec& block, std::size_t dimension) const {
  const std::vector<std::size_t> results = layouts::ResultsOf(was(), block, dimension);
  if (results.size() != 1) return std::nullopt;
  const Arg& result = block.map.results[results[0]];
  const bool is_direct = result.kind == Arg::Kind::kValue && result.value == block.map.params[dimension].value;
  return is_direct ? std::optional(results[0]) : std::nullopt;
}

// A text that was only parsed may have blocks of another rank than their array.
bool ScaledBlocks::IsWhole(const Operand& operand) const {
  const std::size_t rank = was().values[operand.value.index()].type.shape.size();
  return operand.block->dims.size() == rank && operand.block->map.results.size() == rank;
}

// The least step of a block's dimension: whole tiles.
std::int64_t ScaledBlocks::StepOf(const BlockPlace& place) const {
  const machines::Chip& chip = *legality_.chip();
  const Type& type = TypeOf(place.operand);
  const std::size_t rank = type.shape.size();
  if (place.dim + 1 == rank) return rank == 1 ? chip.lanes * chip.sublanes : chip.lanes;
  return place.dim + 2 == rank ? chip.sublanes * layouts::PackingOf(type.dtype) : 1;
}

const Type& ScaledBlocks::TypeOf(std::size_t operand) const {
  return was().values[was().operands[operand].value.index()].type;
}

std::int64_t ScaledBlocks::SizeAt(const BlockPlace& place) const {
  return was().operands[place.operand].block->dims[place.dim].size;
}

void ScaledBlocks::AddBuffers() {
  for (std::size_t v = 0; v < was().values.size(); ++v) {
    const Type& type = was().values[v].type;
    if (!type.is_ref() || type.element != ElementKind::kData || IsOperandsRef(v)) continue;
    const std::optional<std::size_t> operand = OperandOfShape(type.shape);
    for (std::size_t d = 0; d < type.shape.size(); ++d) {
      std::vector<std::size_t> follows = Followed(operand, type.shape, d);
      if (!follows.empty()) buffers_.push_back({v, d, std::move(follows)});
    }
  }
}

std::optional<std::size_t> ScaledBlocks::OperandOfShape(const Shape& shape) const {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < was().operands.size(); ++i) {
    const Operand& operand = was().operands[i];
    if (!operand.block.has_value() || !IsWhole(operand) || KeptShape(*operand.block) != shape) continue;
    if (operand.role == Role::kOut) return i;
    if (!found.has_value()) found = i;
  }
  return found;
}

// What a dimension of an array of this shape follows: those of the block of its shape, or of any block.
std::vector<std::size_t> ScaledBlocks::Followed(std::optional<std::size_t> operand, const Shape& shape,
                                                std::size_t dim) const {
  std::vector<std::size_t> follows;
  const std::size_t from_end = shape.size() - dim;
  for (std::size_t k = 0; k < dims_.size(); ++k) {
    const bool any = std::any_of(dims_[k].places.begin(), dims_[k].places.end(), [&](const BlockPlace& place) {
      if (operand.has_value())
        return place.operand == *operand && KeptDims(*was().operands[*operand].block)[dim] == place.dim;
      const std::size_t rank = was().operands[place.operand].block->dims.size();
      return rank - place.dim == from_end && SizeAt(place) == shape[dim];
    });
    if (any) follows.push_back(k);
  }
  return follows;
}

// What an operand that is no scratch is called outside and inside of the body: its block is counted, not this.
bool ScaledBlocks::IsOperandsRef(std::size_t value) const {
  return std::any_of(was().operands.begin(), was().operands.end(), [&](const Operand& operand) {
    return operand.role != Role::kScratch && operand.value.index() == value;
  });
}

}  // namespace palladion::legality
