// Views of SMEM with tiles and swizzles, and what get and swap reach through them. Sources: JAX 0.10.2,
// jax/_src/pallas/mosaic_gpu/core.py (UntilingTransform, SwizzleTransform, UnswizzleRef) and lowering.py
// (_handle_transforms, _get_lowering_rule, _swap_lowering_rule); jax/experimental/mosaic/gpu/fragmented_array.py
// (_store_register_atomic). With warpgroup semantics the compiler finds layouts itself, so only what the kernel states
// is judged.
#include <algorithm>

#include "emu/check/legality/gpu/limits.h"
#include "emu/chip/layouts/register_facts.h"
#include "emu/chip/layouts/view_strides.h"
#include "semantics/base/cat.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kSwizzles[] = {32, 64, 128};

std::optional<std::string> SwizzleBytes(const ViewSite& site) {
  for (const std::int64_t swizzle : site.view.swizzles) {
    if (std::find(std::begin(kSwizzles), std::end(kSwizzles), swizzle) == std::end(kSwizzles))
      return Cat("a swizzle of ", swizzle, " bytes");
  }
  return std::nullopt;
}

std::optional<std::string> SwizzleWidth(const ViewSite& site) {
  const std::optional<std::int64_t> swizzle = site.view.swizzle();
  if (!swizzle.has_value() || SwizzleBytes(site).has_value() || site.view.ref.shape.empty()) return std::nullopt;
  const int bits = Info(site.view.ref.dtype).bits;
  const std::int64_t width = site.view.ref.shape.back() * bits;
  if (width == *swizzle * 8) return std::nullopt;
  return Cat(site.view.ref.shape.back(), " elements of ", Name(site.view.ref.dtype), " under a swizzle of ", *swizzle,
             " bytes, which ", *swizzle * 8 / bits, " fill");
}

std::optional<std::string> Untile(const ViewSite& site) {
  if (site.view.tile.empty() || site.view.untiled.has_value()) return std::nullopt;
  return Cat("tiles ", ToString(site.view.tile), " of ", ToString(site.view.ref));
}

// Calls `use(index, tile)` for the indices of the first .at after .untile that lie along tiled dimensions.
template <class Use>
std::optional<std::string> AlongTiles(const layouts::GpuView& view, const Use& use) {
  if (view.tile.empty() || view.rest.empty() || view.rest[0].kind != Transform::Kind::kAt) return std::nullopt;
  const std::vector<Index>& indices = view.rest[0].indices;
  for (std::size_t i = 0; i < view.tile.size() && i < indices.size(); ++i) {
    const Index& index = indices[indices.size() - 1 - i];
    if (std::optional<std::string> found = use(index, view.tile[view.tile.size() - 1 - i])) return found;
  }
  return std::nullopt;
}

std::optional<std::string> TilePoint(const ViewSite& site) {
  return AlongTiles(site.view, [](const Index& index, std::int64_t) -> std::optional<std::string> {
    if (index.kind != Index::Kind::kPoint) return std::nullopt;
    return "an index";
  });
}

std::optional<std::string> TileSlice(const ViewSite& site) {
  return AlongTiles(site.view, [](const Index& index, std::int64_t tile) -> std::optional<std::string> {
    if (index.kind != Index::Kind::kSlice || tile < 1) return std::nullopt;
    const std::optional<std::int64_t> start = layouts::LiteralInt(index.start), size = layouts::LiteralInt(index.size);
    if (index.stride != 1) return Cat("a step of ", index.stride, " along tiles of ", tile);
    if (start.value_or(0) % tile == 0 && size.value_or(0) % tile == 0) return std::nullopt;
    return Cat(start.has_value() ? Cat(*start) : std::string("%"), " +: ", size.value_or(0), " along tiles of ", tile);
  });
}

// Untiled: the dimension that the swizzle permutes is the access's own.
std::optional<std::string> SwizzleSlice(const ViewSite& site) {
  const layouts::GpuView& view = site.view;
  if (!view.swizzle().has_value() || !view.tile.empty() || view.rest.empty()) return std::nullopt;
  if (view.rest[0].kind != Transform::Kind::kAt || view.rest[0].indices.size() < 2) return std::nullopt;
  const std::vector<Index>& indices = view.rest[0].indices;
  const Index& minor = indices.back();
  if (indices[indices.size() - 2].kind == Index::Kind::kPoint || minor.kind == Index::Kind::kPoint)
    return "an index in the last two dimensions";
  if (minor.kind != Index::Kind::kSlice) return std::nullopt;
  const std::optional<std::int64_t> start = layouts::LiteralInt(minor.start), size = layouts::LiteralInt(minor.size);
  if (start == 0 && size == view.ref.shape.back() && minor.stride == 1) return std::nullopt;
  return Cat("a slice of ", size.value_or(0), " of ", view.ref.shape.back());
}

std::optional<std::string> Reshape(const ViewSite& site) { return site.view.bad_reshape; }

std::optional<std::string> AfterTranspose(const ViewSite& site) {
  if (site.facts.lanes) return std::nullopt;
  bool transposed = false;
  for (const Transform& transform : site.view.rest) {
    const bool whole = std::all_of(transform.indices.begin(), transform.indices.end(),
                                   [](const Index& index) { return index.kind == Index::Kind::kFull; });
    const bool moves =
        transform.kind == Transform::Kind::kReshape || (transform.kind == Transform::Kind::kAt && !whole);
    if (transposed && moves) return Cat(".", Name(transform.kind), " after .transpose");
    transposed = transposed || transform.kind == Transform::Kind::kTranspose;
  }
  return std::nullopt;
}

std::optional<std::string> ClusterView(const ViewSite& site) {
  for (const std::size_t axes : site.view.cluster_axes) {
    if (axes != 1) return Cat(axes, " axes");
  }
  return std::nullopt;
}

constexpr std::string_view kTransforms = "plgpu.TilingTransform, plgpu.SwizzleTransform";

constexpr GpuLimit<ViewSite> kViewLimits[] = {
    {{"view.swizzle", "a swizzle is of 32, 64 or 128 bytes", kTransforms, "use plgpu.find_swizzle"}, SwizzleBytes},
    {{"view.swizzle-width",
      "the last dimension of a swizzled ref, or of its tile if it is tiled, has as many bytes as the swizzle",
      kTransforms, "tile by (8, 8 * swizzle / bits of an element), or use another swizzle"},
     SwizzleWidth},
    {{"view.tile", "a tiled ref ends in whole tiles", kTransforms, "use a tile that divides the shape"}, Untile},
    {{"view.tile-point", "along a tiled dimension a ref is sliced, not indexed", "Mosaic GPU, UntilingTransform",
      "index dimensions that are not tiled"},
     TilePoint},
    {{"view.tile-slice", "along a tiled dimension a slice begins at a tile, has whole tiles and no step",
      "Mosaic GPU, UntilingTransform", "slice by multiples of the tile"},
     TileSlice},
    {{"view.swizzle-slice", "a swizzled dimension is not sliced, and neither it nor the one before is indexed",
      "Mosaic GPU, UnswizzleRef", "tile the ref too, or slice other dimensions"},
     SwizzleSlice},
    {{"view.reshape",
      "a reshape of a tiled ref only joins dimensions, and joins tiled dimensions only if their tiles, except the "
      "last one's, have one element",
      "Mosaic GPU, UntilingTransform", "allocate the ref in the shape it is used in"},
     Reshape},
    {{"view.after-transpose", "with warpgroup semantics a transposed ref is neither indexed nor reshaped",
      "Mosaic GPU lowering, _handle_transforms and memref.subview", "transpose last", true},
     AfterTranspose},
    {{"view.cluster", "plgpu.cluster_ref names one axis", "Mosaic GPU lowering, _handle_transforms",
      "make the cluster one-dimensional, or use the same block along other axes"},
     ClusterView},
};

// ---- get, swap

bool IsOneElement(const layouts::GpuView& view) { return view.shape.has_value() && NumElements(*view.shape) == 1; }

std::optional<std::string> TensorMemory(const AccessSite& site) {
  static const RuleRows kTransfers("async_load_tmem", "async_store_tmem");
  if (site.view.ref.space != Space::kTmem || kTransfers.Has(site.op)) return std::nullopt;
  return ToString(site.view.ref);
}

std::optional<std::string> IndexArray(const AccessSite& site) {
  const Kernel& kernel = *site.scope.facts->kernel;
  for (const Transform& transform : site.view.rest) {
    for (const Index& index : transform.indices) {
      if (index.kind != Index::Kind::kPoint || index.start.kind == Arg::Kind::kNone) continue;
      const Type type = TypeOfArg(kernel, index.start);
      if (!type.shape.empty()) return Cat("an index array ", ToString(type));
    }
  }
  return std::nullopt;
}

std::optional<std::string> Step(const AccessSite& site) {
  for (const Transform& transform : site.view.rest) {
    for (const Index& index : transform.indices) {
      if (index.kind == Index::Kind::kSlice && index.stride != 1) return Cat("a step of ", index.stride);
    }
  }
  return std::nullopt;
}

std::optional<std::string> Multicast(const AccessSite& site) {
  if (!site.view.multicast) return std::nullopt;
  return "a multicast ref";
}

// A block of pallas_call is a part of its array, whose strides are another's.
bool IsOfWholeArray(const AccessSite& site) {
  const Space space = site.view.ref.space;
  return site.scope.facts->mesh && (space == Space::kGmem || space == Space::kSmem);
}

std::optional<std::string> Merge(const AccessSite& site) {
  if (!IsOfWholeArray(site)) return std::nullopt;
  const std::vector<Transform>& rest = site.view.rest;
  const bool transposed = std::any_of(rest.begin(), rest.end(), [](const Transform& transform) {
    return transform.kind == Transform::Kind::kTranspose;
  });
  if (transposed && !site.scope.facts->lanes) return std::nullopt;  // view.after-transpose
  return layouts::StridedViewOf(site.view).bad_reshape;
}

bool IsTiledByLanes(const AccessSite& site) {
  return site.scope.facts->lanes && !site.view.tile.empty() && !IsOneElement(site.view);
}

std::optional<std::string> TileRank(const AccessSite& site) {
  if (!IsTiledByLanes(site) || site.view.tile_seen.size() == 2 || site.view.bad_reshape.has_value())
    return std::nullopt;
  return Cat("tiles ", ToString(site.view.tile_seen));
}

std::optional<std::string> TileSwizzle(const AccessSite& site) {
  if (!IsTiledByLanes(site) || site.view.swizzle().has_value()) return std::nullopt;
  return Cat("tiles ", ToString(site.view.tile), " without a swizzle");
}

// ---- atomic updates

bool Updates(std::string_view update, const layouts::GpuView& view) {
  const bool half = view.dtype == DType::kF16 || view.dtype == DType::kBF16;
  if (IsInteger(view.dtype)) return Info(view.dtype).bits == 32;
  if (update == "add") return half || view.dtype == DType::kF32;
  return half && view.ref.space != Space::kSmem && (update == "min" || update == "max");
}

bool IsUpdate(const AccessSite& site) { return RowOf(site.op).access == RefAccess::kAtomic; }

std::optional<std::string> UpdateType(const AccessSite& site) {
  const std::string update = layouts::WordOf(site.op.attrs, "atomic_type");
  if (!IsUpdate(site) || update.empty() || Updates(update, site.view)) return std::nullopt;
  return Cat(update, " of ", ToString(site.view.ref));
}

std::optional<std::string> UpdateArray(const AccessSite& site) {
  const Arg* const value = IsUpdate(site) ? layouts::ArgNamed(site.op, "value") : nullptr;
  if (value == nullptr) return std::nullopt;
  const Kernel& kernel = *site.scope.facts->kernel;
  const Type type = TypeOfArg(kernel, *value);
  if (type.shape.empty()) return Cat("one element of ", Name(type.dtype));
  const Instr* const maker =
      value->kind == Arg::Kind::kValue ? layouts::MakerOf(value->value, kernel.bodies[0].region) : nullptr;
  if (maker == nullptr || !layouts::IsBroadcast(*maker) || !TypeOfArg(kernel, maker->args[0]).shape.empty())
    return std::nullopt;
  return Cat(ToString(type), " that is the same everywhere");
}

// A lane moves two halves at once. What the lanes do not share evenly is layout.strided's to say.
std::optional<std::string> UpdatePairs(const AccessSite& site) {
  const Arg* const value = IsUpdate(site) ? layouts::ArgNamed(site.op, "value") : nullptr;
  if (value == nullptr) return std::nullopt;
  const Type type = TypeOfArg(*site.scope.facts->kernel, *value);
  const std::int64_t elements = NumElements(type.shape);
  const bool half = type.dtype == DType::kF16 || type.dtype == DType::kBF16;
  if (!half || elements % (2 * layouts::kLanesOfWarpgroup) != layouts::kLanesOfWarpgroup) return std::nullopt;
  return Cat(ToString(type), ", ", elements / layouts::kLanesOfWarpgroup, " of them for each of ",
             layouts::kLanesOfWarpgroup, " lanes");
}

constexpr std::string_view kAtomic = "Mosaic GPU, FragmentedArray.store_untiled";
constexpr std::string_view kAccess = "Mosaic GPU lowering, get and swap";

constexpr GpuLimit<AccessSite> kAccessLimits[] = {
    {{"access.tmem", "tensor memory is read and written by operations of its own", kAccess,
      "use plgpu.async_load_tmem and plgpu.async_store_tmem"},
     TensorMemory},
    {{"access.index-array", "a ref is indexed by scalars and slices only", kAccess, "use a loop over scalars"},
     IndexArray},
    {{"access.step", "a slice has no step", "Mosaic GPU, memref_slice",
      "use a loop over slices without a step, or a reshape of the ref and an index"},
     Step},
    {{"access.multicast", "a multicast ref is used only as the destination of copy_smem_to_gmem", kAccess,
      "use plgpu.multimem_store"},
     Multicast},
    {{"access.merge",
      "a reshape of a sliced or transposed ref keeps each dimension, splits it, or merges it with the dimensions "
      "after it if these are still contiguous in memory",
      "Mosaic GPU, memref_reshape, and memref.collapse_shape", "reshape first, then slice and transpose", true},
     Merge},
    {{"access.tile-rank", "with lane semantics tiles have two dimensions", kAccess, "tile by (8, columns)"}, TileRank},
    {{"access.tile-swizzle", "with lane semantics a tiled ref is swizzled", kAccess, "add plgpu.SwizzleTransform"},
     TileSwizzle},
    {{"atomic.type",
      "atomic updates take 32-bit integers; f32, f16 and bf16 by add; f16 and bf16 in GMEM by min and max", kAtomic,
      "convert to f32 or i32"},
     UpdateType},
    {{"atomic.array", "an atomic update takes an array, and not one that is the same everywhere", kAtomic,
      "cast the array with plgpu.layout_cast, or count with a semaphore"},
     UpdateArray},
    {{"atomic.pairs", "an atomic update of f16 or bf16 has an even number of elements in each lane",
      "Mosaic GPU, FragmentedArray._store_register_atomic", "update a multiple of 256 elements, or f32"},
     UpdatePairs},
};

}  // namespace

absl::Span<const GpuLimit<ViewSite>> ViewLimits() { return kViewLimits; }
absl::Span<const GpuLimit<AccessSite>> AccessLimits() { return kAccessLimits; }

}  // namespace palladion::legality
