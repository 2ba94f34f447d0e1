// Tensor memory: what is allocated, how it is seen, what is copied into it, and operations of two blocks together.
// Sources: JAX 0.10.2, jax/experimental/mosaic/gpu/tcgen05.py (TMEMLayout, TMEMRef.slice, async_copy_*), core.py and
// jax/_src/pallas/mosaic_gpu/{lowering,primitives}.py. Does not catch: slices that begin where only the run knows.
#include <algorithm>

#include "emu/check/legality/gpu/limits.h"
#include "emu/chip/layouts/tensor_memory.h"
#include "emu/chip/layouts/tmem_members.h"
#include "semantics/base/cat.h"
#include "semantics/ir/tmem_layout.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

bool IsTmem(const Type& type) {
  return type.is_ref() && type.space == Space::kTmem && type.element == ElementKind::kData;
}

// ---- allocations

std::optional<std::string> Layout(const AllocatedRefSite& site) {
  if (!IsTmem(site.value.type)) return std::nullopt;
  const absl::StatusOr<TmemLayout> layout = TmemLayoutOf(site.value.type);
  const absl::Status status = layout.ok() ? CheckTmemShape(*layout, site.value.type) : layout.status();
  if (status.ok()) return std::nullopt;
  return Cat(ToString(site.value.type), ": ", status.message());
}

// Where one array has columns, another without any takes no part of them.
std::optional<std::string> NoColumns(const AllocatedRefSite& site) {
  if (!IsTmem(site.value.type) || TmemColumns(site.value.type) > 0) return std::nullopt;
  if (layouts::AllocatedColumns(layouts::TensorMemoryOfScopes(*site.facts.kernel)) > 0) return std::nullopt;
  return ToString(site.value.type);
}

bool IsCollective(const Type& type) {
  const absl::StatusOr<TmemLayout> layout = TmemLayoutOf(type);
  return layout.ok() && layout->collective;
}

std::optional<std::string> PairOfBlocks(const AllocatedRefSite& site) {
  if (!IsTmem(site.value.type) || !IsCollective(site.value.type) || site.facts.ClusterSize() % 2 == 0)
    return std::nullopt;
  return Cat("a cluster of ", site.facts.ClusterSize());
}

std::optional<std::string> Mixed(const AllocatedRefSite& site) {
  if (!IsTmem(site.value.type) || !IsCollective(site.value.type)) return std::nullopt;
  for (const ValueInfo& other : site.facts.kernel->values) {
    if (IsTmem(other.type) && !IsCollective(other.type)) {
      return Cat(ToString(site.value.type), " beside ", ToString(other.type));
    }
  }
  return std::nullopt;
}

constexpr std::string_view kLayouts = "Mosaic GPU, TMEMLayout.check_type";
constexpr std::string_view kAllocation = "Mosaic GPU, tensor memory of a launch";

constexpr GpuLimit<AllocatedRefSite> kAllocationLimits[] = {
    {{"tmem.shape",
      "an array in tensor memory has two dimensions, whole tiles of its layout, and one element in a cell of 32 bits "
      "or "
      "as many as fit",
      kLayouts, "use 128 or 64 rows, and packed=True or False"},
     Layout},
    {{"tmem.columns", "at least one array in a kernel's tensor memory has columns",
      "Mosaic GPU lowering, ModuleContext.alloc_tmem", "give the array a shape without a 0, or leave it out"},
     NoColumns},
    {{"tmem.pair", "collective tensor memory is for clusters with an even number of blocks", kAllocation,
      "give the mesh a cluster of two, or leave out collective=True"},
     PairOfBlocks},
    {{"tmem.mixed", "all tensor memory of a kernel is collective, or none of it is",
      "Mosaic GPU lowering, lower_jaxpr_to_module", "allocate all of it with collective=True, or none"},
     Mixed},
};

// ---- views

// What breaks the rule of slices in one .at of an array of `shape`.
std::optional<std::string> WrongSlice(const Transform& at, const TmemLayout& layout, const Shape& shape) {
  if (at.indices.size() != 2 || shape.size() != 2) return Cat(at.indices.size(), " indices");
  for (std::size_t d = 0; d < at.indices.size(); ++d) {
    const Index& index = at.indices[d];
    if (index.kind == Index::Kind::kFull) continue;
    if (index.kind != Index::Kind::kSlice) return "an index that is no slice";
    if (index.stride != 1) return Cat("a step of ", index.stride);
    const std::optional<std::int64_t> start = layouts::LiteralInt(index.start), size = layouts::LiteralInt(index.size);
    if (d == 0 && (start != 0 || size != shape[0])) return "a slice of rows";
    if (d == 0) continue;
    if (start == 0 && size == shape[1]) continue;
    if (shape[0] != layout.tile_rows) return Cat("columns of an array of ", shape[0], " rows");
    if (start.has_value() && *start % layout.tile_columns != 0) return Cat("columns from ", *start);
    if (size.has_value() && *size % layout.tile_columns != 0) return Cat(*size, " columns");
  }
  return std::nullopt;
}

std::optional<std::string> Slice(const ViewSite& site) {
  if (!IsTmem(site.view.ref)) return std::nullopt;
  const absl::StatusOr<TmemLayout> layout = TmemLayoutOf(site.view.ref);
  if (!layout.ok()) return std::nullopt;
  Shape shape = site.view.ref.shape;
  for (const Transform& transform : site.view.rest) {
    if (transform.kind == Transform::Kind::kExpandBatch) return std::nullopt;  // what follows indexes batches
    if (transform.kind != Transform::Kind::kAt) return Cat(".", Name(transform.kind));
    if (std::optional<std::string> found = WrongSlice(transform, *layout, shape)) {
      return Cat(*found, " of ", ToString(site.view.ref), ", in tiles of ", layout->tile_columns, " columns");
    }
    const std::optional<std::int64_t> size = layouts::LiteralInt(transform.indices[1].size);
    if (transform.indices[1].kind == Index::Kind::kSlice && size.has_value()) shape[1] = *size;
  }
  return std::nullopt;
}

// An array of several batches is one of two dimensions, the batches beside each other.
std::optional<std::string> Batches(const ViewSite& site) {
  if (!IsTmem(site.view.ref)) return std::nullopt;
  const std::vector<Transform>& rest = site.view.rest;
  const auto expands = [](const Transform& transform) { return transform.kind == Transform::Kind::kExpandBatch; };
  const auto expand = std::find_if(rest.begin(), rest.end(), expands);
  if (expand == rest.end()) return std::nullopt;
  static const RuleRows kStores("async_store_tmem");
  const auto next = expand + 1;
  if (next == rest.end())
    return kStores.Has(site.op) ? std::nullopt : std::optional<std::string>("all batches at once");
  if (next->kind != Transform::Kind::kAt || next->indices.size() < 2) return Cat(".", Name(next->kind));
  const std::vector<Index>& indices = next->indices;
  for (std::size_t d = 0; d + 2 < indices.size(); ++d) {
    if (indices[d].kind != Index::Kind::kPoint) return "a slice of the batches";
  }
  const Index& rows = indices[indices.size() - 2];
  const bool whole = rows.kind == Index::Kind::kFull ||
                     (rows.kind == Index::Kind::kSlice && rows.stride == 1 && layouts::LiteralInt(rows.start) == 0 &&
                      layouts::LiteralInt(rows.size) == site.view.ref.shape[0]);
  return whole ? std::nullopt : std::optional<std::string>("a part of the rows");
}

std::optional<std::string> Member(const ViewSite& site) {
  if (!site.facts.lanes || site.view.ref.space != Space::kTmem || site.view.arg->transforms.empty())
    return std::nullopt;
  if (site.view.arg->transforms[0].kind != Transform::Kind::kAlias || site.view.ref.rank() != 2) return std::nullopt;
  if (site.view.ref.shape[0] == kTmemLanes) return std::nullopt;
  return ToString(site.view.ref);
}

std::optional<std::string> Union(const ViewSite& site) {
  static const RuleRows kLoads("async_load_tmem");
  if (site.facts.lanes || !kLoads.Has(site.op) || site.view.ref.space != Space::kTmem) return std::nullopt;
  if (!layouts::IsMember(*site.view.arg) || layouts::HasLayout(*site.facts.kernel, *site.view.arg)) return std::nullopt;
  return ToString(site.view.ref);
}

constexpr GpuLimit<ViewSite> kViewLimits[] = {
    {{"tmem.slice", "tensor memory is sliced by columns only, without a step, in whole tiles of its layout",
      "Mosaic GPU, TMEMRef.slice", "slice whole tiles, or allocate the parts by themselves"},
     Slice},
    {{"tmem.batches",
      "a view of an array of batches in tensor memory shows one batch with all its rows; a store may also take "
      "all batches",
      "Mosaic GPU, ExpandLeadingBatchDimensionsTransform", "load and store the batches one by one"},
     Batches},
    {{"tmem.union",
      "with warpgroup semantics the layout of a member of a union in tensor memory that is loaded is given by an "
      "operation of the tensor core on it, by a store of a value in a layout, or by the load itself",
      "Mosaic GPU, layout inference", "give plgpu.async_load_tmem a layout", true},
     Union},
    {{"tmem.member", "with lane semantics members of a union in tensor memory have 128 rows",
      "Mosaic GPU lowering, _extract_aliased_ref", "allocate arrays of 64 rows outside of the union"},
     Member},
};

// ---- two blocks together

std::string AxisOf(const OpSite& site) {
  static const RuleRows kOfPairs("tcgen05_mma", "tcgen05_commit_arrive", "async_copy_smem_to_tmem",
                                 "async_copy_scales_to_tmem", "async_copy_sparse_metadata_to_tmem");
  return kOfPairs.Has(site.op) ? layouts::WordOf(site.op.attrs, "collective_axis") : "";
}

std::optional<std::string> Axis(const OpSite& site) {
  const std::string axis = AxisOf(site);
  const std::vector<std::string>& axes = site.scope.facts->cluster_names;
  if (axis.empty() || axis == "none" || (!axes.empty() && axes.back() == axis)) return std::nullopt;
  return Cat("collective_axis='", axis, "'",
             axes.empty() ? " without a cluster" : Cat(", the last is '", axes.back(), "'"));
}

std::optional<std::string> Arrival(const OpSite& site) {
  static const RuleRows kArrivals("tcgen05_commit_arrive");
  static const RuleRows kProducts("tcgen05_mma");
  const bool arrives =
      kArrivals.Has(site.op) || (kProducts.Has(site.op) && layouts::ArgNamed(site.op, "barrier") != nullptr);
  const std::vector<std::int64_t>& cluster = site.scope.facts->cluster;
  if (!arrives || AxisOf(site).empty() || AxisOf(site) == "none" || Axis(site).has_value()) return std::nullopt;
  if (site.scope.facts->ClusterSize() == 2 && cluster.back() == 2) return std::nullopt;
  return Cat("a cluster of ", ToString(Shape(cluster)));
}

constexpr GpuLimit<OpSite> kPairLimits[] = {
    {{"pair.axis", "collective_axis is the last axis of the cluster", "Mosaic GPU lowering, _collective_mma_predicate",
      "name the last of cluster_names"},
     Axis},
    {{"pair.arrival", "an arrival for two blocks together needs a cluster of these two",
      "Mosaic GPU, tcgen05.commit_arrive", "use a cluster of two"},
     Arrival},
};

// ---- copies

struct TmemCopySite {
  const layouts::GpuFacts& facts;
  const Instr& op;
  layouts::GpuView smem, tmem;
  TmemLayout layout;
};

bool IsScaleCopy(const TmemCopySite& site) {
  static const RuleRows kScales("async_copy_scales_to_tmem");
  return kScales.Has(site.op);
}
bool IsMetadataCopy(const TmemCopySite& site) {
  static const RuleRows kMetadata("async_copy_sparse_metadata_to_tmem");
  return kMetadata.Has(site.op);
}
bool IsPlainCopy(const TmemCopySite& site) { return !IsScaleCopy(site) && !IsMetadataCopy(site); }

std::string Describe(const TmemCopySite& site) {
  return Cat(Name(site.smem.dtype), ToString(*site.smem.shape), " into ", ToString(site.tmem.ref));
}

std::optional<std::string> CopiedMemory(const TmemCopySite& site) {
  if (!IsPlainCopy(site)) return std::nullopt;
  const bool ok = site.tmem.shape->size() == 2 && (*site.tmem.shape)[0] == kTmemLanes &&
                  site.layout.name == TmemLayoutName::kDefault &&
                  site.layout.packing == kTmemCellBits / Info(site.tmem.dtype).bits;
  if (ok) return std::nullopt;
  return Describe(site);
}

std::optional<std::string> CopiedTiles(const TmemCopySite& site) {
  if (!IsPlainCopy(site) || (!site.facts.lanes && site.smem.tile.empty())) return std::nullopt;
  constexpr std::int64_t kNoSwizzle = 16;
  const std::vector<std::int64_t> expected = {8, 8 * site.smem.swizzle().value_or(kNoSwizzle) / site.smem.bits()};
  if (site.smem.tile_seen == expected) return std::nullopt;
  return site.smem.tile.empty() ? "no tiles"
                                : Cat("tiles ", ToString(site.smem.tile_seen), ", expected ", ToString(expected));
}

std::optional<std::string> CopiedTypes(const TmemCopySite& site) {
  const DType dtype = site.smem.dtype;
  const bool ok = dtype == site.tmem.dtype &&
                  (!IsScaleCopy(site) || dtype == DType::kF8E8M0FNU || dtype == DType::kF8E4M3FN) &&
                  (!IsMetadataCopy(site) || dtype == DType::kU2 || dtype == DType::kI2);
  if (ok) return std::nullopt;
  return Describe(site);
}

// The bytes between two elements along each dimension that a view keeps, and its sizes.
struct Strides {
  Shape sizes, strides;
};

std::optional<Strides> StridesOf(const layouts::GpuView& view) {
  Strides seen{.sizes = view.ref.shape, .strides = Shape(view.ref.shape.size(), 1)};
  for (std::size_t d = seen.sizes.size(); d-- > 1;) seen.strides[d - 1] = seen.strides[d] * seen.sizes[d];
  for (const Transform& transform : view.rest) {
    if (transform.kind != Transform::Kind::kAt || transform.indices.size() != seen.sizes.size()) return std::nullopt;
    Strides next;
    for (std::size_t d = 0; d < transform.indices.size(); ++d) {
      const Index& index = transform.indices[d];
      if (index.kind == Index::Kind::kPoint) continue;
      const bool sliced = index.kind == Index::Kind::kSlice;
      next.sizes.push_back(sliced ? layouts::LiteralInt(index.size).value_or(0) : seen.sizes[d]);
      next.strides.push_back(seen.strides[d] * (sliced ? index.stride : 1));
    }
    seen = std::move(next);
  }
  return seen;
}

std::optional<std::string> Contiguous(const TmemCopySite& site) {
  if (IsPlainCopy(site)) return std::nullopt;
  const std::optional<Strides> seen = StridesOf(site.smem);
  if (!seen.has_value()) return std::nullopt;
  std::int64_t expected = 1;
  for (std::size_t d = seen->sizes.size(); d-- > 0; expected *= seen->sizes[d]) {
    if (seen->strides[d] != expected) return Cat("a part ", ToString(seen->sizes), " of ", ToString(site.smem.ref));
  }
  return std::nullopt;
}

std::optional<std::string> ScaleShape(const TmemCopySite& site) {
  if (!IsScaleCopy(site) || site.tmem.shape->size() != 2) return std::nullopt;
  const std::int64_t rows = (*site.tmem.shape)[0], columns = (*site.tmem.shape)[1];
  const bool halves = site.layout.name == TmemLayoutName::kScalesM64Collective;
  const Shape expected = halves ? Shape{1, columns / 4, 64, 16} : Shape{rows / kTmemLanes, columns / 4, 32, 16};
  const bool known = halves || site.layout.name == TmemLayoutName::kScales;
  if (known && rows % kTmemLanes == 0 && columns % 4 == 0 && *site.smem.shape == expected && rows <= 2 * kTmemLanes)
    return std::nullopt;
  return Describe(site);
}

std::optional<std::string> MetadataShape(const TmemCopySite& site) {
  if (!IsMetadataCopy(site) || site.tmem.shape->size() != 2) return std::nullopt;
  const std::int64_t rows = (*site.tmem.shape)[0], columns = (*site.tmem.shape)[1];
  if (site.layout.name == TmemLayoutName::kSparseMetadata && rows == kTmemLanes && columns % 64 == 0 &&
      *site.smem.shape == Shape{1, columns / 64, kTmemLanes, 64})
    return std::nullopt;
  return Describe(site);
}

constexpr std::string_view kCopy = "Mosaic GPU, tcgen05.async_copy_smem_to_tmem";

constexpr GpuLimit<TmemCopySite> kCopyLimits[] = {
    {{"tmem-copy.types", "a copy has one type on both sides: of scales f8e8m0fnu or f8e4m3fn, of metadata two bits",
      kCopy, "allocate both in that type"},
     CopiedTypes},
    {{"tmem-copy.memory", "a copy into tensor memory fills 128 rows in layout=default, packed", kCopy,
      "allocate plgpu.TMEM((128, n), dtype, packed=True)"},
     CopiedMemory},
    {{"tmem-copy.tiles",
      "what is copied lies in tiles of 8 rows of the swizzle's bytes, of 16 without one; with lane semantics it is "
      "tiled",
      kCopy, "tile by (8, 8 * swizzle / bits)"},
     CopiedTiles},
    {{"tmem-copy.contiguous", "scales and metadata are copied from SMEM in which they lie one after another",
      "Mosaic GPU, tcgen05.async_copy_scales_smem_to_tmem", "copy the whole ref, or a slot of its first dimension"},
     Contiguous},
    {{"tmem-copy.scales",
      "scales (m, k), at most 256 rows, are copied from (m / 128, k / 4, 32, 16), with layout=scales_m64_collective "
      "from "
      "(1, k / 4, 64, 16)",
      "Mosaic GPU, tcgen05.async_copy_scales_smem_to_tmem", "store the scales in that shape"},
     ScaleShape},
    {{"tmem-copy.metadata", "metadata (128, k) are copied from (1, k / 64, 128, 64)",
      "Mosaic GPU, tcgen05.async_copy_sparse_metadata_smem_to_tmem", "use plgpu.format_tcgen05_sparse_metadata"},
     MetadataShape},
};

}  // namespace

absl::Span<const GpuLimit<AllocatedRefSite>> TmemAllocationLimits() { return kAllocationLimits; }
absl::Span<const GpuLimit<ViewSite>> TmemViewLimits() { return kViewLimits; }
absl::Span<const GpuLimit<OpSite>> PairLimits() { return kPairLimits; }

void CheckTmemCopy(Legality& legality, const GpuScope& scope, const Instr& op) {
  const Kernel& kernel = *scope.facts->kernel;
  const Arg *smem = layouts::ArgNamed(op, "smem"), *tmem = layouts::ArgNamed(op, "tmem");
  if (smem == nullptr || tmem == nullptr || !layouts::IsRefArg(kernel, *smem) || !layouts::IsRefArg(kernel, *tmem))
    return;
  TmemCopySite site{.facts = *scope.facts,
                    .op = op,
                    .smem = layouts::GpuViewOf(kernel, *smem),
                    .tmem = layouts::GpuViewOf(kernel, *tmem)};
  const absl::StatusOr<TmemLayout> layout = TmemLayoutOf(site.tmem.ref);
  if (!layout.ok() || !site.smem.shape.has_value() || !site.tmem.shape.has_value()) return;
  site.layout = *layout;
  Judge(legality, op, absl::Span<const GpuLimit<TmemCopySite>>(kCopyLimits), site);
}

void ListTmemCopyLimits(std::vector<LimitText>& texts) {
  ListLimits(absl::Span<const GpuLimit<TmemCopySite>>(kCopyLimits), texts);
}

}  // namespace palladion::legality
