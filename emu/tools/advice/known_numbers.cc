#include "emu/tools/advice/known_numbers.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "emu/tools/edit/edit.h"
#include "semantics/registry/op_id.h"
#include "semantics/registry/op_row.h"

namespace palladion::advice {
namespace {

bool IsKnownType(const Type& type) {
  return type.is_array() && type.shape.empty() && (type.dtype == DType::kI32 || type.dtype == DType::kBool);
}

// As i32 wraps.
std::int64_t Wrapped(std::int64_t number) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(number)));
}

std::optional<std::int64_t> OfTwo(OpId op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case OpId::kAdd:
      return Wrapped(a + b);
    case OpId::kSub:
      return Wrapped(a - b);
    case OpId::kMul:
      return Wrapped(a * b);
    case OpId::kEq:
      return a == b;
    case OpId::kNe:
      return a != b;
    case OpId::kLt:
      return a < b;
    case OpId::kLe:
      return a <= b;
    case OpId::kGt:
      return a > b;
    case OpId::kGe:
      return a >= b;
    default:
      return std::nullopt;
  }
}

bool AddsOneTo(const Instr& instr, ValueId to) {
  if (!Is(instr, OpId::kAdd) || instr.args.size() != 2) return false;
  for (std::size_t side = 0; side < 2; ++side) {
    const Arg &one = instr.args[side], &other = instr.args[1 - side];
    if (other.kind == Arg::Kind::kValue && other.value == to && one.kind == Arg::Kind::kLiteral &&
        one.literal.dtype == DType::kI32 && edit::IntOf(one.literal) == 1)
      return true;
  }
  return false;
}

// Through choices between values, which are few.
bool ComesFromOneMore(const Origins& origins, const Arg& arg, ValueId of, int depth) {
  constexpr int kDeepest = 8;
  if (depth == kDeepest || arg.kind != Arg::Kind::kValue || !arg.value.valid()) return false;
  const Instr* giver = origins.Giver(arg.value);
  if (giver == nullptr) return false;
  if (AddsOneTo(*giver, of)) return true;
  if (!Is(*giver, OpId::kSelectN)) return false;
  for (std::size_t i = 1; i < giver->args.size(); ++i) {
    if (ComesFromOneMore(origins, giver->args[i], of, depth + 1)) return true;
  }
  return false;
}

}  // namespace

std::optional<std::int64_t> KnownNumbers::Of(const Arg& arg) {
  if (arg.kind == Arg::Kind::kLiteral) {
    if (arg.literal.dtype == DType::kBool) return arg.literal.bytes[0] != std::byte{} ? 1 : 0;
    return arg.literal.dtype == DType::kI32 ? std::optional(edit::IntOf(arg.literal)) : std::nullopt;
  }
  if (arg.kind != Arg::Kind::kValue || !arg.value.valid()) return std::nullopt;
  if (const auto found = found_.find(arg.value); found != found_.end()) return found->second;
  const Instr* giver = origins_.Giver(arg.value);
  const bool known_type = IsKnownType(kernel_.values[arg.value.index()].type);
  const std::optional<std::int64_t> number = giver != nullptr && known_type ? OfInstr(*giver) : std::nullopt;
  return found_[arg.value] = number;
}

std::optional<std::int64_t> KnownNumbers::OfInstr(const Instr& instr) {
  const std::optional<OpId> op = IdOf(instr);
  if (!op.has_value() || !instr.regions.empty() || instr.args.empty()) return std::nullopt;
  const std::optional<std::int64_t> first = Of(instr.args[0]);
  if (!first.has_value()) return std::nullopt;
  if (op == OpId::kConvertElementType) return first;
  if (op == OpId::kSelectN) {
    const auto chosen = static_cast<std::size_t>(*first) + 1;
    return chosen < instr.args.size() ? Of(instr.args[chosen]) : std::nullopt;
  }
  if (instr.args.size() != 2) return std::nullopt;
  const std::optional<std::int64_t> second = Of(instr.args[1]);
  return second.has_value() ? OfTwo(*op, *first, *second) : std::nullopt;
}

void WriteKnownStarts(Kernel& kernel, const Origins& origins) {
  KnownNumbers known(kernel, origins);
  edit::ForEachInstr(kernel, [&](Instr& instr) {
    if (RowOf(instr).loops != Loops::kTurns) return;
    for (Arg& arg : instr.args) {
      if (arg.name != "init" || arg.kind != Arg::Kind::kValue || !arg.value.valid()) continue;
      const Type& type = kernel.values[arg.value.index()].type;
      if (!IsKnownType(type) || type.dtype != DType::kI32) continue;
      const std::optional<std::int64_t> number = known.Of(arg);
      if (!number.has_value()) continue;
      const std::string name = arg.name;
      arg = edit::LiteralArg(*number, type);
      arg.name = name;
    }
  });
}

bool CountsUp(const Origins& origins, const Instr& loop, std::size_t carry) {
  if (loop.regions.empty()) return false;
  const Region& body = loop.regions[0];
  if (carry >= body.params.size() || carry >= body.results.size()) return false;
  const ValueId param = body.params[carry].value;
  return param.valid() && ComesFromOneMore(origins, body.results[carry], param, 0);
}

}  // namespace palladion::advice
