// Matrix products with scales of blocks, and with a sparse a. Sources: JAX 0.10.2,
// jax/experimental/mosaic/gpu/tcgen05.py (mma, _do_mma); PTX, "Block Scaling" and "Sparse Matrices" of tcgen05. JAX
// 0.11 has other blocks of scales, which are not judged.
#include "emu/check/legality/gpu/tcgen05.h"
#include "semantics/base/cat.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kScaledColumns = 32, kSparseColumns = 16;

// The memory of an operand as it was allocated, or the member of a union.
struct Memory {
  Type type;
  TmemLayout layout;
};

std::optional<Memory> MemoryOf(const MmaSite& site, std::string_view name) {
  const Arg* arg = layouts::ArgNamed(site.op, name);
  if (arg == nullptr || !layouts::IsRefArg(*site.facts.kernel, *arg)) return std::nullopt;
  const layouts::GpuView view = layouts::GpuViewOf(*site.facts.kernel, *arg);
  const absl::StatusOr<TmemLayout> layout = TmemLayoutOf(view.ref);
  if (!layout.ok() || !view.shape.has_value()) return std::nullopt;
  Memory memory{view.ref, *layout};
  memory.type.shape = *view.shape;
  return memory;
}

std::optional<std::string> Rows(const MmaSite& site) {
  if (site.m() != 64 || (!site.sparse && site.pair)) return std::nullopt;
  return Cat("M = 64", site.sparse ? " of a sparse a" : " of one block");
}

std::optional<std::string> Columns(const MmaSite& site) {
  const bool integers = Info(site.b.view.dtype).bits == 8 && IsInteger(site.b.view.dtype);
  const std::int64_t multiple = site.scaled ? kScaledColumns : kSparseColumns * (site.pair && integers ? 2 : 1);
  if (site.n() % multiple == 0 && site.n() == site.ColumnsOfGroup() * site.LaneGroups()) return std::nullopt;
  return Cat("N = ", site.n(), site.scaled ? " with scales" : " of a sparse product", site.pair ? " in a pair" : "");
}

std::optional<std::string> LeftMemory(const MmaSite& site) {
  if (!site.scaled || !site.a_layout.has_value()) return std::nullopt;
  return "a in tensor memory";
}

std::optional<std::string> ScaleTypes(const MmaSite& site) {
  const std::optional<Memory> a = MemoryOf(site, "a_scale"), b = MemoryOf(site, "b_scale");
  if (!a.has_value() || !b.has_value()) return std::nullopt;
  const bool ok = a->type.dtype == DType::kF8E8M0FNU ||
                  (a->type.dtype == DType::kF8E4M3FN && site.b.view.dtype == DType::kF4E2M1FN);
  if (ok && a->type.dtype == b->type.dtype) return std::nullopt;
  return Cat(Name(a->type.dtype), " and ", Name(b->type.dtype), " of operands of ", Name(site.b.view.dtype));
}

std::optional<std::string> ScaleShapes(const MmaSite& site) {
  const std::optional<Memory> a = MemoryOf(site, "a_scale"), b = MemoryOf(site, "b_scale");
  if (!a.has_value() || !b.has_value() || a->type.rank() != 2 || b->type.rank() != 2) return std::nullopt;
  const std::int64_t scales = site.k() / site.ScaleBlock(), rows = b->type.shape[0];
  if (a->type.shape == Shape{kTmemLanes, scales} && b->type.shape[1] == scales && rows % kTmemLanes == 0 &&
      rows >= site.AllColumns())
    return std::nullopt;
  return Cat("a_scale ", ToString(a->type.shape), ", b_scale ", ToString(b->type.shape), ", with K = ", site.k(),
             " in blocks of ", site.ScaleBlock(), " and N = ", site.AllColumns());
}

std::optional<std::string> ScaleLayouts(const MmaSite& site) {
  const std::optional<Memory> a = MemoryOf(site, "a_scale"), b = MemoryOf(site, "b_scale");
  if (!a.has_value() || !b.has_value() || Rows(site).has_value()) return std::nullopt;
  const TmemLayoutName expected = site.m() == 64 ? TmemLayoutName::kScalesM64Collective : TmemLayoutName::kScales;
  if (a->layout.name == TmemLayoutName::kScales && b->layout.name == expected) return std::nullopt;
  return Cat("a_scale in layout=", Name(a->layout.name), ", b_scale in layout=", Name(b->layout.name),
             ", M = ", site.m());
}

std::optional<std::string> NarrowOrder(const MmaSite& site) {
  if (!site.scaled || site.b.view.bits() != 4) return std::nullopt;
  if (site.a.has_value() && site.a->transposed) return "a stored with M last";
  if (!site.b.transposed) return "b stored with N last";
  return std::nullopt;
}

std::optional<std::string> Metadata(const MmaSite& site) {
  const std::optional<Memory> metadata = MemoryOf(site, "a_sparse_metadata");
  if (!metadata.has_value()) return std::nullopt;
  const std::int64_t group = site.b.view.bits() == 4 ? 8 : 4;
  const Shape expected = {site.m(), site.k() / group * 2};
  const DType dtype = metadata->type.dtype;
  if (metadata->type.shape == expected && (dtype == DType::kU2 || dtype == DType::kI2)) return std::nullopt;
  return Cat(Name(dtype), ToString(metadata->type.shape), ", expected u2", ToString(expected));
}

std::optional<std::string> MetadataLayout(const MmaSite& site) {
  const std::optional<Memory> metadata = MemoryOf(site, "a_sparse_metadata");
  if (!metadata.has_value() || site.facts.lanes || metadata->layout.name == TmemLayoutName::kSparseMetadata)
    return std::nullopt;
  return Cat("layout=", Name(metadata->layout.name));
}

std::optional<std::string> SparseSwizzle(const MmaSite& site) {
  if (!site.sparse || site.b.view.swizzle() != 32 || !site.b.transposed) return std::nullopt;
  return "a swizzle of 32 bytes";
}

std::optional<std::string> NarrowMetadata(const MmaSite& site) {
  if (site.facts.lanes || !site.sparse || site.b.view.bits() != 4) return std::nullopt;
  return Cat("a sparse a of ", Name(site.b.view.dtype));
}

constexpr std::string_view kMma = "Mosaic GPU, tcgen05.mma", kShape = "choose another tile of the product";

constexpr GpuLimit<MmaSite> kLimits[] = {
    {{"mma.scaled-rows", "a product with scales has M = 128, in a pair also 64; a sparse one has M = 128", kMma,
      kShape},
     Rows},
    {{"mma.scaled-columns",
      "with scales N of a block is a multiple of 32, of a sparse product of 16 (of integers in a pair 32), and one "
      "instruction multiplies them all",
      kMma, kShape},
     Columns},
    {{"mma.scaled-a", "with scales a is in SMEM", kMma, "copy it to SMEM"}, LeftMemory},
    {{"mma.scale-types", "both scales are f8e8m0fnu, or f8e4m3fn for operands of f4e2m1fn", kMma, "convert the scales"},
     ScaleTypes},
    {{"mma.scale-shapes",
      "a_scale is (128, K / block) and b_scale (N up to a multiple of 128, K / block): 32 elements share a scale of "
      "f8e8m0fnu, 16 one of f8e4m3fn, twice as many of a sparse product",
      kMma, "allocate the scales in that shape", true},
     ScaleShapes},
    {{"mma.scale-layouts", "scales have layout=scales, b_scale of a pair with M = 64 scales_m64_collective", kMma,
      "give plgpu.TMEM the layout"},
     ScaleLayouts},
    {{"mma.narrow-order", "operands of 4 bits have K last, b as .transpose of (N, K)", kMma,
      "store the operand with K last"},
     NarrowOrder},
    {{"mma.metadata", "the metadata of a sparse a are u2 (M, K / 2), of f4e2m1fn (M, K / 4)", kMma,
      "allocate them in that shape"},
     Metadata},
    {{"mma.metadata-layout", "with warpgroup semantics the metadata of a sparse a have layout=sparse_metadata",
      "Mosaic GPU, layout inference", "give plgpu.TMEM the layout"},
     MetadataLayout},
    {{"mma.sparse-narrow", "with warpgroup semantics a sparse a has elements of 8 bits or more",
      "Mosaic GPU, the verifier of tcgen05_mma", "use lane semantics", true},
     NarrowMetadata},
    {{"mma.sparse-swizzle", "a sparse product has b with K last in swizzles of 64 or 128 bytes", kMma,
      "use a larger swizzle"},
     SparseSwizzle},
};

}  // namespace

absl::Span<const GpuLimit<MmaSite>> ScaledMmaLimits() { return kLimits; }

}  // namespace palladion::legality
