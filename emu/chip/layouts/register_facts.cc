#include "emu/chip/layouts/register_facts.h"

#include "emu/chip/layouts/gpu_facts.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::layouts {

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

const Instr* MakerOf(ValueId value, const Region& region) {
  for (const Instr& op : region.body) {
    for (const ValueId result : op.results) {
      if (result == value) return &op;
    }
    for (const Region& inner : op.regions) {
      if (const Instr* const maker = MakerOf(value, inner)) return maker;
    }
  }
  return nullptr;
}

const Instr* CastBehind(const Instr& op, const Region& region) {
  for (std::size_t i = 0; i < region.body.size(); ++i) {
    for (const Region& inner : region.body[i].regions) {
      if (const Instr* const cast = CastBehind(op, inner)) return cast;
    }
    if (&region.body[i] != &op || i + 1 == region.body.size() || op.results.empty()) continue;
    const Instr& next = region.body[i + 1];
    const bool casts = IsLayoutCast(next) && !next.args.empty() && next.args[0].kind == Arg::Kind::kValue;
    return casts && next.args[0].value == op.results[0] ? &next : nullptr;
  }
  return nullptr;
}

}  // namespace palladion::layouts
