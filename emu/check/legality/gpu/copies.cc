// Copies between GMEM and SMEM, which the tensor memory accelerator (TMA) does. Sources: JAX 0.10.2,
// jax/experimental/mosaic/gpu/launch_context.py (_prepare_async_copy, _prepare_tma, async_copy) and
// jax/_src/pallas/mosaic_gpu/primitives.py; CUDA driver API, cuTensorMapEncodeTiled. What is copied is the slice of
// GMEM as SMEM stores it: dimensions that an index removed first, then tiles. Does not catch: where a slice begins
// (values), and how many blocks share a copy along which dimension of the tile.
#include <algorithm>

#include "emu/check/legality/gpu/copy.h"
#include "semantics/base/cat.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kTmaBits = 128, kMaxBox = 256, kMaxRank = 5;
constexpr int kBlackwell = 10;

// The squeezed dimensions and those of one element are dropped, and what is left of the squeezed ones merged.
std::int64_t RankOf(const CopySite& site) {
  std::int64_t squeezed = 0, kept = 0;
  Shape extents, sizes;
  for (const GmemDim& dim : site.dims) {
    if (dim.squeezed) {
      squeezed += dim.extent == 1 ? 0 : 1;
    } else {
      extents.push_back(dim.extent);
      sizes.push_back(dim.size);
    }
  }
  const Shape all = layouts::TiledShape(extents, site.smem.tile), part = layouts::TiledShape(sizes, site.smem.tile);
  for (std::size_t i = 0; i < part.size(); ++i) kept += all[i] == 1 && part[i] == 1 ? 0 : 1;
  return squeezed + kept > kMaxRank ? std::min<std::int64_t>(squeezed, 1) + kept : squeezed + kept;
}

std::string SliceText(const CopySite& site) {
  return Cat("a slice ", ToString(site.Slice()), " of ", Name(site.gmem.dtype));
}

// ---- the rules

std::optional<std::string> Spaces(const CopySite& site) {
  const auto is_gmem = [](Space space) {
    return space == Space::kGmem || space == Space::kDefault || space == Space::kAny;
  };
  if (is_gmem(site.gmem.ref.space) && site.smem.ref.space == Space::kSmem) return std::nullopt;
  return Cat(ToString(site.gmem.ref), " and ", ToString(site.smem.ref));
}

std::optional<std::string> GmemView(const CopySite& site) {
  for (const Transform& transform : site.gmem.rest) {
    if (transform.kind != Transform::Kind::kAt) return Cat(".", Name(transform.kind), " of a GMEM ref");
  }
  if (site.gmem.swizzle().has_value() || !site.gmem.tile.empty()) return "tiles or a swizzle of a GMEM ref";
  return std::nullopt;
}

std::optional<std::string> GmemStep(const CopySite& site) {
  if (site.strided == nullptr) return std::nullopt;
  return Cat("a step of ", site.strided->stride);
}

std::optional<std::string> MulticastRef(const CopySite& site) {
  if (!site.to_smem || !site.gmem.multicast) return std::nullopt;
  return "a multicast ref as the source";
}

std::optional<std::string> ElementType(const CopySite& site) {
  const DType dtype = site.gmem.dtype;
  const bool ok = IsInteger(dtype) || dtype == DType::kF16 || dtype == DType::kBF16 || dtype == DType::kF32 ||
                  dtype == DType::kF8E4M3FN || dtype == DType::kF8E5M2 || dtype == DType::kF8E8M0FNU ||
                  dtype == DType::kF4E2M1FN || IsBool(dtype);
  const bool bytes = site.followed && IsBulk(site);  // which a contiguous copy without a tensor map moves
  return ok || bytes ? std::nullopt : std::optional<std::string>(Name(dtype));
}

std::optional<std::string> Strides(const CopySite& site) {
  std::int64_t stride = 1;
  const Shape& shape = site.gmem.ref.shape;
  for (std::size_t i = shape.size(); i-- > 1;) {
    stride *= shape[i];
    if (stride * site.gmem.bits() % kTmaBits != 0)
      return Cat("a stride of ", stride * site.gmem.bits() / 8, " bytes between elements of dimension ", i - 1, " of ",
                 ToString(site.gmem.ref));
  }
  return std::nullopt;
}

// The tensor map is of the whole array, which is cut into the same tiles.
std::optional<std::string> Tiles(const CopySite& site) {
  std::vector<std::int64_t> kept;
  for (const GmemDim& dim : site.dims) {
    if (!dim.squeezed) kept.push_back(dim.extent);
  }
  const std::vector<std::int64_t>& tile = site.smem.tile;
  if (!site.followed || site.gather.has_value() || kept.size() < tile.size()) return std::nullopt;
  for (std::size_t i = 0; i < tile.size(); ++i) {
    const std::int64_t extent = kept[kept.size() - tile.size() + i];
    if (tile[i] > 0 && extent > tile[i] && extent % tile[i] != 0)
      return Cat("a dimension of ", extent, " in tiles of ", tile[i], ", of ", ToString(site.gmem.ref));
  }
  return std::nullopt;
}

std::optional<std::string> MinorBytes(const CopySite& site) {
  const Shape slice = site.Slice();
  if (!site.followed) return std::nullopt;
  const std::int64_t bits = (slice.empty() ? 1 : slice.back()) * site.gmem.bits();
  if (bits % kTmaBits == 0) return std::nullopt;
  return Cat(bits / 8, " bytes, of ", SliceText(site));
}

// Every lane expects its share of the bytes.
std::optional<std::string> Bytes(const CopySite& site) {
  if (!site.to_smem || !site.facts().lanes || !site.smem.shape.has_value()) return std::nullopt;
  const std::int64_t bits = NumElements(*site.smem.shape) * site.smem.bits() * (site.leader_tracked ? 2 : 1);
  if (bits % (8 * layouts::kLanesOfWarpgroup) == 0) return std::nullopt;
  return Cat(bits / 8, " bytes");
}

std::optional<std::string> Rank(const CopySite& site) {
  if (!site.followed || site.gather.has_value() || RankOf(site) <= kMaxRank) return std::nullopt;
  return Cat(RankOf(site), ", for ", SliceText(site));
}

std::optional<std::string> Box(const CopySite& site) {
  if (!site.followed || site.gather.has_value() || IsBulk(site)) return std::nullopt;
  Shape slice = site.Slice();
  if (slice.empty()) return std::nullopt;
  std::int64_t share = site.partitioned() ? 1 : site.collective;  // blocks divide the first dimensions among them
  for (std::int64_t& dim : slice) {
    const std::int64_t by = dim % share == 0 ? share : share % std::max<std::int64_t>(dim, 1) == 0 ? dim : 1;
    dim /= std::max<std::int64_t>(by, 1);
    share /= std::max<std::int64_t>(by, 1);
  }
  if (*std::max_element(slice.begin(), slice.end()) <= kMaxBox) return std::nullopt;
  return SliceText(site);
}

std::optional<std::string> Swizzled(const CopySite& site) {
  const std::optional<std::int64_t> swizzle = site.smem.swizzle();
  const Shape slice = site.Slice();
  if (!site.followed || !swizzle.has_value() || slice.empty() || !site.smem.untiled.has_value()) return std::nullopt;
  if (site.smem.ref.shape.back() * site.smem.bits() != *swizzle * 8) return std::nullopt;  // view.swizzle-width says it
  if (slice.back() * site.gmem.bits() == *swizzle * 8) return std::nullopt;
  return Cat(slice.back() * site.gmem.bits() / 8, " bytes under a swizzle of ", *swizzle, ", for ", SliceText(site));
}

// Of the stored shape: a slice is contiguous where all dimensions after its first partial one are whole.
std::optional<std::string> Contiguous(const CopySite& site) {
  const layouts::GpuView& view = site.smem;
  if (!view.untiled.has_value() || view.rest.size() > 1) return std::nullopt;
  Shape sizes = *view.untiled;
  if (!view.rest.empty()) {
    if (view.rest[0].kind != Transform::Kind::kAt || view.rest[0].indices.size() != sizes.size()) return std::nullopt;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Index& index = view.rest[0].indices[i];
      if (index.kind == Index::Kind::kPoint) sizes[i] = 1;
      if (index.kind == Index::Kind::kSlice) sizes[i] = layouts::LiteralInt(index.size).value_or(sizes[i]);
    }
  }
  const Shape part = layouts::TiledShape(sizes, view.tile);
  bool begun = false;  // past the first dimension with more than one element
  for (std::size_t i = 0; i < part.size() && i < view.ref.shape.size(); ++i) {
    if (begun && part[i] != view.ref.shape[i])
      return Cat(ToString(part), " of ", ToString(view.ref.shape), ", as stored");
    begun = begun || part[i] != 1;
  }
  return std::nullopt;
}

// The tensor map is of GMEM as SMEM stores it, so what lies last there has to lie last in GMEM.
std::optional<std::string> Transposed(const CopySite& site) {
  if (!site.facts().lanes || !site.followed || site.gather.has_value() || site.smem.tiles_moved) return std::nullopt;
  absl::Span<const Transform> rest = site.smem.rest;  // first reshapes, which need no other place of an element
  while (!rest.empty() && site.smem.tile.empty() && rest[0].kind == Transform::Kind::kReshape) rest.remove_prefix(1);
  if (rest.empty() || rest[0].ints.empty()) return std::nullopt;
  std::size_t at = rest[0].ints.size() - 1;  // where the last dimension that SMEM stores is seen
  for (const Transform& transform : rest) {
    const auto moved = std::find(transform.ints.begin(), transform.ints.end(), static_cast<std::int64_t>(at));
    if (transform.kind != Transform::Kind::kTranspose || moved == transform.ints.end()) return std::nullopt;
    at = static_cast<std::size_t>(moved - transform.ints.begin());
  }
  std::int64_t stride = 1;
  Shape strides, extents;  // of the dimensions that are left, the last one first
  for (std::size_t i = site.dims.size(); i-- > 0;) {
    if (!site.dims[i].squeezed) strides.push_back(stride);
    if (!site.dims[i].squeezed) extents.push_back(site.dims[i].extent);
    stride *= site.dims[i].extent;
  }
  const std::size_t behind = strides.size() - 1 - at;  // one of one element is dropped, and the one before is the last
  if (at >= strides.size() || strides[behind] == 1 || extents[behind] == 1) return std::nullopt;
  return Cat("dimension ", at, " of the slice there, whose elements are ", strides[behind], " apart");
}

// ---- copies that blocks share

std::optional<std::string> CollectiveAxes(const CopySite& site) {
  for (const std::string& axis : site.axes) {
    if (!site.facts().IsClusterAxis(axis)) return Cat("the axis '", axis, "'");
  }
  return std::nullopt;
}

std::optional<std::string> Shares(const CopySite& site) {
  if (!site.followed || site.collective <= 1 || site.partitioned() || site.gather.has_value()) return std::nullopt;
  const Shape slice = site.Slice();
  std::int64_t left = site.collective;
  const std::size_t dims = slice.size() - (site.smem.swizzle().has_value() && !slice.empty() ? 1 : 0);
  for (std::size_t i = 0; i < dims && left > 1; ++i) {
    if (slice[i] % left == 0) return std::nullopt;
    if (slice[i] == 0 || left % slice[i] != 0) break;
    left /= slice[i];
  }
  if (left == 1) return std::nullopt;
  return Cat(site.collective, " blocks and ", SliceText(site));
}

std::optional<std::string> Leader(const CopySite& site) {
  const bool pair = site.axes.size() == 1 && site.collective == 2 && site.facts().ClusterSize() == 2;
  if (!site.leader_tracked || pair) return std::nullopt;
  return Cat(site.axes.size(), site.axes.size() == 1 ? " axis" : " axes", " with ", site.collective,
             " blocks in a cluster of ", site.facts().ClusterSize());
}

std::optional<std::string> LeaderMachine(const CopySite& site) {
  const machines::Chip* chip = site.facts().chip;
  if (!site.leader_tracked || chip == nullptr || chip->generation >= kBlackwell) return std::nullopt;
  return Cat("leader_tracked on ", chip->name);
}

// ---- reductions

bool Reduces(std::string_view op, DType dtype) {
  const int bits = Info(dtype).bits;
  const bool integer = IsInteger(dtype) && (bits == 32 || bits == 64),
             half = dtype == DType::kF16 || dtype == DType::kBF16;
  if (op == "add") return integer || half || dtype == DType::kF32;
  if (op == "min" || op == "max") return half;
  if (op == "inc" || op == "dec") return integer && bits == 32;
  return integer;  // smin, smax, umin, umax, and, or, xor
}

std::optional<std::string> Reduction(const CopySite& site) {
  const std::string op = layouts::WordOf(site.op.attrs, "reduction_op");
  if (!layouts::IsGiven(site.op.attrs, "reduction_op") || Reduces(op, site.gmem.dtype)) return std::nullopt;
  return Cat(op, " of ", Name(site.gmem.dtype));
}

constexpr std::string_view kCopy = "Mosaic GPU, LaunchContext.async_copy", kPad = "copy more, or pad the array";

constexpr GpuLimit<CopySite> kCopyLimits[] = {
    {{"copy.spaces", "a copy is between GMEM and SMEM", kCopy,
      "use get and swap for registers, plgpu.async_copy_smem_to_tmem and plgpu.async_load_tmem for tensor memory"},
     Spaces},
    {{"copy.gmem-view", "a GMEM ref of a copy is only indexed, not transformed otherwise", kCopy,
      "transform the SMEM ref"},
     GmemView},
    {{"copy.step", "a slice of GMEM has no step", kCopy, "copy whole slices"}, GmemStep},
    {{"copy.multicast-ref", "a multicast ref is a destination", kCopy, "use plgpu.remote_ref"}, MulticastRef},
    {{"copy.type", "the elements are integers, f32, bf16, f16, f8e4m3fn, f8e5m2, f8e8m0fnu or f4e2m1fn",
      "CUDA driver API, cuTensorMapEncodeTiled", "view the array as integers", false, false, About::kType},
     ElementType},
    {{"copy.strides", "every stride of the GMEM array but the last is a multiple of 16 bytes", kCopy,
      "pad the array's last dimension", false, false, About::kRows},
     Strides},
    {{"copy.minor-bytes", "what is copied along the last dimension is a multiple of 16 bytes", kCopy, kPad, false,
      false, About::kShape},
     MinorBytes},
    {{"copy.tile", "a dimension of the GMEM array that is tiled in SMEM is at most one tile, or a multiple of the tile",
      "Mosaic GPU, TileTransform", "pad the array, or use another tile"},
     Tiles},
    {{"copy.bytes", "with lane semantics a load has a multiple of 128 bytes, since each lane expects an equal share",
      kCopy, kPad, false, false, About::kShape},
     Bytes},
    {{"copy.rank",
      "a copy has at most 5 dimensions, where a tiled dimension counts as two, dimensions of one element do not "
      "count, and all indexed ones count as one",
      kCopy, "use fewer dimensions, or a reshape of the array"},
     Rank},
    {{"copy.box", "a copy has at most 256 elements along each dimension (a contiguous store may have more)", kCopy,
      "copy in several parts", false, false, About::kShape},
     Box},
    {{"copy.swizzle", "with a swizzle the last dimension of what is copied has exactly the swizzle's bytes", kCopy,
      "tile by 8 * swizzle / bits of an element, or use another swizzle"},
     Swizzled},
    {{"copy.contiguous", "the SMEM side of a copy is contiguous as it is stored", kCopy,
      "slice leading dimensions, or give the part an allocation of its own"},
     Contiguous},
    {{"copy.transposed",
      "with lane semantics a transposed view of SMEM has the last dimension of the allocation where the GMEM "
      "slice has its contiguous dimension",
      "Mosaic GPU, LaunchContext._get_tma_desc", "copy without plgpu.transpose_ref, and transpose what is read"},
     Transposed},
    {{"copy.axes", "collective_axes of a copy are axes of the mesh's cluster",
      "Mosaic GPU lowering, _resolve_cluster_axis", "name axes of cluster_names"},
     CollectiveAxes},
    {{"copy.shares",
      "the leading dimensions of a shared copy, counted in tiles, divide evenly among the blocks that share it", kCopy,
      "use blocks of another size"},
     Shares},
    {{"copy.leader", "leader_tracked goes with one axis of 2 blocks, which are the whole cluster", kCopy,
      "leave leader_tracked out, or use a cluster of 2"},
     Leader},
    {{"machine.leader-tracked", "copies that a leader tracks are Blackwell's (cta_group::2 of sm_100)",
      "PTX, cp.async.bulk.tensor",
      "run it on mosaic_gpu/b200, or leave leader_tracked out: every block's barrier then tracks its part"},
     LeaderMachine},
    {{"copy.reduction",
      "reductions: add of f16, bf16, f32 and integers of 32 and 64 bits; min and max of f16 and bf16; smin, smax, "
      "umin, "
      "umax, and, or and xor of integers of 32 and 64 bits; inc and dec of 32 bits",
      "PTX, cp.reduce.async.bulk.tensor", "reduce in registers"},
     Reduction},
};

}  // namespace

void CheckCopy(Legality& legality, const GpuScope& scope, const Instr& op) {
  const std::optional<CopySite> site = CopySiteOf(scope, op);
  if (!site.has_value()) return;
  Judge(legality, op, absl::Span<const GpuLimit<CopySite>>(kCopyLimits), *site);
  CheckRows(legality, *site);
}

void ListCopyLimits(std::vector<LimitText>& texts) {
  ListLimits(absl::Span<const GpuLimit<CopySite>>(kCopyLimits), texts);
}

}  // namespace palladion::legality
