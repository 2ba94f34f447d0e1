#include "emu/check/legality/tpu/limits.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

template <class Site>
std::optional<std::string> FoundBy(const Legality& legality, const Limit<Site>& limit, const Site& site) {
  if (limit.text.until_jax_0_10 && legality.jax_0_11) return std::nullopt;
  return limit.found(site);
}

// Reports the first rule of the table that is broken, as JAX reports the first that it comes to.
template <class Site>
bool JudgeOp(Legality& legality, const Instr& op, absl::Span<const Limit<Site>> limits, const Site& site) {
  for (const Limit<Site>& limit : limits) {
    const std::optional<std::string> found = FoundBy(legality, limit, site);
    if (!found.has_value()) continue;
    legality.Illegal(op, Cat(op.name, ": ", MessageOf(limit.text, *found)), std::string(limit.text.fix),
                     limit.text.about);
    return true;
  }
  return false;
}

bool JudgeOperand(Legality& legality, absl::Span<const Limit<TpuOperandSite>> limits, const TpuOperandSite& site) {
  for (const Limit<TpuOperandSite>& limit : limits) {
    const std::optional<std::string> found = FoundBy(legality, limit, site);
    if (!found.has_value()) continue;
    legality.Illegal(site.operand, MessageOf(limit.text, *found), std::string(limit.text.fix), limit.text.about);
    return true;
  }
  return false;
}

TpuOperandSite SiteOf(const Legality& legality, std::size_t i) {
  const Operand& operand = legality.kernel().operands[i];
  const Type& array = legality.kernel().values[operand.value.index()].type;
  return {legality, i, operand, array, TpuSpace(legality.SpaceOf(i)), IsTrivialWindow(operand, array)};
}

bool IsBlock(const Operand& operand) { return operand.role == Role::kIn || operand.role == Role::kOut; }

const Arg* MaskOf(const Instr& op) {
  for (const Arg& arg : op.args) {
    if (arg.name == "mask" && arg.kind != Arg::Kind::kNone) return &arg;
  }
  return nullptr;
}

// nullopt: no load or store of memory, or one that only the verifier can judge.
std::optional<TpuAccessSite> AccessOf(const Legality& legality, const Instr& op) {
  const RefAccess access = RowOf(op).access;
  if ((access != RefAccess::kLoad && access != RefAccess::kStore) || RowOf(op).named_refs || op.args.empty())
    return std::nullopt;
  const Kernel& kernel = legality.kernel();
  const Arg& view = op.args[0];
  if (view.kind != Arg::Kind::kValue) return std::nullopt;
  const ValueInfo& info = kernel.values[view.value.index()];
  const Arg* mask = MaskOf(op);
  const absl::StatusOr<Type> value = ViewType(kernel, info.type, view.transforms);
  if (!value.ok() || info.type.element != ElementKind::kData) return std::nullopt;
  const Space space = TpuSpace(legality.SpaceOf(view.value));
  return TpuAccessSite{legality, op, view, space, *value, access == RefAccess::kStore, mask};
}

// Walks a body and applies to each instruction the table for it.
class TpuWalk {
 public:
  explicit TpuWalk(Legality& legality) : legality_(legality) {}

  void Look(const Instr& op) {
    const std::optional<TpuAccessSite> access = AccessOf(legality_, op);
    if (access.has_value()) ++legality_.accesses;
    const bool viewed = LookAtViews(op, access.has_value());
    if (access.has_value() && !viewed && !JudgeOp(legality_, op, TpuDirectAccessLimits(), *access))
      JudgeOp(legality_, op, TpuAccessLimits(), *access);
    const TpuOpSite site{legality_, op};
    for (const auto limits : {TpuArithmeticLimits(), TpuReductionLimits(), TpuShapeLimits(), TpuDotLimits(),
                              TpuMatrixUnitLimits(), TpuControlLimits()})
      JudgeOp(legality_, op, limits, site);
    if (!viewed) JudgeOp(legality_, op, TpuCopyLimits(), site);
  }

 private:
  // True where a rule was broken.
  bool LookAtViews(const Instr& op, bool is_loaded) {
    const Kernel& kernel = legality_.kernel();
    for (const Arg& arg : op.args) {
      if (arg.kind != Arg::Kind::kValue || !kernel.values[arg.value.index()].type.is_ref()) continue;
      const TpuViewSite site{legality_, op, arg, kernel.values[arg.value.index()].type, is_loaded};
      if (JudgeOp(legality_, op, TpuViewLimits(), site)) return true;
    }
    return false;
  }

  Legality& legality_;
};

void CheckOperands(Legality& legality) {
  for (std::size_t i = 0; i < legality.kernel().operands.size(); ++i) {
    const TpuOperandSite site = SiteOf(legality, i);
    if (site.operand.role == Role::kBound) continue;
    if (IsBlock(site.operand) && legality.kernel().launch.mesh.empty()) {
      ++legality.blocks;
      if (!JudgeOperand(legality, TpuHbmBlockLimits(), site)) JudgeOperand(legality, TpuBlockLimits(), site);
    }
    JudgeOperand(legality, TpuOperandLimits(), site);
  }
}

}  // namespace

Type TpuOpSite::In(std::size_t i) const {
  return i < op.args.size() ? TypeOfArg(legality.kernel(), op.args[i]) : ArrayType(DType::kI32, {});
}

Type TpuOpSite::Out(std::size_t i) const { return i < op.types.size() ? op.types[i] : ArrayType(DType::kI32, {}); }

Space TpuSpace(Space space) {
  switch (space) {
    case Space::kDefault:
      return Space::kVmem;
    case Space::kError:
    case Space::kIndex:
    case Space::kKey:
      return Space::kSmem;
    default:
      return space;
  }
}

std::string TpuBlockText(const BlockSpec& block) {
  return Cat("(",
             absl::StrJoin(block.dims, ", ",
                           [](std::string* out, const BlockDim& dim) {
                             Append(out, dim.kind == BlockDim::Kind::kSqueezed ? std::string("None") : Cat(dim.size));
                           }),
             ")");
}

bool IsStrided(const Transform& at) {
  return std::any_of(at.indices.begin(), at.indices.end(),
                     [](const Index& index) { return index.kind == Index::Kind::kSlice && index.stride != 1; });
}

bool HasSqueezedDims(const Legality& legality, ValueId ref) {
  const std::optional<std::size_t> rank = legality.BlockRankOf(ref);
  return rank.has_value() && *rank != legality.kernel().values[ref.index()].type.shape.size();
}

std::vector<LimitText> AllTpuLimits() {
  std::vector<LimitText> texts;
  ListLimits(TpuLaunchLimits(), texts);
  ListLimits(TpuHbmBlockLimits(), texts);
  ListLimits(TpuBlockLimits(), texts);
  ListLimits(TpuOperandLimits(), texts);
  ListLimits(TpuViewLimits(), texts);
  ListLimits(TpuDirectAccessLimits(), texts);
  ListLimits(TpuAccessLimits(), texts);
  ListLimits(TpuCopyLimits(), texts);
  ListLimits(TpuArithmeticLimits(), texts);
  ListLimits(TpuReductionLimits(), texts);
  ListLimits(TpuShapeLimits(), texts);
  ListLimits(TpuDotLimits(), texts);
  ListLimits(TpuMatrixUnitLimits(), texts);
  ListLimits(TpuControlLimits(), texts);
  return texts;
}

void CheckTpu(Legality& legality) {
  if (legality.backend() != TargetBackend::kMosaicTpu) return;
  const Kernel& kernel = legality.kernel();
  for (const Limit<Kernel>& limit : TpuLaunchLimits()) {
    const std::optional<std::string> found = FoundBy(legality, limit, kernel);
    if (found.has_value()) legality.Illegal(MessageOf(limit.text, *found), std::string(limit.text.fix));
  }
  CheckOperands(legality);
  TpuWalk walk(legality);
  for (const Region* region : CompiledRegions(legality))
    ForEachCompiled(legality, *region, [&](const Instr& op) { walk.Look(op); });
}

void CheckTpuDirectAccess(Legality& legality) {
  if (legality.backend() != TargetBackend::kMosaicTpu) return;
  const std::vector<Operand>& operands = legality.kernel().operands;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (IsBlock(operands[i])) JudgeOperand(legality, TpuHbmBlockLimits(), SiteOf(legality, i));
  }
  ForEachCompiled(legality, legality.kernel().bodies[0].region, [&](const Instr& op) {
    const std::optional<TpuAccessSite> access = AccessOf(legality, op);
    if (!access.has_value()) return;
    ++legality.accesses;
    JudgeOp(legality, op, TpuDirectAccessLimits(), *access);
  });
}

}  // namespace palladion::legality
