#include "emu/legality/gpu_registers.h"

#include "emu/legality/gpu_facts.h"
#include "emu/legality/rule_rows.h"

namespace palladion::legality {

bool IsLayoutCast(const Instr& op) {
  static const RuleRows kCasts("layout_cast");
  return kCasts.Has(op);
}

bool IsBroadcast(const Instr& op) {
  static const RuleRows kBroadcasts("broadcast_in_dim");
  return kBroadcasts.Has(op);
}

bool SetsRegisters(const Instr& op) {
  static const RuleRows kAsks("set_max_registers");
  return kAsks.Has(op);
}

std::optional<std::int64_t> RegistersSet(const Instr& op) {
  if (!SetsRegisters(op) || op.args.empty()) return std::nullopt;
  return LiteralInt(op.args[0]);
}

}  // namespace palladion::legality
