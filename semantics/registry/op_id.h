// Operations by id, for code that makes instructions of kernel text, or that computes with single operations itself: a
// name is written once, and a wrong one does not compile. Limits: it is not a list of all operations, and other code
// must not decide by an operation's id: what holds of several operations is a fact of their rows (op_row.h).
#ifndef PALLADION_SEMANTICS_REGISTRY_OP_ID_H_
#define PALLADION_SEMANTICS_REGISTRY_OP_ID_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "semantics/ir/module.h"

namespace palladion {

enum class OpId : std::uint8_t {
  kAbs,
  kAdd,
  kAnd,
  kAxisIndex,
  kBarrierClusterWait,
  kBitcastConvertType,
  kBroadcastInDim,
  kCond,
  kConvertElementType,
  kCopy,
  kDiv,
  kEq,
  kGe,
  kGet,
  kGt,
  kLe,
  kLt,
  kMax,
  kMin,
  kMul,
  kMultipleOf,
  kNe,
  kNeg,
  kNumPrograms,
  kProgramId,
  kRem,
  kReshape,
  kRingHash,
  kSelectN,
  kSlice,
  kSub,
  kSwap,
  kTranspose,
};

struct OpName {
  OpId id;
  std::string_view dialect, name;
};
// One for each id, in their order.
inline constexpr OpName kOpNames[] = {
    {OpId::kAbs, "", "abs"},
    {OpId::kAdd, "", "add"},
    {OpId::kAnd, "", "and"},
    {OpId::kAxisIndex, "", "axis_index"},
    {OpId::kBarrierClusterWait, "", "barrier_cluster_wait"},
    {OpId::kBitcastConvertType, "", "bitcast_convert_type"},
    {OpId::kBroadcastInDim, "", "broadcast_in_dim"},
    {OpId::kCond, "", "cond"},
    {OpId::kConvertElementType, "", "convert_element_type"},
    {OpId::kCopy, "", "copy"},
    {OpId::kDiv, "", "div"},
    {OpId::kEq, "", "eq"},
    {OpId::kGe, "", "ge"},
    {OpId::kGet, "", "get"},
    {OpId::kGt, "", "gt"},
    {OpId::kLe, "", "le"},
    {OpId::kLt, "", "lt"},
    {OpId::kMax, "", "max"},
    {OpId::kMin, "", "min"},
    {OpId::kMul, "", "mul"},
    {OpId::kMultipleOf, "", "multiple_of"},
    {OpId::kNe, "", "ne"},
    {OpId::kNeg, "", "neg"},
    {OpId::kNumPrograms, "", "num_programs"},
    {OpId::kProgramId, "", "program_id"},
    {OpId::kRem, "", "rem"},
    {OpId::kReshape, "", "reshape"},
    {OpId::kRingHash, "ring", "hash"},
    {OpId::kSelectN, "", "select_n"},
    {OpId::kSlice, "", "slice"},
    {OpId::kSub, "", "sub"},
    {OpId::kSwap, "", "swap"},
    {OpId::kTranspose, "", "transpose"},
};

constexpr std::string_view NameOf(OpId id) { return kOpNames[static_cast<std::size_t>(id)].name; }

inline bool Is(const Instr& instr, OpId id) {
  const OpName& op = kOpNames[static_cast<std::size_t>(id)];
  return instr.name == op.name && instr.dialect == op.dialect;
}

// nullopt: of an operation that has none.
inline std::optional<OpId> IdOf(const Instr& instr) {
  for (const OpName& op : kOpNames) {
    if (Is(instr, op.id)) return op.id;
  }
  return std::nullopt;
}

// Another operation, of the same operands. The verifier finds its row.
inline void Become(OpId id, Instr& instr) {
  const OpName& op = kOpNames[static_cast<std::size_t>(id)];
  instr.dialect = std::string(op.dialect);
  instr.name = std::string(op.name);
  instr.row = nullptr;
}

// An instruction without results and attributes. The verifier finds its row.
inline Instr MakeInstr(OpId id, std::vector<Arg> args, LocId loc) {
  Instr instr;
  Become(id, instr);
  instr.args = std::move(args);
  instr.loc = loc;
  return instr;
}

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_REGISTRY_OP_ID_H_
