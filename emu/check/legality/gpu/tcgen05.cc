// Matrix products of Blackwell's tensor cores. Sources: JAX 0.10.2, jax/_src/pallas/mosaic_gpu/primitives.py
// (tcgen05_mma), jax/experimental/mosaic/gpu/tcgen05.py (mma) and mma_utils.py; PTX, "tcgen05.mma". With warpgroup
// semantics swizzles and tiles may be left to the compiler, and only those that the kernel states are judged. Scales
// and sparsity: tcgen05_scaled.cc. Does not catch: views of scales and of metadata.
#include "emu/check/legality/gpu/tcgen05.h"

#include <algorithm>

#include "emu/check/legality/gpu/limits.h"
#include "semantics/base/cat.h"
#include "semantics/ir/view_type.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kColumnsOfInstruction = 256, kMaxColumns = 512, kMaxColumnsOfPair = 128;

std::optional<std::string> Shapes(const MmaSite& site) {
  const Shape &a = site.a_shape, &b = site.b_shape;
  const bool matrices = site.acc.shape.size() == 2 && a.size() == 2 && b.size() == 2;
  if (matrices && site.acc.shape[0] == a[0] && site.acc.shape[1] == site.AllColumns() &&
      a[1] * (site.sparse ? 2 : 1) == b[0])
    return std::nullopt;
  return Cat(ToString(site.acc.shape), " += ", ToString(a), " @ ", ToString(b));
}

std::optional<std::string> Rows(const MmaSite& site) {
  if (site.m() == 128 || (site.m() == 64 && !site.a_layout.has_value())) return std::nullopt;
  return Cat("M = ", site.m(), site.a_layout.has_value() ? " with a in tensor memory" : "");
}

std::optional<std::string> LeftLayout(const MmaSite& site) {
  if (!site.a_layout.has_value() || site.m() != 128) return std::nullopt;
  const std::int64_t packing = kTmemCellBits / Info(site.a_dtype).bits;
  if (site.a_layout->name == TmemLayoutName::kDefault && site.a_layout->packing == packing) return std::nullopt;
  return Cat("layout=", Name(site.a_layout->name), ", packing=", site.a_layout->packing, " of ", Name(site.a_dtype));
}

std::optional<std::string> AccumulatorLayout(const MmaSite& site) {
  if (site.m() != 128 && site.m() != 64) return std::nullopt;
  const TmemLayout& layout = site.acc_layout;
  const TmemLayoutName expected = site.m() == 128 ? TmemLayoutName::kDefault
                                  : site.pair     ? TmemLayoutName::kM64Collective
                                                  : TmemLayoutName::kHalfLane;
  const bool whole = layout.name == TmemLayoutName::kDefault || layout.tile_columns == site.AllColumns();
  if (layout.name == expected && layout.packing == 1 && whole) return std::nullopt;
  return Cat("layout=", Name(layout.name), ", packing=", layout.packing, " for M = ", site.m(),
             site.pair ? " of a pair" : "");
}

std::optional<std::string> Types(const MmaSite& site) {
  const DType acc = site.acc.dtype, in = site.b.view.dtype;
  bool ok = false;
  switch (in) {
    case DType::kBF16:
      ok = acc == DType::kF32 && !site.scaled;
      break;
    case DType::kF16:
      ok = (acc == DType::kF32 || acc == DType::kF16) && !site.scaled;
      break;
    case DType::kF8E5M2:
    case DType::kF8E4M3FN:
      ok = acc == DType::kF32 || (acc == DType::kF16 && !site.scaled);
      break;
    case DType::kF4E2M1FN:
      ok = acc == DType::kF32 && site.scaled;
      break;
    case DType::kI8:
    case DType::kU8:
      ok = (acc == DType::kI32 || acc == DType::kU32) && !site.scaled;
      break;
    default:
      break;
  }
  if (ok) return std::nullopt;
  return Cat(Name(in), " into ", Name(acc), site.scaled ? " with scales" : "");
}

std::optional<std::string> SameTypes(const MmaSite& site) {
  if (site.a_dtype == site.b.view.dtype) return std::nullopt;
  return Cat(Name(site.a_dtype), " @ ", Name(site.b.view.dtype));
}

std::optional<std::string> Columns(const MmaSite& site) {
  const std::int64_t multiple =
      (site.pair ? 16 : 8) * (Info(site.acc.dtype).bits == 32 && IsInteger(site.acc.dtype) ? 2 : 1);
  const std::int64_t n = site.n();
  const bool power = (n & (n - 1)) == 0;
  if (n > 0 && n % site.LaneGroups() == 0 && n / site.LaneGroups() % multiple == 0 &&
      n <= (site.pair ? kMaxColumnsOfPair : kMaxColumns) && (n <= kColumnsOfInstruction || power))
    return std::nullopt;
  return Cat("N = ", n, " of ", site.pair ? "a block of a pair" : "a block", " with M = ", site.m(), ", into ",
             Name(site.acc.dtype));
}

// With 64 rows of one block, the two halves of the columns lie in different lanes.
std::optional<std::string> Halves(const MmaSite& site) {
  const std::optional<std::int64_t> swizzle = site.b.view.swizzle();
  if (site.LaneGroups() == 1 || !swizzle.has_value()) return std::nullopt;
  const std::int64_t elements = 8 * *swizzle / site.b.view.bits();
  if (elements <= site.n() / 2) return std::nullopt;
  return Cat("N = ", site.n(), " with ", elements, " elements in a swizzle of ", *swizzle, " bytes");
}

std::optional<std::string> Depth(const MmaSite& site) {
  const std::optional<std::int64_t> group = site.DepthOfGroup();
  if (!group.has_value() || (site.k() > 0 && site.k() % *group == 0)) return std::nullopt;
  return Cat("K = ", site.k(), ", of which ", *group, " are multiplied at once");
}

// Left to the compiler: nothing, or the swizzle alone.
std::optional<std::string> StatedLayout(const MmaSite& site) {
  if (site.facts.lanes) return std::nullopt;
  const auto wrong = [](const ProductOperand& operand, std::string_view name) -> std::optional<std::string> {
    const layouts::GpuView& view = operand.view;
    if (view.swizzle().has_value() && view.tile.empty()) return Cat(name, " with a swizzle and no tiles");
    if (view.swizzle().has_value() || view.tile.empty() || operand.tile.size() != 2) return std::nullopt;
    const std::int64_t bits = operand.tile[1] * Info(view.ref.dtype).bits;
    const bool fits = bits == 8 * 32 || bits == 8 * 64 || bits == 8 * 128;
    return fits ? std::nullopt : std::optional(Cat(name, " in tiles ", ToString(operand.tile), " without a swizzle"));
  };
  if (site.a.has_value()) {
    if (std::optional<std::string> found = wrong(*site.a, "a")) return found;
  }
  return wrong(site.b, "b");
}

std::optional<std::string> Layout(const MmaSite& site) {
  if (!site.facts.lanes) return std::nullopt;
  const auto lacks = [](const ProductOperand& operand) {
    return !operand.view.swizzle().has_value() || operand.view.tile.empty();
  };
  if (site.a.has_value() && lacks(*site.a)) return "a without both";
  if (lacks(site.b)) return "b without both";
  return std::nullopt;
}

std::optional<std::string> Views(const MmaSite& site) {
  if (site.a.has_value() && site.a->refused.has_value()) return Cat("a through ", *site.a->refused);
  if (site.b.refused.has_value()) return Cat("b through ", *site.b.refused);
  return std::nullopt;
}

std::optional<std::string> Tiling(const MmaSite& site) {
  if (site.a.has_value()) {
    if (std::optional<std::string> found = WrongTile(*site.a, "a")) return found;
  }
  return WrongTile(site.b, "b");
}

std::optional<std::string> SameSwizzle(const MmaSite& site) {
  if (!site.a.has_value() || !site.facts.lanes) return std::nullopt;
  const std::optional<std::int64_t> a = site.a->view.swizzle(), b = site.b.view.swizzle();
  if (!a.has_value() || !b.has_value() || a == b) return std::nullopt;
  return Cat(*a, " and ", *b, " bytes");
}

// Of an operand that is stored with its columns last, an instruction takes whole tiles.
std::optional<std::string> WholeTiles(const MmaSite& site) {
  const std::optional<std::int64_t> swizzle = site.b.view.swizzle();
  if (!swizzle.has_value() || site.b.transposed || site.b.refused.has_value()) return std::nullopt;
  const std::int64_t tile = 8 * *swizzle / site.b.view.bits();
  if (tile == 0 || site.ColumnsOfGroup() % tile == 0) return std::nullopt;
  return Cat(site.ColumnsOfGroup(), " columns at once, in tiles of ", tile);
}

// plgpu.tcgen05_mma requires a collective accumulator, too, but cannot check one in the kernel's scratch; with lane
// semantics nothing after it checks. PTX has one .cta_group for all tcgen05 instructions of a kernel. Conversely, JAX
// lowers a product of one block in collective memory with lane semantics.
std::optional<std::string> Pairs(const MmaSite& site) {
  if (site.pair && site.acc_layout.collective && site.a_layout.has_value() && !site.a_layout->collective)
    return "collective_axis, and a in tensor memory without collective=True";
  if (site.pair == site.acc_layout.collective || (site.facts.lanes && !site.pair)) return std::nullopt;
  return site.pair ? "collective_axis, and an accumulator without collective=True"
                   : "no collective_axis, and an accumulator with collective=True";
}

std::optional<std::string> Barrier(const MmaSite& site) {
  const Arg* barrier = layouts::ArgNamed(site.op, "barrier");
  if (barrier == nullptr || !layouts::IsRefArg(*site.facts.kernel, *barrier)) return std::nullopt;
  const Type& type = site.facts.kernel->values[barrier->value.index()].type;
  if (layouts::BarrierFactsOf(type).orders_tensor_core) return std::nullopt;
  return ToString(type);
}

constexpr std::string_view kMma = "Mosaic GPU, tcgen05.mma", kShape = "choose another tile of the product";

constexpr GpuLimit<MmaSite> kMmaLimits[] = {
    {{"mma.rows", "M of a block is 64 or 128, with a in tensor memory 128", kMma, kShape}, Rows},
    {{"mma.a-layout", "a in tensor memory has layout=default and is packed", kMma, "allocate it with packed=True"},
     LeftLayout},
    {{"mma.acc-layout",
      "an accumulator is not packed and has layout=default for M = 128, m64_collective for a pair with M = 64, "
      "half_lane "
      "for one block with M = 64",
      kMma, "allocate it as plgpu.TMEM((M, N), dtype), with collective=True for a pair"},
     AccumulatorLayout},
    {{"mma.types",
      "bf16 adds up in f32; f16, f8e5m2 and f8e4m3fn in f32 or f16; i8 in i32; with scales f8e5m2, f8e4m3fn and "
      "f4e2m1fn "
      "in f32; nothing else multiplies",
      kMma, "convert the operands"},
     Types},
    {{"mma.mixed", "a and b have one type", kMma, "convert one of them", true}, SameTypes},
    {{"mma.columns",
      "N of a block is a multiple of 8, or of 16 in a pair; of twice that for integers, and of twice that again "
      "for a block with M = 64; N is at most 256, or 512, and at most 128 in a pair",
      kMma, kShape},
     Columns},
    {{"mma.halves", "with M = 64 of one block the elements of a swizzle are at most N / 2", kMma,
      "use a smaller swizzle"},
     Halves},
    {{"mma.depth",
      "K is a multiple of the number of elements in the swizzle's bytes, of twice that number if a is sparse, and "
      "of four blocks with scales",
      kMma, kShape},
     Depth},
    {{"mma.layout", "with lane semantics operands in SMEM are tiled and swizzled", "Mosaic GPU lowering, tcgen05_mma",
      "give the refs plgpu.TilingTransform and plgpu.SwizzleTransform"},
     Layout},
    {{"mma.stated-layout",
      "with warpgroup semantics an operand that states tiles or a swizzle states tiles, of the bytes of a swizzle",
      "Mosaic GPU, layout inference", "give both transforms, or none"},
     StatedLayout},
    {{"mma.view", "with lane semantics an operand is seen through indices, reshapes and at most one transposition",
      "Mosaic GPU lowering, tcgen05_mma", "give the ref the shape and the tile that the product wants"},
     Views},
    {{"mma.tile", "an operand's tile is 8 rows of the swizzle's bytes", kMma, "tile by (8, 8 * swizzle / bits)"},
     Tiling},
    {{"mma.swizzle", "with lane semantics a and b have one swizzle", "Mosaic GPU lowering, tcgen05_mma",
      "use the same for both"},
     SameSwizzle},
    {{"mma.whole-tiles", "of b stored with N last, the columns of an instruction are whole tiles", kMma,
      "use a smaller swizzle, or store b with K last"},
     WholeTiles},
    {{"mma.pair",
      "a product with a collective_axis has a collective accumulator, and a collective a where that is in tensor "
      "memory; "
      "with warpgroup semantics only such a product has a collective accumulator",
      "plgpu.tcgen05_mma, and Mosaic GPU, layout inference", "give both or neither"},
     Pairs},
    {{"mma.barrier", "the barrier of a product has orders_tensor_core=True", "plgpu.tcgen05_mma",
      "allocate plgpu.Barrier(orders_tensor_core=True)"},
     Barrier},
};

constexpr GpuLimit<MmaSite> kShapeLimits[] = {
    {{"mma.shapes",
      "acc (M, N) += a (M, K) @ b (K, N); in a pair b has half of the columns, and a sparse a has half of K",
      "plgpu.tcgen05_mma", "transpose or slice the operands"},
     Shapes},
};

std::optional<MmaSite> SiteOf(const layouts::GpuFacts& facts, const Instr& op) {
  const Kernel& kernel = *facts.kernel;
  const Arg *acc = layouts::ArgNamed(op, "acc"), *a = layouts::ArgNamed(op, "a"), *b = layouts::ArgNamed(op, "b");
  if (acc == nullptr || a == nullptr || b == nullptr || !layouts::IsRefArg(kernel, *acc) ||
      !layouts::IsRefArg(kernel, *a) || !layouts::IsRefArg(kernel, *b))
    return std::nullopt;
  const layouts::GpuView product = layouts::GpuViewOf(kernel, *acc);
  const absl::StatusOr<TmemLayout> layout = TmemLayoutOf(product.ref);
  MmaSite site{.facts = facts, .op = op, .acc = product.ref};
  site.b = ProductOperandOf(kernel, *b, facts.lanes, /*reshapes=*/true);
  ProductOperand left = ProductOperandOf(kernel, *a, facts.lanes, /*reshapes=*/true);
  if (!layout.ok() || !product.shape.has_value() || !site.b.view.shape.has_value() || !left.view.shape.has_value())
    return std::nullopt;
  site.acc_layout = *layout;
  site.acc.shape = *product.shape;
  site.a_shape = *left.view.shape;
  site.b_shape = *site.b.view.shape;
  site.a_dtype = left.view.dtype;
  if (left.view.ref.space == Space::kTmem) {
    const absl::StatusOr<TmemLayout> a_layout = TmemLayoutOf(left.view.ref);
    if (!a_layout.ok()) return std::nullopt;
    site.a_layout = *a_layout;
  } else {
    site.a = std::move(left);
  }
  site.pair = layouts::IsGiven(op.attrs, "collective_axis");
  site.scaled = layouts::ArgNamed(op, "a_scale") != nullptr;
  site.sparse = layouts::ArgNamed(op, "a_sparse_metadata") != nullptr;
  return site;
}

}  // namespace

std::int64_t MmaSite::ColumnsOfGroup() const {
  return std::min(n() / LaneGroups(), kColumnsOfInstruction / (pair ? 2 : 1));
}

std::int64_t MmaSite::ScaleBlock() const {
  const Arg* scale = layouts::ArgNamed(op, "a_scale");
  if (scale == nullptr || !layouts::IsRefArg(*facts.kernel, *scale)) return 1;
  const bool powers = layouts::GpuViewOf(*facts.kernel, *scale).dtype == DType::kF8E8M0FNU;
  return (powers ? 32 : 16) * (sparse ? 2 : 1);
}

std::optional<std::int64_t> MmaSite::DepthOfGroup() const {
  constexpr std::int64_t kLeastSparse = 64;
  const std::optional<std::int64_t> right = b.view.swizzle();
  const std::optional<std::int64_t> left = a.has_value() ? a->view.swizzle() : right;
  if (!right.has_value() || !left.has_value()) return std::nullopt;
  std::int64_t group = 8 * std::max(*left * (sparse ? 2 : 1), *right) / b.view.bits();
  if (sparse) group = std::max(group, kLeastSparse);
  if (scaled) group = std::max(group, 4 * ScaleBlock());
  return std::max<std::int64_t>(1, group);
}

void CheckTcgen05(Legality& legality, const GpuScope& scope, const Instr& op) {
  const std::optional<MmaSite> site = SiteOf(*scope.facts, op);
  if (!site.has_value()) return;
  Judge(legality, op, absl::Span<const GpuLimit<MmaSite>>(kShapeLimits), *site);
  if (Shapes(*site).has_value()) return;
  Judge(legality, op, absl::Span<const GpuLimit<MmaSite>>(kMmaLimits), *site);
  if (site->scaled || site->sparse) Judge(legality, op, ScaledMmaLimits(), *site);
}

void ListTcgen05Limits(std::vector<LimitText>& texts) {
  ListLimits(absl::Span<const GpuLimit<MmaSite>>(kShapeLimits), texts);
  ListLimits(absl::Span<const GpuLimit<MmaSite>>(kMmaLimits), texts);
  ListLimits(ScaledMmaLimits(), texts);
}

}  // namespace palladion::legality
