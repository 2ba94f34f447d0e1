// Blocks that are used in the wrong place: transposed, one off, or those of the step before.
#include <algorithm>
#include <optional>
#include <utility>

#include "emu/tools/golden/hypotheses.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_id.h"
#include "semantics/registry/op_row.h"

namespace palladion::golden {
namespace {

constexpr std::int64_t kMostPrograms = 64;  // of which the block of each is tried alone

// The body's ref of operand i; invalid where there is none.
ValueId RefOf(const Kernel& kernel, std::size_t operand) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < operand; ++i) at += kernel.operands[i].role == Role::kBound ? 0 : 1;
  const std::vector<Param>& params = kernel.bodies[0].region.params;
  return at < params.size() ? params[at].value : ValueId{};
}

bool Touches(const Instr& instr, ValueId ref, RefAccess how) {
  const OpRow& row = RowOf(instr);
  return row.access == how && !row.named_refs && !instr.args.empty() && instr.args[0].kind == Arg::Kind::kValue &&
         instr.args[0].value == ref;
}

// The elements as they lie in memory when rows are taken for columns: of a block that is not square, the bytes of the
// transposed one under the old shape.
Arg Transposed(const Arg& x, Writer& writer) {
  const Type type = writer.TypeOfArg(x);
  const std::size_t rank = type.shape.size();
  std::vector<std::int64_t> perm(rank);
  for (std::size_t d = 0; d < rank; ++d) perm[d] = static_cast<std::int64_t>(d);
  std::swap(perm[rank - 1], perm[rank - 2]);
  Type turned = ArrayType(type.dtype, type.shape);
  std::swap(turned.shape[rank - 1], turned.shape[rank - 2]);
  const Arg t = writer.Apply(OpId::kTranspose, {x}, turned, {{"perm", IntsAttr(perm)}});
  if (turned.shape == type.shape) return t;
  return writer.Apply(OpId::kReshape, {t}, ArrayType(type.dtype, type.shape), {{"shape", IntsAttr(type.shape)}});
}

// At the place alone, where one is given.
void TransposeAccesses(Kernel& kernel, ValueId ref, const Place& place) {
  if (!place.empty()) CountVmapped(kernel);
  const auto turned = [&](const Arg& x, Writer& writer) {
    const Arg t = Transposed(x, writer);
    if (place.empty()) return t;
    const Type type = writer.TypeOfArg(x);
    return writer.Apply(OpId::kSelectN, {IsHere(place, writer), x, t}, ArrayType(type.dtype, type.shape));
  };
  RewriteBodies(kernel, [&](Instr&& instr, Writer& writer) {
    const bool load = Touches(instr, ref, RefAccess::kLoad), store = Touches(instr, ref, RefAccess::kStore);
    const std::size_t stored = RowOf(instr).stored;
    if (load && instr.results[0].valid() && instr.types[0].rank() >= 2) {
      const ValueId result = RenameResult(instr, 0, kernel);
      const Arg loaded = ValueArg(instr.results[0]);
      writer.Add(std::move(instr));
      Define(result, turned(loaded, writer), writer);
      return;
    }
    if (store && stored < instr.args.size() && writer.TypeOfArg(instr.args[stored]).rank() >= 2) {
      const std::string name = instr.args[stored].name;
      instr.args[stored] = turned(instr.args[stored], writer);
      instr.args[stored].name = name;
    }
    writer.Add(std::move(instr));
  });
}

void AddTransposed(const Module& module, std::vector<Hypothesis>& to) {
  const Kernel& kernel = module.kernels[0];
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    const Operand& operand = kernel.operands[i];
    if ((operand.role != Role::kIn && operand.role != Role::kOut) || !RefOf(kernel, i).valid()) continue;
    if (kernel.values[RefOf(kernel, i).index()].type.rank() < 2) continue;
    to.push_back(
        {.kind = kTransposed,
         .what = Cat("the blocks of '", NameOf(kernel, operand), "' are transposed"),
         .edit = [i](Module& edited) { TransposeAccesses(edited.kernels[0], RefOf(edited.kernels[0], i), {}); }});
    if (!operand.block.has_value()) continue;
    for (const Place& place : PlacesOf(kernel, operand, kMostPrograms)) {
      to.push_back({.kind = kTransposed,
                    .what = Cat("the block of '", NameOf(kernel, operand), "' of the programs ", PlaceText(place),
                                " is transposed"),
                    .edit = [i, place](Module& edited) {
                      TransposeAccesses(edited.kernels[0], RefOf(edited.kernels[0], i), place);
                    }});
    }
  }
}

Arg Clamped(const Arg& x, std::int64_t last, Writer& writer) {
  const Type type = ArrayType(DType::kI32, {});
  const Arg low = writer.Apply(OpId::kMax, {x, IntLiteral(DType::kI32, 0)}, type);
  return writer.Apply(OpId::kMin, {low, IntLiteral(DType::kI32, last)}, type);
}

void Shift(Kernel& kernel, std::size_t i, std::size_t d, std::int64_t by) {
  Operand& operand = kernel.operands[i];
  Region& map = operand.block->map;
  Writer writer(kernel, map.body, operand.loc);
  const Type type = ArrayType(DType::kI32, {});
  const Arg moved = writer.Apply(OpId::kAdd, {map.results[d], IntLiteral(DType::kI32, by)}, type);
  map.results[d] = Clamped(moved, BlocksOf(kernel, operand, d) - 1, writer);
}

void AddOffByOne(const Module& module, std::vector<Hypothesis>& to) {
  const Kernel& kernel = module.kernels[0];
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    const Operand& operand = kernel.operands[i];
    if (!operand.block.has_value()) continue;
    for (std::size_t d = 0; d < operand.block->map.results.size(); ++d) {
      if (BlocksOf(kernel, operand, d) < 2) continue;
      for (const std::int64_t by : {1, -1}) {
        to.push_back({.kind = kOffByOne,
                      .what = Cat("block index ", d, " of '", NameOf(kernel, operand), "' is one too ",
                                  by > 0 ? "large" : "small", " (the last stays)"),
                      .edit = [i, d, by](Module& edited) { Shift(edited.kernels[0], i, d, by); },
                      .anything = operand.role == Role::kOut});
      }
    }
  }
}

void Replace(std::vector<Arg>& args, const std::vector<Param>& params, const std::vector<Arg>& by) {
  for (Arg& arg : args) {
    for (std::size_t d = 0; d < by.size(); ++d) {
      if (arg.kind == Arg::Kind::kValue && arg.value == params[d].value) arg = by[d];
    }
  }
}

// The map asks for the block of another step of the grid, in its order; of `only`, where it is given, alone.
void MoveStep(Kernel& kernel, std::size_t i, std::int64_t by, std::optional<std::int64_t> only) {
  Operand& operand = kernel.operands[i];
  Region& map = operand.block->map;
  const std::vector<GridDim>& grid = kernel.launch.grid;
  const Type type = ArrayType(DType::kI32, {});
  std::vector<Instr> first;
  Writer writer(kernel, first, operand.loc);
  const auto number = [](std::int64_t n) { return IntLiteral(DType::kI32, n); };
  Arg step = number(0);
  for (std::size_t d = 0; d < grid.size(); ++d) {
    step = writer.Apply(OpId::kMul, {step, number(grid[d].size)}, type);
    step = writer.Apply(OpId::kAdd, {step, ValueArg(map.params[d].value)}, type);
  }
  Arg moved = Clamped(writer.Apply(OpId::kAdd, {step, number(by)}, type), ProgramsOf(kernel) - 1, writer);
  if (only.has_value()) {
    const Arg here = writer.Apply(OpId::kEq, {step, number(*only)}, ArrayType(DType::kBool, {}));
    moved = writer.Apply(OpId::kSelectN, {here, step, moved}, type);
  }
  std::vector<Arg> coordinates(grid.size());
  for (std::size_t d = grid.size(); d-- > 0;) {
    coordinates[d] = writer.Apply(OpId::kRem, {moved, number(grid[d].size)}, type);
    moved = writer.Apply(OpId::kDiv, {moved, number(grid[d].size)}, type);
  }
  for (Instr& instr : map.body) Replace(instr.args, map.params, coordinates);
  Replace(map.results, map.params, coordinates);
  map.body.insert(map.body.begin(), first.begin(), first.end());
}

void AddSteps(const Module& module, std::vector<Hypothesis>& to) {
  const Kernel& kernel = module.kernels[0];
  const std::int64_t programs = ProgramsOf(kernel);
  if (programs < 2) return;
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    const Operand& operand = kernel.operands[i];
    if (!operand.block.has_value()) continue;
    const std::string name = NameOf(kernel, operand);
    const bool out = operand.role == Role::kOut;
    for (const std::int64_t by : {-1, 1}) {
      to.push_back({.kind = kWrongSlot,
                    .what = Cat("each step uses the block of '", name, "' of the step ", by < 0 ? "before" : "after"),
                    .edit = [i, by](Module& edited) { MoveStep(edited.kernels[0], i, by, std::nullopt); },
                    .anything = out});
    }
    if (out) continue;
    for (std::int64_t p = 1; p < std::min(programs, kMostPrograms); ++p) {
      to.push_back({.kind = kStale,
                    .what = Cat("step ", p, " still has the block of '", name, "' of the step before"),
                    .edit = [i, p](Module& edited) { MoveStep(edited.kernels[0], i, -1, p); }});
    }
  }
}

}  // namespace

void AddBlockHypotheses(const Module& module, std::vector<Hypothesis>& to) {
  if (!module.kernels[0].launch.mesh.empty() || module.kernels[0].bodies.size() != 1) return;
  AddTransposed(module, to);
  AddOffByOne(module, to);
  AddSteps(module, to);
}

}  // namespace palladion::golden
