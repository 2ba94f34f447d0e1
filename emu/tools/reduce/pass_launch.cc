// The launch: operands, grid, mesh, devices, index maps.
#include <algorithm>
#include <string>
#include <utility>

#include "emu/tools/edit/edit.h"
#include "emu/tools/reduce/pass.h"
#include "emu/tools/reduce/shrink_number.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_id.h"

namespace palladion::reduce {
namespace {

bool IsZero(const Arg& arg) { return arg.kind == Arg::Kind::kLiteral && edit::IntOf(arg.literal) == 0; }

Type IndexType() { return ArrayType(DType::kI32, {}); }

// Removes the parameter and all that uses it.
void EraseParam(Kernel& kernel, Region& region, std::size_t at) {
  if (at >= region.params.size()) return;
  const ValueId id = region.params[at].value;
  const Type type = kernel.values[id.index()].type;
  region.params.erase(region.params.begin() + static_cast<std::ptrdiff_t>(at));
  if (type.is_array()) {
    edit::Substitute(kernel, {{id, edit::LiteralArg(0, type)}});
  } else {
    DropUsers(kernel, id);
  }
}

void DropOperand(State& state, std::size_t at) {
  Kernel& kernel = state.kernel();
  const Operand operand = kernel.operands[at];
  std::size_t param = 0, prefetch = 0;
  for (std::size_t i = 0; i < at; ++i) {
    param += kernel.operands[i].role != Role::kBound ? 1 : 0;
    prefetch += kernel.operands[i].role == Role::kPrefetch ? 1 : 0;
  }
  kernel.operands.erase(kernel.operands.begin() + static_cast<std::ptrdiff_t>(at));
  for (Operand& other : kernel.operands) {
    if (other.alias == operand.value) other.alias = {};
    if (operand.role == Role::kPrefetch && other.block.has_value())
      EraseParam(kernel, other.block->map, kernel.launch.grid.size() + prefetch);
  }
  for (GridDim& dim : kernel.launch.grid) {
    if (dim.bound == operand.value) dim = {};
  }
  if (operand.role == Role::kBound) return;
  for (Body& body : kernel.bodies) EraseParam(kernel, body.region, param);
}

// The sizes of a mesh, wherever they stand in its attributes.
void ShrinkNumbers(Kernel& kernel, Attr& attr, Chooser& chooser) {
  if (auto* number = std::get_if<std::int64_t>(&attr.value)) {
    const std::int64_t before = *number;
    ShrinkNumber(*number, 1, chooser);
    // A barrier at which all threads arrive has their number.
    for (const std::int64_t to : SmallerThan(before, 1)) {
      if (!chooser.Take()) continue;
      *number = to;
      for (ValueInfo& info : kernel.values) {
        const std::string arrivals = Cat("arrivals=", before);
        const std::size_t found = info.type.attrs.find(arrivals);
        if (found != std::string::npos) info.type.attrs.replace(found, arrivals.size(), Cat("arrivals=", to));
      }
    }
  }
  if (auto* list = std::get_if<AttrList>(&attr.value)) {
    for (Attr& one : *list) ShrinkNumbers(kernel, one, chooser);
  }
  if (auto* map = std::get_if<AttrMap>(&attr.value)) {
    for (AttrEntry& one : *map) ShrinkNumbers(kernel, one.second, chooser);
  }
}

AttrList* ListOf(AttrMap& attrs, std::string_view name) {
  for (AttrEntry& entry : attrs) {
    if (entry.first == name) return std::get_if<AttrList>(&entry.second.value);
  }
  return nullptr;
}

// What asks for an axis that is gone gets `number`.
void ReplaceAxis(Kernel& kernel, OpId op, const Attr& axis, std::int64_t number) {
  const auto asks = [&](Instr& instr) {
    const Attr* named = Find(instr.attrs, "axis");
    return Is(instr, op) && named != nullptr && *named == axis;
  };
  edit::Substitution substitution;
  edit::ForEachInstr(kernel, [&](Instr& instr) {
    if (asks(instr) && edit::HasResult(instr))
      substitution[instr.results[0]] = edit::LiteralArg(number, instr.types[0]);
  });
  edit::Substitute(kernel, substitution);
  DropWhere(kernel, asks);
}

// Lists of axes, as those that allocate together.
void ForgetAxis(Kernel& kernel, const Attr& axis) {
  edit::ForEachInstr(kernel, [&](Instr& instr) {
    for (AttrEntry& entry : instr.attrs) {
      auto* list = std::get_if<AttrList>(&entry.second.value);
      if (list != nullptr) std::erase(*list, axis);
    }
  });
}

}  // namespace

void DropOperands(State& state, Chooser& chooser) {
  for (std::size_t at = state.kernel().operands.size(); at-- > 0;) {
    if (chooser.Take()) DropOperand(state, at);
  }
}

// Alone, and with the literals that say the same: the number of programs, and the last one's.
void ShrinkGrid(State& state, Chooser& chooser) {
  Kernel& kernel = state.kernel();
  for (GridDim& dim : kernel.launch.grid) {
    if (dim.bound.valid()) continue;
    const std::int64_t before = dim.size;
    ShrinkNumber(dim.size, 1, chooser);
    for (const std::int64_t to : SmallerThan(before, 1)) {
      if (!chooser.Take()) continue;
      dim.size = to;
      for (Body& body : kernel.bodies) {
        edit::ForEachArg(body.region, [&](Arg& arg) {
          if (arg.kind != Arg::Kind::kLiteral || arg.literal.dtype != DType::kI32) return;
          const std::int64_t value = edit::IntOf(arg.literal);
          if (value == before || value == before - 1) edit::SetInt(arg.literal, value - before + to);
        });
      }
    }
  }
}

void DropGridDims(State& state, Chooser& chooser) {
  Kernel& kernel = state.kernel();
  Launch& launch = kernel.launch;
  for (std::size_t d = 0; d < launch.grid.size(); ++d) {
    if (launch.grid[d].bound.valid() || launch.grid[d].size != 1 || !chooser.Take()) continue;
    const Attr axis{static_cast<std::int64_t>(d)};
    ReplaceAxis(kernel, OpId::kProgramId, axis, 0);
    ReplaceAxis(kernel, OpId::kNumPrograms, axis, 1);
    edit::ForEachInstr(kernel, [&](Instr& instr) {
      if (!Is(instr, OpId::kProgramId) && !Is(instr, OpId::kNumPrograms)) return;
      for (AttrEntry& entry : instr.attrs) {
        auto* at = std::get_if<std::int64_t>(&entry.second.value);
        if (at != nullptr && *at > static_cast<std::int64_t>(d)) --*at;
      }
    });
    for (Operand& operand : kernel.operands) {
      if (operand.block.has_value()) EraseParam(kernel, operand.block->map, d);
    }
    const auto at = static_cast<std::ptrdiff_t>(d);
    launch.grid.erase(launch.grid.begin() + at);
    if (d < launch.names.size()) launch.names.erase(launch.names.begin() + at);
    AttrList* words = ListOf(kernel.params, "dimension_semantics");
    if (words != nullptr && d < words->size()) words->erase(words->begin() + at);
    return;
  }
}

void ShrinkMesh(State& state, Chooser& chooser) {
  Kernel& kernel = state.kernel();
  for (AttrEntry& entry : kernel.launch.mesh_attrs) ShrinkNumbers(kernel, entry.second, chooser);
  for (AttrEntry& entry : kernel.other) {
    if (entry.first == "devices") ShrinkNumbers(kernel, entry.second, chooser);
  }
  for (const std::string_view axes : {"grid", "cluster"}) {
    AttrList* sizes = ListOf(kernel.launch.mesh_attrs, axes);
    AttrList* names = ListOf(kernel.launch.mesh_attrs, Cat(axes, "_names"));
    for (std::size_t d = 0; sizes != nullptr && names != nullptr && d < std::min(sizes->size(), names->size()); ++d) {
      if (!((*sizes)[d] == Attr{std::int64_t{1}}) || !chooser.Take()) continue;
      ReplaceAxis(kernel, OpId::kAxisIndex, (*names)[d], 0);
      ForgetAxis(kernel, (*names)[d]);
      sizes->erase(sizes->begin() + static_cast<std::ptrdiff_t>(d));
      names->erase(names->begin() + static_cast<std::ptrdiff_t>(d));
      return;
    }
  }
}

// Index maps that give 0.
void SimplifyMaps(State& state, Chooser& chooser) {
  for (Operand& operand : state.kernel().operands) {
    if (!operand.block.has_value()) continue;
    for (Arg& result : operand.block->map.results) {
      if (!IsZero(result) && chooser.Take()) result = edit::LiteralArg(0, IndexType());
    }
  }
}

}  // namespace palladion::reduce
