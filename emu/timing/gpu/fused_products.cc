#include "emu/timing/gpu/fused_products.h"

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "semantics/program/uses.h"
#include "semantics/registry/op_row.h"

namespace palladion::timing::gpu {

namespace {

bool Is(const Instr& instr, Fuses what) {
  return RowOf(instr).fuses == what && instr.results.size() == 1 && instr.types[0].dtype == DType::kF32;
}

struct Uses {
  int count = 0;
  const Instr* last = nullptr;
};

}  // namespace

absl::flat_hash_set<const Instr*> FusedProducts(const Region& region) {
  absl::flat_hash_map<std::int32_t, Uses> uses;  // by ValueId
  const auto use = [&](ValueId value, const Instr* by) {
    Uses& of = uses[value.value];
    ++of.count;
    of.last = by;
  };
  for (const Instr& instr : region.body) VisitUses(instr, [&](ValueId value) { use(value, &instr); });
  for (const Arg& result : region.results) VisitUses(result, [&](ValueId value) { use(value, nullptr); });
  absl::flat_hash_set<const Instr*> fused;
  for (const Instr& instr : region.body) {
    if (!Is(instr, Fuses::kProduct)) continue;
    const auto of = uses.find(instr.results[0].value);
    if (of != uses.end() && of->second.count == 1 && of->second.last != nullptr && Is(*of->second.last, Fuses::kSum))
      fused.insert(&instr);
  }
  return fused;
}

}  // namespace palladion::timing::gpu
