// Blocks twice as large, or half, in one size: a grid of half as many programs, or twice. All sizes of blocks, scratch
// and what the body computes that are equal change together (emu/tools/edit/resize.h), and with them each dimension of
// the grid whose number is the index of such a block. It is for grids whose blocks the backend copies, not for meshes
// of GPU threads. Sums over blocks are then rounded in another order, and such a change is refused for its other
// results.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "emu/tools/advice/change.h"
#include "emu/tools/edit/resize.h"
#include "semantics/base/cat.h"

namespace palladion::advice {
namespace {

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

struct Sizes {
  std::set<std::size_t> grid;    // dimensions of the grid that follow
  std::string unsure, no_twice;  // why they cannot change, or not grow
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
        if (array[d] % (2 * block.dims[d].size) != 0)
          of.no_twice = Cat(name, ", and twice of it does not divide ", array[d]);
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

// "" where the blocks may be so many times as large.
std::string WhyNot(const Kernel& kernel, std::int64_t size, const Sizes& of, bool larger) {
  if (!of.unsure.empty()) return of.unsure;
  if (larger && !of.no_twice.empty()) return of.no_twice;
  if (!larger && size % 2 != 0) return "half of it is no whole number";
  for (const std::size_t d : of.grid) {
    const GridDim& dim = kernel.launch.grid[d];
    if (dim.bound.valid()) return "the size of the grid is an operand";
    if (larger && dim.size % 2 != 0) return Cat("half of the ", dim.size, " programs is no whole number");
    // Others that go with this dimension of the grid have another size, and would stay as they are.
    for (const auto& [other, sizes] : SizesOf(kernel)) {
      if (other != size && sizes.grid.count(d) != 0)
        return Cat("blocks of ", other, " go along the same dimension of the grid");
    }
  }
  return "";
}

}  // namespace

Found FindBlocks(const Module& module) {
  Found found;
  const Kernel& kernel = module.kernels[0];
  if (!kernel.launch.mesh.empty() || kernel.launch.grid.empty()) return found;
  for (const auto& [size, of] : SizesOf(kernel)) {
    if (of.grid.empty()) continue;
    for (const bool larger : {true, false}) {
      const std::int64_t to = larger ? 2 * size : size / 2;
      const std::string what =
          Cat("blocks of ", to, " for ", size, " along ", Listed(kernel.launch, of.grid), " of the grid");
      if (const std::string why = WhyNot(kernel, size, of, larger); !why.empty()) {
        found.not_tried.push_back({what, kernel.text_line, {}, why});
        continue;
      }
      Candidate candidate{
          .what = what, .text_line = kernel.text_line, .loc = {}, .same_traffic = false, .module = module};
      Kernel& changed = candidate.module.kernels[0];
      edit::Resize(changed, {.size = [&, &old = size](std::int64_t one) { return one == old ? to : one; },
                             .arrays = false,
                             .numbers = false});
      for (const std::size_t d : of.grid) {
        std::int64_t& programs = changed.launch.grid[d].size;
        programs = larger ? programs / 2 : programs * 2;
      }
      found.candidates.push_back(std::move(candidate));
    }
  }
  return found;
}

}  // namespace palladion::advice
