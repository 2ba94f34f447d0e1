#include "semantics/registry/operand_types.h"

#include <algorithm>
#include <string_view>

#include "semantics/base/cat.h"
#include "semantics/ir/tmem_layout.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/op_row.h"

namespace palladion {
namespace {

bool IsCall(const Instr& instr) {
  for (const std::string_view name : {"jit", "closed_call", "custom_jvp_call", "custom_vjp_call", "checkpoint"}) {
    if (instr.dialect.empty() && instr.name == name) return true;
  }
  return false;
}

// Where a ref may stand: the memory that an operation reads or writes is its first operand, and a call hands refs on.
bool TakesRef(const Instr& instr, std::size_t operand) {
  if (instr.row->named_refs) return true;
  const Effect effect = instr.row->effect;
  if (effect == Effect::kReads || effect == Effect::kWrites || effect == Effect::kReadsWrites) return operand == 0;
  return IsCall(instr);
}

// Only a TPU's DMA engines take sizes that are known only at run time, and choices among refs.
bool TakesSizesAndChoices(const OpRow& row) { return row.named_refs && row.backends.bits == kTpu.bits; }

absl::Status CheckSizes(const OpRow& row, const Type& type) {
  const bool sized = std::find(type.shape.begin(), type.shape.end(), kDynamicDim) != type.shape.end();
  if (!sized || TakesSizesAndChoices(row)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "a slice whose size is known only at run time is for a TPU's asynchronous copies alone; found it in another "
      "access: give it a size, and a mask for what is too much");
}

absl::StatusOr<Type> SelectType(const Kernel& kernel, const Instr& instr, std::size_t i, const Arg& arg);

absl::StatusOr<Type> OperandType(const Kernel& kernel, const Instr& instr, std::size_t i, const Arg& arg) {
  if (arg.kind == Arg::Kind::kSelect) return SelectType(kernel, instr, i, arg);
  Type type = TypeOfArg(kernel, arg);
  if (!type.is_ref() || arg.kind != Arg::Kind::kValue) return type;
  if (!TakesRef(instr, i)) {
    return absl::InvalidArgumentError(Cat("expected an array as operand ", i, ", found the ref %",
                                          kernel.values[arg.value.index()].name, ": ", ToString(type),
                                          "; read it with get first"));
  }
  PALLADION_ASSIGN_OR_RETURN(type, ViewType(kernel, type, arg.transforms));
  PALLADION_RETURN_IF_ERROR(CheckSizes(*instr.row, type));
  return type;
}

// A choice among refs, by a truth value or an integer: views of one type.
absl::StatusOr<Type> SelectType(const Kernel& kernel, const Instr& instr, std::size_t i, const Arg& arg) {
  if (!TakesSizesAndChoices(*instr.row)) {
    return absl::UnimplementedError("a choice among refs (select) is modelled in a TPU's asynchronous copies only");
  }
  if (arg.select.size() < 2) return absl::InvalidArgumentError("expected an index and at least one ref in select");
  const Type index = TypeOfArg(kernel, arg.select[0]);
  if (!index.is_array() || index.rank() != 0 || !(IsInteger(index.dtype) || IsBool(index.dtype))) {
    return absl::InvalidArgumentError(
        Cat("expected an integer or a truth value as index of select, found ", ToString(index)));
  }
  PALLADION_ASSIGN_OR_RETURN(const Type type, OperandType(kernel, instr, i, arg.select[1]));
  for (std::size_t k = 2; k < arg.select.size(); ++k) {
    PALLADION_ASSIGN_OR_RETURN(const Type other, OperandType(kernel, instr, i, arg.select[k]));
    if (ToString(other) != ToString(type)) {
      return absl::InvalidArgumentError(
          Cat("expected refs of one type in select, found ", ToString(type), " and ", ToString(other)));
    }
  }
  return type;
}

}  // namespace

// Dimensions that are operands' values would read as a size further on.
absl::Status CheckType(const Type& type) {
  bool dynamic = !type.dynamic.empty();
  for (const std::int64_t dim : type.shape) dynamic = dynamic || dim < 0;
  if (dynamic) {
    return absl::UnimplementedError(
        "arrays of a size known only at run time need SparseCore, which is not modelled yet");
  }
  PALLADION_RETURN_IF_ERROR(CheckLimits(type.shape).status());
  const bool cells = type.is_ref() && type.space == Space::kTmem && type.element == ElementKind::kData;
  return cells ? TmemLayoutOf(type).status() : absl::OkStatus();
}

absl::StatusOr<std::vector<Type>> OperandTypes(const Kernel& kernel, const Instr& instr) {
  std::vector<Type> types;
  types.reserve(instr.args.size());
  for (std::size_t i = 0; i < instr.args.size(); ++i) {
    PALLADION_ASSIGN_OR_RETURN(types.emplace_back(), OperandType(kernel, instr, i, instr.args[i]));
  }
  return types;
}

}  // namespace palladion
