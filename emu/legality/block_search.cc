#include "emu/legality/block_search.h"

#include <algorithm>
#include <utility>

#include "emu/legality/tiles.h"
#include "emu/legality/windows.h"
#include "semantics/base/cat.h"

namespace palladion::legality {
namespace {

// A dimension of a block that follows a dimension of the grid.
struct Place {
  std::size_t operand = 0, dim = 0;
};

// The least step of a block's dimension: whole tiles.
std::int64_t StepOf(const Type& type, std::size_t dim, const machines::Chip& chip) {
  const std::size_t rank = type.shape.size();
  if (dim + 1 == rank) return rank == 1 ? chip.lanes * chip.sublanes : chip.lanes;
  return dim + 2 == rank ? chip.sublanes * PackingOf(type.dtype) : 1;
}

class Search {
 public:
  Search(const Legality& legality, const VmemUse& use) : legality_(legality), kernel_(legality.kernel()), use_(use) {}

  BlockSearch Take() {
    for (std::size_t d = 0; d < kernel_.launch.grid.size(); ++d) Along(d);
    return std::move(found_);
  }

 private:
  void Along(std::size_t d) {
    if (kernel_.launch.grid[d].bound.valid()) return NotTried(d, "its size is an operand's value");
    std::vector<Place> places;
    for (std::size_t i = 0; i < kernel_.operands.size(); ++i) {
      const Operand& operand = kernel_.operands[i];
      if (!operand.block.has_value() || !IsWhole(operand)) continue;
      if (ResultsOf(kernel_, *operand.block, d).empty()) continue;
      const std::optional<std::size_t> dim = DirectDim(*operand.block, d);
      if (!dim.has_value())
        return NotTried(d, Cat("the index map of '", legality_.NameOf(operand), "' computes with it"));
      if (operand.block->dims[*dim].kind != BlockDim::Kind::kBlocked)
        return NotTried(d, Cat("it picks one of a dimension of '", legality_.NameOf(operand), "'"));
      places.push_back({i, *dim});
    }
    if (places.empty()) return NotTried(d, "no block depends on it");
    const bool shrinks = use_.verdict() != VmemVerdict::kFits;
    for (std::int64_t scale = 2; Scalable(places, scale, shrinks); scale *= 2) {
      Try(d, places, scale, shrinks);
      const VmemVerdict verdict = found_.tries.back().verdict;
      if (verdict == VmemVerdict::kFits) Keep(found_.tries.size() - 1);
      if (shrinks == (verdict == VmemVerdict::kFits)) return;
    }
  }

  void NotTried(std::size_t d, const std::string& why) {
    found_.not_tried.push_back(Cat("grid dimension ", d, ": ", why));
  }

  // The one dimension of the block whose index is that of the grid's, where no other depends on it.
  std::optional<std::size_t> DirectDim(const BlockSpec& block, std::size_t d) const {
    const std::vector<std::size_t> results = ResultsOf(kernel_, block, d);
    if (results.size() != 1) return std::nullopt;
    const Arg& result = block.map.results[results[0]];
    const bool is_direct = result.kind == Arg::Kind::kValue && result.value == block.map.params[d].value;
    return is_direct ? std::optional(results[0]) : std::nullopt;
  }

  // A text that was only parsed may have blocks of another rank than their array.
  bool IsWhole(const Operand& operand) const {
    const std::size_t rank = TypeOf(operand).shape.size();
    return operand.block->dims.size() == rank && operand.block->map.results.size() == rank;
  }

  const Type& TypeOf(const Operand& operand) const { return kernel_.values[operand.value.index()].type; }
  std::int64_t SizeAt(const Place& place) const { return kernel_.operands[place.operand].block->dims[place.dim].size; }

  bool Scalable(const std::vector<Place>& places, std::int64_t scale, bool shrinks) const {
    return std::all_of(places.begin(), places.end(), [&](const Place& place) {
      const Type& type = TypeOf(kernel_.operands[place.operand]);
      const std::int64_t size = SizeAt(place);
      if (!shrinks) return size * scale <= type.shape[place.dim];
      return size % scale == 0 && (size / scale) % StepOf(type, place.dim, *legality_.chip()) == 0;
    });
  }

  void Try(std::size_t d, const std::vector<Place>& places, std::int64_t scale, bool shrinks) {
    Kernel scaled = kernel_;
    const auto at = [&](std::int64_t size) { return shrinks ? size / scale : size * scale; };
    BlockTry one{.dimension = d, .factor = shrinks ? 1.0 / static_cast<double>(scale) : static_cast<double>(scale)};
    const std::int64_t programs = one.programs_now = kernel_.launch.grid[d].size;
    one.programs = scaled.launch.grid[d].size = shrinks ? programs * scale : (programs + scale - 1) / scale;
    for (const Place& place : places) {
      Operand& operand = scaled.operands[place.operand];
      ScaledBlock& block = one.blocks.emplace_back();
      block.name = legality_.NameOf(kernel_.operands[place.operand]);
      for (const BlockDim& dim : operand.block->dims) block.before.push_back(dim.size);
      operand.block->dims[place.dim].size = at(SizeAt(place));
      for (const BlockDim& dim : operand.block->dims) block.after.push_back(dim.size);
    }
    ScaleBuffers(places, at, &scaled);
    const VmemUse use = VmemOf(legality_.Of(scaled));
    one.exact = use.exact();
    for (const SpillEstimate& spill : use_.estimates) {
      const double bytes = static_cast<double>(spill.bytes) * (spill.grows ? one.factor : 1.0);
      one.estimate += (static_cast<std::int64_t>(bytes) + 1023) / 1024 * 1024;
    }
    VmemUse judged{
        .parts = {{.one = one.exact}}, .estimates = {{.what = "", .bytes = one.estimate}}, .limit = use.limit};
    one.verdict = judged.verdict();
    found_.tries.push_back(std::move(one));
  }

  // Scratch and scopes with a dimension that is, counted from the end, as large as one of the blocks' that is scaled.
  template <class F>
  void ScaleBuffers(const std::vector<Place>& places, const F& at, Kernel* scaled) const {
    for (std::size_t v = 0; v < kernel_.values.size(); ++v) {
      const Type& type = kernel_.values[v].type;
      if (!type.is_ref() || type.element != ElementKind::kData || IsOperandsRef(v)) continue;
      for (const Place& place : places) {
        const std::size_t from_end = kernel_.operands[place.operand].block->dims.size() - place.dim;
        if (from_end > type.shape.size()) continue;
        const std::size_t dim = type.shape.size() - from_end;
        if (type.shape[dim] == SizeAt(place)) scaled->values[v].type.shape[dim] = at(SizeAt(place));
      }
    }
  }

  // What an operand that is no scratch is called outside and inside of the body: its block is counted, not this.
  bool IsOperandsRef(std::size_t value) const {
    for (const Operand& operand : kernel_.operands) {
      if (operand.role != Role::kScratch && operand.value.index() == value) return true;
    }
    return false;
  }

  void Keep(std::size_t number) {
    const auto better = [&](const BlockTry& a, const BlockTry& b) {
      return a.factor != b.factor ? a.factor > b.factor : a.exact > b.exact;
    };
    if (!found_.largest.has_value() || better(found_.tries[number], found_.tries[*found_.largest]))
      found_.largest = number;
  }

  const Legality& legality_;
  const Kernel& kernel_;
  const VmemUse& use_;
  BlockSearch found_;
};

// The same kernel with a grid of one step, whose index is that of the first dimension of its outputs and of operands
// that are as long. Nothing where the outputs differ in that.
std::optional<Kernel> WithGrid(const Legality& legality) {
  Kernel kernel = legality.kernel();
  std::optional<std::int64_t> rows;
  for (const Operand& operand : kernel.operands) {
    if (operand.role == Role::kPrefetch || operand.role == Role::kBound) return std::nullopt;
    if (operand.role != Role::kOut) continue;
    const Shape& shape = kernel.values[operand.value.index()].type.shape;
    if (shape.empty() || (rows.has_value() && *rows != shape[0])) return std::nullopt;
    rows = shape[0];
  }
  if (!rows.has_value() || !kernel.launch.mesh.empty()) return std::nullopt;
  const ValueId index{static_cast<std::int32_t>(kernel.values.size())};
  kernel.values.push_back({.name = "i", .type = ArrayType(DType::kI32, {}), .label = ""});
  kernel.launch.grid.emplace_back();
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    Operand& operand = kernel.operands[i];
    const Type& type = kernel.values[operand.value.index()].type;
    const Space space = legality.SpaceOf(i);
    const bool is_moved = space == Space::kVmem || space == Space::kDefault;
    if (operand.role == Role::kScratch || !is_moved || type.shape.empty() || type.shape[0] != *rows) continue;
    BlockSpec& block = operand.block.emplace();
    block.map.params.push_back({index, {}});
    for (std::size_t d = 0; d < type.shape.size(); ++d) {
      block.dims.emplace_back().size = type.shape[d];
      Arg& at = block.map.results.emplace_back();
      at.kind = d == 0 ? Arg::Kind::kValue : Arg::Kind::kLiteral;
      if (d == 0) at.value = index;
    }
  }
  return kernel;
}

}  // namespace

BlockSearch LargestBlocks(const Legality& legality, const VmemUse& use) {
  if (!legality.kernel().launch.grid.empty()) return Search(legality, use).Take();
  const std::optional<Kernel> kernel = WithGrid(legality);
  if (!kernel.has_value() || use.verdict() == VmemVerdict::kFits) return {};
  const Legality with = legality.Of(*kernel);
  BlockSearch search = Search(with, use).Take();
  for (BlockTry& one : search.tries) one.adds_grid = true;
  search.not_tried.clear();
  return search;
}

std::string GridText(const BlockTry& one) {
  if (one.adds_grid)
    return Cat("a grid of ", one.programs, " over the first dimension, if its rows do not depend on each other");
  return Cat(one.programs, " along grid dimension ", one.dimension, " instead of ", one.programs_now);
}

std::string BlockText(const BlockTry& one) {
  std::string text;
  std::vector<bool> said(one.blocks.size());
  for (std::size_t i = 0; i < one.blocks.size(); ++i) {
    if (said[i]) continue;
    Append(&text, text.empty() ? "" : ", ", ToString(one.blocks[i].after), " of '", one.blocks[i].name, "'");
    for (std::size_t j = i + 1; j < one.blocks.size(); ++j) {
      if (one.blocks[j].after != one.blocks[i].after) continue;
      Append(&text, ", '", one.blocks[j].name, "'");
      said[j] = true;
    }
  }
  return text;
}

std::string HeldText(const BlockTry& one) {
  return Cat(BytesText(one.exact), one.estimate == 0 ? "" : Cat(" and an estimated ", BytesText(one.estimate)));
}

}  // namespace palladion::legality
