#include "emu/check/legality/scan_loops.h"

#include <algorithm>

#include "semantics/base/cat.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {

bool IsScan(const Instr& op) {
  static const RuleRows kScans("scan");
  return kScans.Has(op);
}

std::optional<std::string> ScansBackward(const Instr& op) {
  if (!IsScan(op) || !BoolAttrOr(op, "reverse", false)) return std::nullopt;
  return "reverse=True";
}

std::optional<std::string> ScansArrays(const Instr& op) {
  if (!IsScan(op) || op.regions.empty()) return std::nullopt;
  const auto in = static_cast<std::size_t>(
      std::count_if(op.args.begin(), op.args.end(), [](const Arg& arg) { return arg.name == "xs"; }));
  const std::size_t params = op.regions[0].params.size(), carried = params - std::min(in, params);
  if (in > 0) return Cat(in, " arrays that it goes through");
  return op.types.size() > carried ? std::optional(Cat(op.types.size() - carried, " results by step")) : std::nullopt;
}

}  // namespace palladion::legality
