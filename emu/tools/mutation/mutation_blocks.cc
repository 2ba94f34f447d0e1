// The places in a kernel's launch: index maps, the order of the grid, the sizes of blocks.
// All equal sizes of the body shrink together (emu/tools/edit/resize.h).
#include <algorithm>
#include <cstddef>
#include <utility>

#include "emu/tools/edit/resize.h"
#include "emu/tools/mutation/mutation_sites.h"
#include "semantics/base/cat.h"

namespace palladion::mutation {
namespace {

std::string NameOf(const Kernel& kernel, const Operand& operand) {
  return operand.label.empty() ? kernel.values[operand.value.index()].name : operand.label;
}

bool SameArg(const Arg& a, const Arg& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == Arg::Kind::kValue) return a.value == b.value;
  return a.kind == Arg::Kind::kLiteral && a.literal.bytes == b.literal.bytes;
}

void AddSwapSites(Kernel& kernel, Operand& operand, std::vector<MutationSite>& sites) {
  std::vector<Arg>& results = operand.block->map.results;
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (std::size_t j = i + 1; j < results.size(); ++j) {
      if (SameArg(results[i], results[j])) continue;
      sites.push_back(
          {.mutation = Mutation::kSwapIndex,
           .line = operand.text_line,
           .what = Cat("the index map of '", NameOf(kernel, operand), "' has its results ", i, " and ", j, " swapped"),
           .apply = [&results, i, j] { std::swap(results[i], results[j]); }});
    }
  }
}

// The words of dimension_semantics; vmap's dimensions, in front, have none.
void AddParallelSites(Kernel& kernel, std::vector<MutationSite>& sites) {
  if (kernel.backend != "mosaic_tpu") return;
  const std::vector<GridDim>& grid = kernel.launch.grid;
  const Attr* found = Find(kernel.params, "dimension_semantics");
  const AttrList* given = found == nullptr ? nullptr : std::get_if<AttrList>(&found->value);
  const AttrList words =
      given != nullptr && !given->empty() ? *given : AttrList(grid.size(), Attr{std::string("arbitrary")});
  const std::size_t skip = grid.size() - std::min(grid.size(), words.size());
  for (std::size_t d = skip; d < grid.size(); ++d) {
    const std::string* word = std::get_if<std::string>(&words[d - skip].value);
    if (word == nullptr || *word != "arbitrary" || (!grid[d].bound.valid() && grid[d].size < 2)) continue;
    sites.push_back({.mutation = Mutation::kMakeParallel,
                     .line = kernel.text_line,
                     .what = Cat("dimension ", d, " of the grid is parallel"),
                     .apply = [&kernel, words, at = d - skip] {
                       AttrList changed = words;
                       changed[at].value = std::string("parallel");
                       std::erase_if(kernel.params,
                                     [](const AttrEntry& entry) { return entry.first == "dimension_semantics"; });
                       kernel.params.emplace_back("dimension_semantics", Attr{std::move(changed)});
                     }});
  }
}

// By 8 where that leaves a size the backends still accept, else by 1; 0 where both divide the array.
std::int64_t Smaller(std::int64_t size, std::int64_t array) {
  if (size % 8 == 0 && size > 8 && array % (size - 8) != 0) return size - 8;
  return size > 1 && array % (size - 1) != 0 ? size - 1 : 0;
}

void AddShrinkSites(Kernel& kernel, std::vector<MutationSite>& sites) {
  std::vector<std::int64_t> done;
  for (const Operand& operand : kernel.operands) {
    if (!operand.block.has_value() || kernel.bodies.size() != 1) continue;
    const Shape& array = kernel.values[operand.value.index()].type.shape;
    for (std::size_t d = 0; d < operand.block->dims.size() && d < array.size(); ++d) {
      const BlockDim& dim = operand.block->dims[d];
      const std::int64_t smaller = Smaller(dim.size, array[d]);
      if (dim.kind != BlockDim::Kind::kBlocked || smaller == 0) continue;
      if (std::find(done.begin(), done.end(), dim.size) != done.end()) continue;
      done.push_back(dim.size);
      sites.push_back({.mutation = Mutation::kShrinkBlock,
                       .line = operand.text_line,
                       .what = Cat("blocks have ", smaller, " elements where they had ", dim.size, ", as dimension ", d,
                                   " of '", NameOf(kernel, operand), "'"),
                       .apply = [&kernel, from = dim.size, smaller] {
                         edit::Resize(kernel,
                                      {.size = [=](std::int64_t size) { return size == from ? smaller : size; }});
                       }});
    }
  }
}

}  // namespace

void AddBlockSites(Kernel& kernel, std::vector<MutationSite>& sites) {
  for (Operand& operand : kernel.operands) {
    if (operand.block.has_value()) AddSwapSites(kernel, operand, sites);
  }
  AddParallelSites(kernel, sites);
  AddShrinkSites(kernel, sites);
}

}  // namespace palladion::mutation
