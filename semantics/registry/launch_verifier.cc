#include "semantics/registry/launch_verifier.h"

#include <vector>

#include "semantics/base/cat.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/operand_types.h"
#include "semantics/registry/value_scopes.h"

namespace palladion {
namespace {

absl::Status Invalid(const std::string& message) { return absl::InvalidArgumentError(message); }

bool IsIntegerScalar(const Type& type) { return type.is_array() && IsInteger(type.dtype) && type.shape.empty(); }
bool IsOneInteger(const Type& type) {
  return type.is_array() && IsInteger(type.dtype) && (type.shape.empty() || type.shape == Shape{1});
}

// The shape a program sees of its block: squeezed dimensions are gone.
Shape WindowShape(const Operand& operand, const Type& array) {
  if (!operand.block.has_value()) return array.shape;
  Shape shape;
  for (const BlockDim& dim : operand.block->dims) {
    if (dim.kind != BlockDim::Kind::kSqueezed) shape.push_back(dim.size);
  }
  return shape;
}

// Of what `buffered` says, this alone changes what a kernel computes: another word must not be taken for its absence.
absl::Status CheckRevisit(const BlockSpec& block) {
  const Attr* revisit = block.buffered.has_value() ? Find(*block.buffered, "revisit") : nullptr;
  if (revisit == nullptr || std::holds_alternative<AttrNone>(revisit->value)) return absl::OkStatus();
  for (const char* word : {"immediate", "any"}) {
    if (revisit->value == Attr{AttrIdent{word}}.value) return absl::OkStatus();
  }
  return Invalid(Cat("expected `revisit` to be immediate or any, found ", ToString(*revisit)));
}

}  // namespace

std::string LaunchVerifier::NameOf(const Operand& operand) const {
  const ValueInfo& info = kernel_.values[operand.value.index()];
  return Cat(Name(operand.role), " %", info.name, operand.label.empty() ? "" : Cat(" (", operand.label, ")"));
}

const Operand* LaunchVerifier::FindOperand(ValueId value) const {
  for (const Operand& operand : kernel_.operands) {
    if (operand.value == value) return &operand;
  }
  return nullptr;
}

absl::Status LaunchVerifier::CheckValues() const {
  for (const ValueInfo& info : kernel_.values) {
    for (const DynamicDim& dim : info.type.dynamic) {
      const Operand* bound = FindOperand(dim.operand);
      if (bound == nullptr || bound->role != Role::kBound) {
        return places_.At(kernel_.text_line, {}, Cat("%", info.name),
                          Invalid("expected a dimension that names a `bound` operand, found another value"));
      }
    }
    PALLADION_RETURN_IF_ERROR(places_.At(kernel_.text_line, {}, Cat("%", info.name), CheckType(info.type)));
  }
  return absl::OkStatus();
}

absl::Status LaunchVerifier::CheckOperandType(const Operand& operand) const {
  const Type& type = TypeOf(operand.value);
  switch (operand.role) {
    case Role::kBound:
      if (!IsOneInteger(type))
        return Invalid(Cat("expected one integer as a bound of the grid, i32[] or i32[1], found ", ToString(type)));
      return absl::OkStatus();
    case Role::kScratch:
      if (!type.is_ref())
        return Invalid(
            Cat("expected a ref as scratch, found ", ToString(type), "; write ref<vmem,", ToString(type), ">"));
      return absl::OkStatus();
    case Role::kPrefetch:
    case Role::kIn:
    case Role::kOut:
      break;
  }
  const bool synchronisation = type.is_ref() && type.element != ElementKind::kData;
  if (!type.is_array() && !type.is_key() && !synchronisation) {
    return Invalid(Cat("expected an array, found ", ToString(type), "; the body's parameter is the ref"));
  }
  return absl::OkStatus();
}

absl::Status LaunchVerifier::CheckAlias(const Operand& operand) const {
  if (!operand.alias.valid()) return absl::OkStatus();
  const Operand* input = FindOperand(operand.alias);
  if (operand.role != Role::kOut || input == nullptr || (input->role != Role::kIn && input->role != Role::kPrefetch)) {
    return Invalid("expected `alias` on an out operand with the name of an in or prefetch operand");
  }
  const Type& out = TypeOf(operand.value);
  const Type& in = TypeOf(input->value);
  const bool same = out.kind == in.kind && out.dtype == in.dtype && out.shape == in.shape &&
                    out.key_impl == in.key_impl && out.element == in.element;
  if (!same) {
    return Invalid(
        Cat("expected the type of the input that it shares memory with, ", ToString(in), ", found ", ToString(out)));
  }
  for (const Operand& other : kernel_.operands) {
    if (&other == &operand) break;
    if (other.alias == operand.alias)
      return Invalid(Cat("expected one output in the memory of an input, found ", NameOf(other), " there too"));
  }
  return absl::OkStatus();
}

absl::Status LaunchVerifier::CheckLaunch() const {
  const Launch& launch = kernel_.launch;
  if (launch.grid.size() > static_cast<std::size_t>(kMaxRank)) {
    return absl::ResourceExhaustedError(Cat("the grid has more than ", kMaxRank, " dimensions"));
  }
  for (const GridDim& dim : launch.grid) {
    if (dim.size < 0) return Invalid(Cat("expected grid sizes 0 or more, found ", dim.size));
    if (!dim.bound.valid()) continue;
    const Operand* bound = FindOperand(dim.bound);
    if (bound == nullptr || bound->role != Role::kBound)
      return Invalid("expected a grid dimension that names a `bound` operand, found another value");
  }
  if (!launch.names.empty() && launch.names.size() != launch.grid.size()) {
    return Invalid(Cat("expected ", launch.grid.size(), " grid names, one for each dimension, found ",
                       launch.names.size(), "; write none for an unnamed one"));
  }
  std::vector<bool> seen(launch.grid.size(), false);
  for (const std::int64_t axis : launch.vmapped) {
    const bool ok = axis >= 0 && axis < static_cast<std::int64_t>(seen.size()) && !seen[static_cast<std::size_t>(axis)];
    if (!ok)
      return Invalid(
          Cat("expected different grid dimensions in `vmapped`, each in [0, ", seen.size(), "), found ", axis));
    seen[static_cast<std::size_t>(axis)] = true;
  }
  return absl::OkStatus();
}

absl::Status LaunchVerifier::CheckBlockDims(const Operand& operand) const {
  const Type& array = TypeOf(operand.value);
  const std::vector<BlockDim>& dims = operand.block->dims;
  if (dims.size() != array.shape.size()) {
    return Invalid(Cat("expected ", array.rank(), " block dimensions, one for each of ", ToString(array), ", found ",
                       dims.size(), "; write sq for one that the program does not see"));
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].low < 0 || dims[i].high < 0 || dims[i].size < 0 || dims[i].low > kMaxElements ||
        dims[i].high > kMaxElements || dims[i].size > kMaxElements) {
      return Invalid(
          Cat("expected block sizes and paddings from 0 to ", kMaxElements, ", found another in dimension ", i));
    }
    if (dims[i].size == 0 && array.shape[i] != 0) {
      return Invalid(Cat("expected a block size of 1 or more in dimension ", i, " of ", ToString(array), ", found 0"));
    }
  }
  return CheckLimits(WindowShape(operand, array)).status();
}

absl::Status LaunchVerifier::CheckMapParams(const Region& map) const {
  const std::size_t rank = kernel_.launch.grid.size();
  std::vector<const Operand*> prefetch;
  for (const Operand& operand : kernel_.operands) {
    if (operand.role == Role::kPrefetch) prefetch.push_back(&operand);
  }
  if (map.params.size() != rank + prefetch.size()) {
    return Invalid(Cat("expected an index map with ", rank, " grid indices and ", prefetch.size(),
                       " prefetch refs as parameters, found ", map.params.size(), " parameters"));
  }
  for (std::size_t i = 0; i < map.params.size(); ++i) {
    const ValueId value = map.params[i].value;
    if (!InRange(kernel_, value)) return Invalid("expected a value of this kernel, found an id out of range");
    const Type& type = TypeOf(value);
    if (i < rank) {
      if (!IsIntegerScalar(type) || type.dtype != DType::kI32)
        return Invalid(Cat("expected i32[] as parameter ", i, " of the index map, found ", ToString(type)));
    } else {
      PALLADION_RETURN_IF_ERROR(CheckBodyParam(*prefetch[i - rank], map.params[i]));
    }
  }
  return absl::OkStatus();
}

absl::Status LaunchVerifier::CheckMapResults(const Operand& operand) const {
  const Region& map = operand.block->map;
  if (map.results.size() != operand.block->dims.size()) {
    return Invalid(Cat("expected an index map with ", operand.block->dims.size(),
                       " results, one for each dimension of the array, found ", map.results.size()));
  }
  for (std::size_t i = 0; i < map.results.size(); ++i) {
    const Type type = TypeOfArg(kernel_, map.results[i]);
    if (operand.block->dims[i].kind == BlockDim::Kind::kIndirect) continue;
    if (!IsIntegerScalar(type))
      return Invalid(Cat("expected an integer scalar as result ", i, " of the index map, found ", ToString(type)));
  }
  return absl::OkStatus();
}

absl::Status LaunchVerifier::CheckBlock(const Operand& operand) const {
  if (operand.role != Role::kIn && operand.role != Role::kOut)
    return Invalid("expected `block` on an in or out operand only");
  if (TypeOf(operand.value).is_ref())
    return Invalid(Cat("expected an array under `block`, found ", ToString(TypeOf(operand.value))));
  if (!kernel_.launch.mesh.empty())
    return absl::UnimplementedError("a block under a mesh; only whole arrays are known there");
  if (!operand.block->view.empty()) {
    return absl::UnimplementedError("a block with a view is not modelled; take the block as it lies in its array");
  }
  PALLADION_RETURN_IF_ERROR(CheckBlockDims(operand));
  PALLADION_RETURN_IF_ERROR(CheckRevisit(*operand.block));
  return CheckMapParams(operand.block->map);
}

absl::Status LaunchVerifier::CheckOperand(const Operand& operand) const {
  PALLADION_RETURN_IF_ERROR(places_.CheckLoc(operand.loc));
  PALLADION_RETURN_IF_ERROR(CheckOperandType(operand));
  PALLADION_RETURN_IF_ERROR(CheckAlias(operand));
  return operand.block.has_value() ? CheckBlock(operand) : absl::OkStatus();
}

absl::Status LaunchVerifier::CheckBodyParam(const Operand& operand, const Param& param) const {
  if (!InRange(kernel_, param.value)) return Invalid("expected a value of this kernel, found an id out of range");
  const Type& found = TypeOf(param.value);
  const Type& array = TypeOf(operand.value);
  Type expected = array;
  expected.kind = TypeKind::kRef;
  expected.weak = false;
  expected.space = array.is_ref() ? array.space : found.space;
  expected.attrs = array.is_ref() ? array.attrs : found.attrs;
  expected.shape = WindowShape(operand, array);
  if (found == expected) return absl::OkStatus();
  return Invalid(Cat("expected ", ToString(expected), " as parameter %", kernel_.values[param.value.index()].name,
                     ", which stands for ", NameOf(operand), operand.block.has_value() ? " and its block" : "",
                     ", found ", ToString(found)));
}

}  // namespace palladion
