#include "emu/check/legality/tpu/refusals.h"

#include <algorithm>

#include "semantics/base/cat.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

template <class Site>
bool Judge(Legality& legality, const Instr& op, absl::Span<const Refusal<Site>> rules, const Site& site) {
  for (const Refusal<Site>& rule : rules) {
    const std::optional<std::string> found = rule.found(site);
    if (!found.has_value()) continue;
    legality.MayRefuse(op, rule.text, *found);
    return true;
  }
  return false;
}

// Walks a body and applies to each instruction the table for it. The first rule that an instruction breaks is reported.
class RefusalWalk {
 public:
  explicit RefusalWalk(Legality& legality) : legality_(legality), multiples_(legality.kernel()) {}

  void Look(const Instr& op) {
    const TpuOpSite site{legality_, op};
    const bool judged = Judge(legality_, op, TypeRefusals(), site) || Judge(legality_, op, ShapeRefusals(), site);
    if (!judged) LookAtSlices(op);
  }

 private:
  void LookAtSlices(const Instr& op) {
    static const RuleRows kCopies("dma_start");
    const RefAccess access = RowOf(op).access;
    const bool accesses = (access == RefAccess::kLoad || access == RefAccess::kStore) && !RowOf(op).named_refs;
    if (!accesses && !kCopies.Has(op)) return;
    const bool to_smem = !accesses && TouchesSmem(op);
    for (std::size_t i = 0; i < (accesses ? std::min<std::size_t>(1, op.args.size()) : op.args.size()); ++i) {
      for (const Slicing& slicing : SlicingsOf(legality_, op.args[i])) {
        if (slicing.space == Space::kSmem || (to_smem && slicing.array.size() == 1)) continue;
        const SliceSite site{legality_, multiples_, op, slicing};
        if (Judge(legality_, op, accesses && slicing.is_last ? AccessRefusals() : SliceRefusals(), site)) return;
      }
    }
  }

  // Copies of words to smem have alignments of their own, which are not known.
  bool TouchesSmem(const Instr& op) const {
    const Kernel& kernel = legality_.kernel();
    for (const Arg& arg : op.args) {
      const bool is_ref = arg.kind == Arg::Kind::kValue && kernel.values[arg.value.index()].type.is_ref();
      if (is_ref && TpuSpace(legality_.SpaceOf(arg.value)) == Space::kSmem) return true;
    }
    return false;
  }

  Legality& legality_;
  const Multiples multiples_;
};

template <class Site>
void List(absl::Span<const Refusal<Site>> rules, std::vector<RefusalText>& texts) {
  for (const Refusal<Site>& rule : rules) texts.push_back(rule.text);
}

}  // namespace

std::vector<RefusalText> AllRefusals() {
  std::vector<RefusalText> texts;
  List(SliceRefusals(), texts);
  List(AccessRefusals(), texts);
  List(TypeRefusals(), texts);
  List(ShapeRefusals(), texts);
  List(BlockRefusals(), texts);
  return texts;
}

void CheckRefusals(Legality& legality) {
  const std::string& mesh = legality.kernel().launch.mesh;
  if (legality.backend() != TargetBackend::kMosaicTpu || (!mesh.empty() && mesh != "tensorcore")) return;
  for (std::size_t i = 0; i < legality.kernel().operands.size(); ++i) {
    const Operand& operand = legality.kernel().operands[i];
    if (operand.role != Role::kIn && operand.role != Role::kOut) continue;
    const Type& array = legality.kernel().values[operand.value.index()].type;
    const TpuOperandSite site{
        legality, i, operand, array, TpuSpace(legality.SpaceOf(i)), IsTrivialWindow(operand, array)};
    for (const Refusal<TpuOperandSite>& rule : BlockRefusals()) {
      const std::optional<std::string> found = rule.found(site);
      if (found.has_value()) legality.MayRefuse(operand, rule.text, *found);
    }
  }
  RefusalWalk walk(legality);
  ForEachCompiled(legality, legality.kernel().bodies[0].region, [&](const Instr& op) { walk.Look(op); });
}

}  // namespace palladion::legality
