// Swaps two dimensions of the grid. Blocks begin in the order of the grid, so different blocks run together and share
// data in L2; on a TPU different blocks stay resident from one program to the next. Only a check can decide whether
// programs may run in that order.
#include <algorithm>
#include <utility>

#include "emu/tools/advice/change.h"
#include "emu/tools/edit/edit.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_id.h"

namespace palladion::advice {
namespace {

AttrList* ListOf(AttrMap& attrs, std::string_view name) {
  for (AttrEntry& entry : attrs) {
    if (entry.first == name) return std::get_if<AttrList>(&entry.second.value);
  }
  return nullptr;
}

struct Dimension {
  std::int64_t size = 1;
  std::string name;  // "m", or "0"
};

// Empty where the text does not determine the order of the dimensions.
std::vector<Dimension> DimensionsOf(Kernel& kernel) {
  std::vector<Dimension> dims;
  Launch& launch = kernel.launch;
  AttrList* sizes = ListOf(launch.mesh_attrs, "grid");
  AttrList* names = ListOf(launch.mesh_attrs, "grid_names");
  for (std::size_t d = 0; sizes != nullptr && names != nullptr && d < std::min(sizes->size(), names->size()); ++d) {
    const auto* size = std::get_if<std::int64_t>(&(*sizes)[d].value);
    const auto* name = std::get_if<std::string>(&(*names)[d].value);
    if (size == nullptr || name == nullptr) return {};
    dims.push_back({*size, *name});
  }
  if (!launch.mesh.empty() || !launch.vmapped.empty()) return dims;
  for (std::size_t d = 0; d < launch.grid.size(); ++d) {
    if (launch.grid[d].bound.valid()) return {};
    const bool named = d < launch.names.size() && !launch.names[d].empty();
    dims.push_back({launch.grid[d].size, named ? launch.names[d] : Cat(d)});
  }
  return dims;
}

void SwapIn(AttrList* list, std::size_t a, std::size_t b) {
  if (list != nullptr && b < list->size()) std::swap((*list)[a], (*list)[b]);
}

void SwapOfMesh(Kernel& kernel, std::size_t a, std::size_t b) {
  SwapIn(ListOf(kernel.launch.mesh_attrs, "grid"), a, b);
  SwapIn(ListOf(kernel.launch.mesh_attrs, "grid_names"), a, b);
}

// Of a grid, dimensions are known by their numbers.
void SwapOfGrid(Kernel& kernel, std::size_t a, std::size_t b) {
  Launch& launch = kernel.launch;
  std::swap(launch.grid[a], launch.grid[b]);
  if (b < launch.names.size()) std::swap(launch.names[a], launch.names[b]);
  SwapIn(ListOf(kernel.params, "dimension_semantics"), a, b);
  for (Operand& operand : kernel.operands) {
    if (operand.block.has_value()) std::swap(operand.block->map.params[a], operand.block->map.params[b]);
  }
  edit::ForEachInstr(kernel, [&](Instr& instr) {
    if (!Is(instr, OpId::kProgramId) && !Is(instr, OpId::kNumPrograms)) return;
    for (AttrEntry& entry : instr.attrs) {
      auto* axis = entry.first == "axis" ? std::get_if<std::int64_t>(&entry.second.value) : nullptr;
      if (axis == nullptr) continue;
      const auto is = [&](std::size_t d) { return *axis == static_cast<std::int64_t>(d); };
      *axis = is(a) ? static_cast<std::int64_t>(b) : is(b) ? static_cast<std::int64_t>(a) : *axis;
    }
  });
}

}  // namespace

Found FindGridOrder(const Module& module) {
  Found found;
  Module seen = module;
  const std::vector<Dimension> dims = DimensionsOf(seen.kernels[0]);
  for (std::size_t a = 0; a < dims.size(); ++a) {
    for (std::size_t b = a + 1; b < dims.size(); ++b) {
      if (dims[a].size < 2 || dims[b].size < 2) continue;
      std::string order;
      for (std::size_t d = 0; d < dims.size(); ++d)
        Append(&order, d == 0 ? "" : ", ", dims[d == a ? b : d == b ? a : d].name);
      Candidate candidate{.what = Cat("grid in the order ", order),
                          .text_line = module.kernels[0].text_line,
                          .loc = {},
                          .module = module};
      Kernel& kernel = candidate.module.kernels[0];
      if (kernel.launch.mesh.empty()) {
        SwapOfGrid(kernel, a, b);
      } else {
        SwapOfMesh(kernel, a, b);
      }
      found.candidates.push_back(std::move(candidate));
    }
  }
  return found;
}

}  // namespace palladion::advice
