#include "emu/check/legality/gpu/limits.h"

#include "semantics/base/cat.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

// Walks the body once and applies to each instruction the table for it.
class LimitWalk {
 public:
  LimitWalk(Legality& legality, const layouts::GpuFacts& facts)
      : legality_(legality), facts_(facts), scope_{.facts = &facts} {}

  void Launch() {
    JudgeKernel(MeshLimits());
    JudgeKernel(RegisterLimits());
    for (const Operand& operand : facts_.kernel->operands) {
      const Type& type = facts_.kernel->values[operand.value.index()].type;
      if (!IsBarrier(type)) continue;
      const BarrierSite site{facts_, type};
      for (const GpuLimit<BarrierSite>& limit : BarrierLimits()) {
        const std::optional<std::string> found = limit.found(site);
        if (found.has_value()) legality_.Illegal(operand, MessageOf(limit.text, *found), std::string(limit.text.fix));
      }
    }
  }

  void Walk(const Region& region) {
    for (const Param& param : region.params) Define(param.value);
    for (const Instr& op : region.body) {
      Look(op);
      const bool enters =
          RowOf(op).loops == Loops::kWarps && scope_.warp == nullptr && layouts::WordOf(op.attrs, "mesh") == "warp";
      if (enters) {
        scope_.warp = &op;
        scope_.defined_in_warp.assign(facts_.kernel->values.size(), false);
      }
      for (const Region& inner : op.regions) Walk(inner);
      if (enters) scope_.warp = nullptr;
      for (const ValueId result : op.results) Define(result);
    }
  }

 private:
  static bool IsBarrier(const Type& type) {
    return type.element == ElementKind::kBarrier || type.element == ElementKind::kClusterBarrier;
  }

  void Define(ValueId value) {
    if (scope_.warp != nullptr && value.valid()) scope_.defined_in_warp[value.index()] = true;
  }

  void JudgeKernel(absl::Span<const GpuLimit<KernelSite>> limits) {
    const KernelSite site{facts_};
    for (const GpuLimit<KernelSite>& limit : limits) {
      const std::optional<std::string> found = limit.found(site);
      if (found.has_value()) legality_.Illegal(MessageOf(limit.text, *found), std::string(limit.text.fix));
    }
  }

  void Look(const Instr& op) {
    const OpSite site{scope_, op};
    Judge(legality_, op, OperationLimits(), site);
    Judge(legality_, op, ValueLimits(), site);
    Judge(legality_, op, WarpLimits(), site);
    Judge(legality_, op, PairLimits(), site);
    Judge(legality_, op, BarrierUseLimits(), site);
    Judge(legality_, op, DeviceLimits(), site);
    Judge(legality_, op, PeerLimits(), site);
    static const RuleRows kCopies("copy_gmem_to_smem", "copy_smem_to_gmem");
    static const RuleRows kProducts("wgmma_ref", "wgmma");
    static const RuleRows kPrefetches("async_prefetch");
    static const RuleRows kTcgen05("tcgen05_mma");
    static const RuleRows kTmemCopies("async_copy_smem_to_tmem", "async_copy_scales_to_tmem",
                                      "async_copy_sparse_metadata_to_tmem");
    if (HasScope(RowOf(op))) LookAtAllocations(op);
    LookAtViews(op);
    if (kPrefetches.Has(op)) Judge(legality_, op, PrefetchLimits(), site);
    if (kCopies.Has(op)) CheckCopy(legality_, scope_, op);
    if (kProducts.Has(op)) CheckWgmma(legality_, scope_, op);
    if (kTcgen05.Has(op)) CheckTcgen05(legality_, scope_, op);
    if (kTmemCopies.Has(op)) CheckTmemCopy(legality_, scope_, op);
  }

  void LookAtAllocations(const Instr& op) {
    if (op.regions.empty()) return;
    for (const Param& param : op.regions[0].params) {
      const ValueInfo& value = facts_.kernel->values[param.value.index()];
      if (!value.type.is_ref()) continue;
      ++legality_.memories;
      Judge(legality_, op, AllocationLimits(), AllocatedRefSite{facts_, op, value});
      Judge(legality_, op, TmemAllocationLimits(), AllocatedRefSite{facts_, op, value});
      if (IsBarrier(value.type)) Judge(legality_, op, BarrierLimits(), BarrierSite{facts_, value.type});
    }
  }

  static bool IsAccess(const Instr& op) {
    const RefAccess access = RowOf(op).access;
    return access == RefAccess::kLoad || access == RefAccess::kStore || access == RefAccess::kAdd ||
           access == RefAccess::kAtomic;
  }

  void LookAtViews(const Instr& op) {
    bool first = true;  // of an access: the ref that is read or written
    for (const Arg& arg : op.args) {
      if (!layouts::IsRefArg(*facts_.kernel, arg)) continue;
      const layouts::GpuView view = layouts::GpuViewOf(*facts_.kernel, arg);
      Judge(legality_, op, ViewLimits(), ViewSite{facts_, op, view});
      Judge(legality_, op, TmemViewLimits(), ViewSite{facts_, op, view});
      if (first && IsAccess(op)) {
        ++legality_.accesses;
        Judge(legality_, op, AccessLimits(), AccessSite{scope_, op, view});
      }
      first = false;
    }
  }

  Legality& legality_;
  const layouts::GpuFacts& facts_;
  GpuScope scope_;
};

}  // namespace

std::vector<LimitText> AllGpuLimits() {
  std::vector<LimitText> texts;
  ListLimits(MeshLimits(), texts);
  ListLimits(BarrierLimits(), texts);
  ListLimits(BarrierUseLimits(), texts);
  ListLimits(AllocationLimits(), texts);
  ListLimits(TmemAllocationLimits(), texts);
  ListLimits(RegisterLimits(), texts);
  ListLimits(ViewLimits(), texts);
  ListLimits(TmemViewLimits(), texts);
  ListLimits(AccessLimits(), texts);
  ListCopyLimits(texts);
  ListRowLimits(texts);
  ListLimits(PrefetchLimits(), texts);
  ListWgmmaLimits(texts);
  ListTcgen05Limits(texts);
  ListTmemCopyLimits(texts);
  ListTmemTransferLimits(texts);
  ListLimits(PairLimits(), texts);
  ListReadLimits(texts);
  ListLayoutLimits(texts);
  ListLimits(ValueLimits(), texts);
  ListLimits(WarpLimits(), texts);
  ListLimits(OperationLimits(), texts);
  ListLimits(DeviceLimits(), texts);
  ListLimits(PeerLimits(), texts);
  return texts;
}

void CheckGpuLimits(Legality& legality) {
  const Kernel& kernel = legality.kernel();
  if (kernel.bodies.size() != 1) return;
  const layouts::GpuFacts facts = layouts::GpuFactsOf(kernel, legality.chip());
  LimitWalk walk(legality, facts);
  walk.Launch();
  walk.Walk(kernel.bodies[0].region);
  CheckReads(legality, facts);
  CheckTmemTransfers(legality, facts);
  CheckLayouts(legality, facts);
}

}  // namespace palladion::legality
