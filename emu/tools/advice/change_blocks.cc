// Blocks twice, four times, ... as large, or as small, in one size: a grid of as many programs fewer, or more. All
// sizes of blocks, scratch and what the body computes that are equal change together (emu/tools/edit/resize.h), and
// with them each dimension of the grid whose number is the index of such a block, and what JAX folded from it
// (folded.h). It is for grids whose blocks the backend copies, not for meshes of GPU threads. Sums over blocks are then
// rounded in another order, and such a change is refused for its other results.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "emu/tools/advice/change.h"
#include "emu/tools/advice/folded.h"
#include "emu/tools/edit/resize.h"
#include "semantics/base/cat.h"

namespace palladion::advice {
namespace {

constexpr std::int64_t kLargestFactor = 64;  // a run of the model for each power of two

// The dimension of the grid whose number is this index; nothing where it is not one alone.
std::optional<std::size_t> GridDimOf(const Region& map, std::size_t dim) {
  const Arg& index = map.results[dim];
  if (index.kind != Arg::Kind::kValue) return std::nullopt;
  for (std::size_t d = 0; d < map.params.size(); ++d) {
    if (map.params[d].value == index.value) return d;
  }
  return std::nullopt;
}

// A block does not move along this dimension.
bool IsFixed(const Region& map, std::size_t dim) { return map.results[dim].kind == Arg::Kind::kLiteral; }

// A block of this size along a dimension of an array.
struct Blocked {
  std::string array;
  std::int64_t size = 0;  // of the array
};

struct Sizes {
  std::set<std::size_t> grid;   // dimensions of the grid that follow
  std::vector<Blocked> blocks;  // that move along one
  std::string unsure;           // why they cannot change
};

// Of blocks of one size: to which size, by which power of two.
struct Step {
  std::int64_t from = 1, to = 1, factor = 2;
  bool larger() const { return to > from; }
  std::int64_t Programs(std::int64_t before) const { return larger() ? before / factor : before * factor; }
};

// Blocks of each size, over all operands.
std::map<std::int64_t, Sizes> SizesOf(const Kernel& kernel) {
  std::map<std::int64_t, Sizes> sizes;
  for (const Operand& operand : kernel.operands) {
    if (!operand.block.has_value()) continue;
    const BlockSpec& block = *operand.block;
    const Shape& array = kernel.values[operand.value.index()].type.shape;
    for (std::size_t d = 0; d < std::min(block.dims.size(), array.size()); ++d) {
      if (block.dims[d].kind != BlockDim::Kind::kBlocked) continue;
      Sizes& of = sizes[block.dims[d].size];
      const std::optional<std::size_t> moved = GridDimOf(block.map, d);
      const std::string name = Cat("a block of ", kernel.values[operand.value.index()].name, " has that size");
      if (moved.has_value() && *moved < kernel.launch.grid.size()) {
        of.grid.insert(*moved);
        of.blocks.push_back({kernel.values[operand.value.index()].name, array[d]});
      } else if (!IsFixed(block.map, d) || block.dims[d].size != array[d]) {
        of.unsure = Cat(name, " and no index that is one dimension of the grid");
      } else {
        of.unsure = Cat(name, " and is all of it");
      }
    }
  }
  return sizes;
}

std::string Listed(const Launch& launch, const std::set<std::size_t>& dims) {
  std::string list;
  for (const std::size_t d : dims) {
    const bool named = d < launch.names.size() && !launch.names[d].empty();
    Append(&list, list.empty() ? "" : ", ", named ? launch.names[d] : Cat(d));
  }
  return list;
}

// "" where the blocks may have that size.
std::string WhyNot(const Kernel& kernel, const Step& step, const Sizes& of) {
  if (!of.unsure.empty()) return of.unsure;
  for (const Blocked& one : of.blocks) {
    if (step.larger() && one.size % step.to != 0)
      return Cat("a block of ", one.array, " has that size, and ", step.to, " does not divide ", one.size);
  }
  if (!step.larger() && step.from % step.factor != 0) return "half of it is no whole number";
  for (const std::size_t d : of.grid) {
    const GridDim& dim = kernel.launch.grid[d];
    if (dim.bound.valid()) return "the size of the grid is an operand";
    if (step.larger() && dim.size % step.factor != 0)
      return Cat("half of the ", dim.size, " programs is no whole number");
    // Others that go with this dimension of the grid have another size, and would stay as they are.
    for (const auto& [other, sizes] : SizesOf(kernel)) {
      if (other != step.from && sizes.grid.count(d) != 0)
        return Cat("blocks of ", other, " go along the same dimension of the grid");
    }
  }
  return "";
}

// Why the kernel cannot have it, "" where it has.
std::string Change(const Step& step, const Sizes& of, Kernel& kernel) {
  edit::Resize(
      kernel,
      {.size = [&](std::int64_t one) { return one == step.from ? step.to : one; }, .arrays = false, .numbers = false});
  for (const std::size_t d : of.grid) {
    std::int64_t& programs = kernel.launch.grid[d].size;
    const std::int64_t before = std::exchange(programs, step.Programs(programs));
    std::string why = FollowGrid(
        kernel,
        {.dim = d, .programs_before = before, .programs = programs, .block_before = step.from, .block = step.to});
    if (!why.empty()) return why;
  }
  return "";
}

// Further and further in one direction.
void FindSeries(const Module& module, std::int64_t size, const Sizes& of, bool larger, Found& found) {
  const Kernel& kernel = module.kernels[0];
  const std::string along = Cat(" for ", size, " along ", Listed(kernel.launch, of.grid), " of the grid");
  for (Step step{.from = size}; step.factor <= kLargestFactor; step.factor *= 2) {
    step.to = larger ? size * step.factor : size / step.factor;
    Candidate candidate{.what = Cat("blocks of ", step.to, along),
                        .text_line = kernel.text_line,
                        .loc = {},
                        .same_traffic = false,
                        .series = Cat(larger ? "larger" : "smaller", " blocks of ", size),
                        .module = module};
    std::string why = WhyNot(kernel, step, of);
    if (why.empty()) why = Change(step, of, candidate.module.kernels[0]);
    if (!why.empty()) {
      if (step.factor == 2) found.not_tried.push_back({candidate.what, kernel.text_line, {}, why});
      return;
    }
    found.candidates.push_back(std::move(candidate));
  }
}

}  // namespace

Found FindBlocks(const Module& module) {
  Found found;
  const Kernel& kernel = module.kernels[0];
  if (!kernel.launch.mesh.empty() || kernel.launch.grid.empty()) return found;
  for (const auto& [size, of] : SizesOf(kernel)) {
    if (of.grid.empty()) continue;
    for (const bool larger : {true, false}) FindSeries(module, size, of, larger, found);
  }
  return found;
}

}  // namespace palladion::advice
