// Which memories of a TPU can be loaded, stored and copied, and through which views. Based on: JAX 0.10.2,
// jax/_src/pallas/mosaic/lowering.py (_transform_ref, _load_lowering_rule, _masked_swap_lowering_rule,
// _dma_start_lowering_rule) and the verifiers of memref_slice, memref_reshape, memref_bitcast and enqueue_dma.
#include <algorithm>

#include "emu/check/legality/tpu/limits.h"
#include "semantics/base/cat.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

std::string NameOf(const Kernel& kernel, ValueId ref) {
  const ValueInfo& info = kernel.values[ref.index()];
  return Cat("'", info.label.empty() ? info.name : info.label, "'");
}

// ---- views

// The type that the view has after so many steps of its chain.
std::optional<Type> After(const TpuViewSite& site, std::size_t steps) {
  const absl::Span<const Transform> chain(site.view.transforms);
  absl::StatusOr<Type> type = ViewType(site.legality.kernel(), site.ref, chain.first(steps));
  return type.ok() ? std::optional(*std::move(type)) : std::nullopt;
}

// A load or a store looks at its last index itself.
bool IsAccessItself(const TpuViewSite& site, std::size_t t) {
  return site.is_loaded && t + 1 == site.view.transforms.size();
}

std::optional<std::string> Kind(const TpuViewSite& site) {
  for (const Transform& transform : site.view.transforms) {
    switch (transform.kind) {
      case Transform::Kind::kAt:
      case Transform::Kind::kBitcast:
      case Transform::Kind::kReshape:
        break;
      default:
        return Cat(".", Name(transform.kind), " of ", NameOf(site.legality.kernel(), site.view.value));
    }
  }
  return std::nullopt;
}

std::optional<std::string> IndexArray(const TpuViewSite& site) {
  const Kernel& kernel = site.legality.kernel();
  for (const Transform& transform : site.view.transforms) {
    for (const Index& index : transform.indices) {
      if (index.kind != Index::Kind::kPoint || index.start.kind == Arg::Kind::kNone) continue;
      const Type type = TypeOfArg(kernel, index.start);
      if (!type.shape.empty()) return Cat("the index array ", ToString(type), " of ", NameOf(kernel, site.view.value));
    }
  }
  return std::nullopt;
}

std::optional<std::string> Step(const TpuViewSite& site) {
  for (std::size_t t = 0; t < site.view.transforms.size(); ++t) {
    const Transform& transform = site.view.transforms[t];
    if (transform.kind == Transform::Kind::kAt && IsStrided(transform) && !IsAccessItself(site, t))
      return Cat("one of ", NameOf(site.legality.kernel(), site.view.value));
  }
  return std::nullopt;
}

std::optional<std::string> Reshape(const TpuViewSite& site) {
  for (std::size_t t = 0; t < site.view.transforms.size(); ++t) {
    if (site.view.transforms[t].kind != Transform::Kind::kReshape) continue;
    const std::optional<Type> before = After(site, t);
    const std::size_t to = site.view.transforms[t].ints.size();
    if (before.has_value() && before->shape.size() >= 2 && to >= 2) continue;
    return Cat(NameOf(site.legality.kernel(), site.view.value), " reshaped",
               before.has_value() ? Cat(" from ", ToString(before->shape)) : "", " to ",
               ToString(site.view.transforms[t].ints));
  }
  return std::nullopt;
}

// Where the chain has not been sliced yet, the block's dimensions that the kernel does not see are still there.
std::optional<std::string> Squeezed(const TpuViewSite& site) {
  if (site.view.transforms.empty() || !HasSqueezedDims(site.legality, site.view.value)) return std::nullopt;
  const Transform& first = site.view.transforms[0];
  const bool copied = !site.is_loaded;
  if (first.kind != Transform::Kind::kBitcast && !copied) return std::nullopt;
  return Cat(".", Name(first.kind), " of ", NameOf(site.legality.kernel(), site.view.value));
}

constexpr std::string_view kTransformSource = "lowering.py, _transform_ref";

constexpr Limit<TpuViewSite> kViewLimits[] = {
    {{"tpu.view.kind", "a view is made of .at, .reshape and .bitcast", kTransformSource,
      "load the ref and transform the value"},
     Kind},
    {{"tpu.view.index-array", "a ref is indexed by scalars and slices only",
      "lowering.py, _canonicalize_transforms_to_indexer",
      "slice the ref and gather from the value, or copy with a loop"},
     IndexArray},
    {{"tpu.view.step", "a slice with a step occurs only as the last index of a load or a store",
      "lowering.py, _slice_memref", "put all indices into one load or store; copy whole slices"},
     Step},
    {{"tpu.view.reshape", "a ref of rank 2 or more is reshaped to rank 2 or more",
      "lowering.py, _reshape_memref; tpu.memref_reshape, verifier", "load the ref and reshape the value"},
     Reshape},
    {{"tpu.view.squeezed",
      "a block with dimensions that are left out (None) is sliced before it is bitcast, and is copied as a whole",
      "tpu.memref_bitcast and tpu.memref_slice, verifiers", "give the dimension the size 1"},
     Squeezed},
};

// ---- loads and stores

std::string Ref(const TpuAccessSite& site) { return NameOf(site.legality.kernel(), site.view.value); }

std::optional<std::string> Direct(const TpuAccessSite& site) {
  if (site.space == Space::kVmem || site.space == Space::kSmem) return std::nullopt;
  return Cat(Ref(site), " in ", Name(site.space));
}

std::optional<std::string> SmemArray(const TpuAccessSite& site) {
  if (site.space != Space::kSmem || site.value.shape.empty() || site.value.is_key()) return std::nullopt;
  return Cat(ToString(site.value), " of ", Ref(site));
}

std::optional<std::string> SmemMask(const TpuAccessSite& site) {
  if (site.space != Space::kSmem || !site.is_store || site.mask == nullptr) return std::nullopt;
  return Cat("a mask on ", Ref(site));
}

std::optional<std::string> RankZero(const TpuAccessSite& site) {
  if (site.space != Space::kVmem || site.legality.BlockRankOf(site.view.value) != 0u) return std::nullopt;
  // One key is an array of its words there (_load_lowering_rule, should_physicalize_dtype).
  if (!site.legality.kernel().values[site.view.value.index()].type.key_impl.empty()) return std::nullopt;
  return Ref(site);
}

std::optional<std::string> StoredScalar(const TpuAccessSite& site) {
  if (site.space != Space::kVmem || !site.is_store || !site.value.shape.empty()) return std::nullopt;
  return Cat("the scalar ", ToString(site.value), " into ", Ref(site));
}

std::optional<std::string> LoadMask(const TpuAccessSite& site) {
  if (site.is_store || site.mask == nullptr) return std::nullopt;
  return Cat("a mask on ", Ref(site));
}

std::optional<std::string> MaskBits(const TpuAccessSite& site) {
  if (!site.is_store || site.mask == nullptr || StorageBytes(site.value.dtype) == 4) return std::nullopt;
  return ToString(site.value);
}

std::optional<std::string> MaskShape(const TpuAccessSite& site) {
  if (!site.is_store || site.mask == nullptr) return std::nullopt;
  const Type mask = TypeOfArg(site.legality.kernel(), *site.mask);
  if (mask.shape == site.value.shape) return std::nullopt;
  return Cat("the mask ", ToString(mask), " for ", ToString(site.value));
}

std::optional<std::string> MaskStep(const TpuAccessSite& site) {
  if (!site.is_store || site.mask == nullptr || site.view.transforms.empty()) return std::nullopt;
  return IsStrided(site.view.transforms.back()) ? std::optional(Cat("a step in ", Ref(site))) : std::nullopt;
}

constexpr std::string_view kLoadSource = "lowering.py, _load_lowering_rule";
constexpr std::string_view kStoreSource = "lowering.py, _masked_swap_lowering_rule";
constexpr std::string_view kBothSource = "lowering.py, _load_lowering_rule and _masked_swap_lowering_rule";

constexpr Limit<TpuAccessSite> kDirectAccessLimits[] = {
    {{"tpu.access.space", "only vmem and smem can be loaded and stored", kBothSource,
      "copy it to vmem with pltpu.sync_copy or async_copy first"},
     Direct},
};

constexpr Limit<TpuAccessSite> kAccessLimits[] = {
    {{"tpu.access.smem-scalar", "a load or a store of smem accesses one scalar", kBothSource,
      "index down to one element, or put the array into vmem"},
     SmemArray},
    {{"tpu.access.smem-mask", "a store to smem has no mask", kStoreSource, "use pl.when"}, SmemMask},
    {{"tpu.access.rank-0", "a ref of rank 0 is in smem", kBothSource, "put it into smem"}, RankZero},
    {{"tpu.access.store-scalar", "a store to vmem stores an array", kStoreSource,
      "store a slice of one element, or put the ref into smem"},
     StoredScalar},
    {{"tpu.access.load-mask", "a load has no mask", kLoadSource, "load all of it and select with jnp.where"}, LoadMask},
    {{"tpu.access.mask-bits", "a masked store has 32-bit elements", kStoreSource, "convert to 32 bits first"},
     MaskBits},
    {{"tpu.access.mask-shape", "the mask of a store has the value's shape", kStoreSource, "broadcast the mask"},
     MaskShape},
    {{"tpu.access.mask-step", "a masked store has no step", kStoreSource, "store whole slices"}, MaskStep},
};

// ---- copies

bool IsCopy(const Instr& op) {
  static const RuleRows kCopies("dma_start", "dma_wait");
  return kCopies.Has(op);
}
bool IsStart(const Instr& op) {
  static const RuleRows kStarts("dma_start");
  return kStarts.Has(op);
}

// What the copy sees: an array type, with the dimensions that the block leaves out where it is copied as a whole.
std::optional<Type> Side(const TpuOpSite& site, std::string_view name) {
  const Kernel& kernel = site.legality.kernel();
  for (const Arg& arg : site.op.args) {
    if (arg.name != name || arg.kind != Arg::Kind::kValue) continue;
    const Type& ref = kernel.values[arg.value.index()].type;
    absl::StatusOr<Type> type = ViewType(kernel, ref, arg.transforms);
    if (!type.ok()) return std::nullopt;
    const Operand* operand = site.legality.OperandOf(arg.value);
    if (!arg.transforms.empty() || operand == nullptr || !operand->block.has_value()) return *std::move(type);
    type->shape.clear();
    for (const BlockDim& dim : operand->block->dims) type->shape.push_back(dim.size);
    return *std::move(type);
  }
  return std::nullopt;
}

std::optional<std::string> Add(const TpuOpSite& site) {
  if (!IsStart(site.op) || !BoolAttrOr(site.op, "add", false)) return std::nullopt;
  return "add=True";
}

std::optional<std::string> BoolCopy(const TpuOpSite& site) {
  if (!IsStart(site.op)) return std::nullopt;
  for (const std::string_view name : {"src", "dst"}) {
    const std::optional<Type> side = Side(site, name);
    if (side.has_value() && IsBool(side->dtype)) return ToString(*side);
  }
  return std::nullopt;
}

std::optional<std::string> CopyTypes(const TpuOpSite& site) {
  if (!IsCopy(site.op)) return std::nullopt;
  const std::optional<Type> src = Side(site, "src"), dst = Side(site, "dst");
  if (!src.has_value() || !dst.has_value() || src->dtype == dst->dtype) return std::nullopt;
  const DTypeInfo &a = Info(src->dtype), &b = Info(dst->dtype);
  const bool same_bits = IsInteger(src->dtype) && IsInteger(dst->dtype) && a.bits == b.bits;  // one type to Mosaic
  return same_bits ? std::nullopt : std::optional(Cat(ToString(*src), " and ", ToString(*dst)));
}

std::optional<std::string> CopyShapes(const TpuOpSite& site) {
  if (!IsCopy(site.op)) return std::nullopt;
  const std::optional<Type> src = Side(site, "src"), dst = Side(site, "dst");
  if (!src.has_value() || !dst.has_value() || src->shape == dst->shape) return std::nullopt;
  return Cat(ToString(*src), " and ", ToString(*dst), ", dimensions that a block leaves out counted");
}

constexpr std::string_view kCopySource = "lowering.py, _dma_start_lowering_rule";

constexpr Limit<TpuOpSite> kCopyLimits[] = {
    {{"tpu.copy.add", "a copy does not add to its destination", kCopySource, "copy to vmem and add there"}, Add},
    {{"tpu.copy.bool", "a copy does not move bools", kCopySource, "use i8 or i32 arrays"}, BoolCopy},
    {{"tpu.copy.types", "both sides of a copy have one type", "tpu.enqueue_dma, verifier",
      "bitcast the other side too"},
     CopyTypes},
    {{"tpu.copy.shapes", "both sides of a copy have one shape", "tpu.enqueue_dma, verifier",
      "slice or reshape one of them; give a dimension that is left out (None) the size 1 and index it"},
     CopyShapes},
};

}  // namespace

absl::Span<const Limit<TpuViewSite>> TpuViewLimits() { return kViewLimits; }
absl::Span<const Limit<TpuAccessSite>> TpuDirectAccessLimits() { return kDirectAccessLimits; }
absl::Span<const Limit<TpuAccessSite>> TpuAccessLimits() { return kAccessLimits; }
absl::Span<const Limit<TpuOpSite>> TpuCopyLimits() { return kCopyLimits; }

}  // namespace palladion::legality
