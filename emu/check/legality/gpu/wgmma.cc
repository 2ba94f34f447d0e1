// Matrix products of Hopper's tensor cores. Sources: JAX 0.10.2, jax/_src/pallas/mosaic_gpu/primitives.py (wgmma),
// jax/experimental/mosaic/gpu/wgmma.py and mma_utils.py; PTX, "wgmma.mma_async". With warpgroup semantics swizzles and
// tiles may be left to the compiler, and only those that the kernel states are judged.
// Does not catch: layouts of operands in registers.
#include <algorithm>

#include "emu/check/legality/gpu/limits.h"
#include "emu/check/legality/gpu/product.h"
#include "semantics/base/cat.h"
#include "semantics/ir/view_type.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kRows = 64, kColumns = 8, kMaxColumns = 256;

struct WgmmaSite {
  const layouts::GpuFacts& facts;
  const Instr& op;
  Type acc;  // of the part that is added to
  const Arg* acc_arg = nullptr;
  std::optional<ProductOperand> a_ref;  // none: in registers
  ProductOperand b;
  Shape a_shape, b_shape;  // (M, K), (K, N)
  DType a_dtype = DType::kF32;
};

std::optional<std::string> Shapes(const WgmmaSite& site) {
  const Shape &acc = site.acc.shape, &a = site.a_shape, &b = site.b_shape;
  if (acc.size() == 2 && a.size() == 2 && b.size() == 2 && acc[0] == a[0] && acc[1] == b[1] && a[1] == b[0])
    return std::nullopt;
  return Cat(ToString(acc), " += ", ToString(a), " @ ", ToString(b));
}

bool AreMatrices(const WgmmaSite& site) { return !Shapes(site).has_value(); }

std::optional<std::string> Rows(const WgmmaSite& site) {
  if (!AreMatrices(site) || (site.acc.shape[0] % kRows == 0 && site.acc.shape[0] > 0)) return std::nullopt;
  return Cat("M = ", site.acc.shape[0]);
}

std::optional<std::string> Columns(const WgmmaSite& site) {
  if (!AreMatrices(site)) return std::nullopt;
  const std::int64_t n = site.acc.shape[1];
  if (n % kColumns == 0 && n > 0 && n <= kMaxColumns) return std::nullopt;
  return Cat("N = ", n);
}

std::optional<std::string> Depth(const WgmmaSite& site) {
  const std::optional<std::int64_t> swizzle = site.b.view.swizzle();
  if (!AreMatrices(site) || !swizzle.has_value()) return std::nullopt;
  const std::int64_t group = *swizzle * 8 / site.b.view.bits(), k = site.a_shape[1];
  if (group > 0 && k % group == 0 && k > 0) return std::nullopt;
  return Cat("K = ", k, " with ", group, " elements of ", Name(site.b.view.dtype), " in a swizzle of ", *swizzle,
             " bytes");
}

std::optional<std::string> Layout(const WgmmaSite& site) {
  if (!site.facts.lanes) return std::nullopt;
  const auto lacks = [](const ProductOperand& operand) {
    return !operand.view.swizzle().has_value() || operand.view.tile.empty();
  };
  if (site.a_ref.has_value() && lacks(*site.a_ref)) return "a without both";
  if (lacks(site.b)) return "b without both";
  return std::nullopt;
}

std::optional<std::string> Views(const WgmmaSite& site) {
  if (site.a_ref.has_value() && site.a_ref->refused.has_value()) return Cat("a through ", *site.a_ref->refused);
  if (site.b.refused.has_value()) return Cat("b through ", *site.b.refused);
  return std::nullopt;
}

std::optional<std::string> Tiling(const WgmmaSite& site) {
  if (site.a_ref.has_value()) {
    if (std::optional<std::string> found = WrongTile(*site.a_ref, "a")) return found;
  }
  return WrongTile(site.b, "b");
}

std::optional<std::string> SameSwizzle(const WgmmaSite& site) {
  if (!site.a_ref.has_value()) return std::nullopt;
  const std::optional<std::int64_t> a = site.a_ref->view.swizzle(), b = site.b.view.swizzle();
  if (!a.has_value() || !b.has_value() || a == b) return std::nullopt;
  return Cat(*a, " and ", *b, " bytes");
}

// The tensor core wants a by rows and b by columns, both along K.
std::optional<std::string> Transposes(const WgmmaSite& site) {
  if (site.b.view.bits() == 16 || site.b.refused.has_value() || !site.b.followed) return std::nullopt;
  if (site.a_ref.has_value() && site.a_ref->transposed) return Cat("a transposed, of ", Name(site.a_dtype));
  if (site.b.view.swizzle().has_value() && !site.b.transposed)
    return Cat("b of ", Name(site.b.view.dtype), ", stored with N last");
  return std::nullopt;
}

bool IsNarrowFloat(DType dtype) { return dtype == DType::kF8E5M2 || dtype == DType::kF8E4M3FN; }

// PTX names the types of a and b each by itself, and has no other mixture; JAX has this one since 0.11 (wgmma.py).
bool MixesNarrowFloats(const WgmmaSite& site) {
  return site.a_dtype != site.b.view.dtype && IsNarrowFloat(site.a_dtype) && IsNarrowFloat(site.b.view.dtype);
}

std::optional<std::string> SameTypes(const WgmmaSite& site) {
  if (site.a_dtype == site.b.view.dtype || MixesNarrowFloats(site)) return std::nullopt;
  return Cat(Name(site.a_dtype), " @ ", Name(site.b.view.dtype));
}

std::optional<std::string> SameNarrowFloats(const WgmmaSite& site) {
  if (!MixesNarrowFloats(site)) return std::nullopt;
  return Cat(Name(site.a_dtype), " @ ", Name(site.b.view.dtype));
}

bool Multiplies(DType input, DType acc) {
  if (input == DType::kF32 || input == DType::kBF16) return acc == DType::kF32;
  if (input == DType::kF16 || input == DType::kF8E5M2 || input == DType::kF8E4M3FN)
    return acc == DType::kF32 || acc == DType::kF16;
  return (input == DType::kI8 || input == DType::kU8) && acc == DType::kI32;
}

std::optional<std::string> Types(const WgmmaSite& site) {
  if (Multiplies(site.b.view.dtype, site.acc.dtype)) return std::nullopt;
  return Cat(Name(site.b.view.dtype), " into ", Name(site.acc.dtype));
}

std::optional<std::string> Registers(const WgmmaSite& site) {
  if (site.a_ref.has_value()) return std::nullopt;
  const DType dtype = site.a_dtype;
  if (dtype == DType::kI8 && site.b.view.swizzle() == 32) return "a of i8 with a swizzle of 32 bytes";
  if (dtype == DType::kF16 || dtype == DType::kBF16 || dtype == DType::kI8 || dtype == DType::kF8E5M2 ||
      dtype == DType::kF8E4M3FN)
    return std::nullopt;
  return Cat("a of ", Name(dtype));
}

std::optional<std::string> Slice(const WgmmaSite& site) {
  for (const Transform& transform : site.acc_arg->transforms) {
    if (transform.kind != Transform::Kind::kAt) return Cat(".", Name(transform.kind), " of the accumulator");
    for (const Index& index : transform.indices) {
      if (index.kind == Index::Kind::kFull) continue;
      const bool is_static =
          index.kind == Index::Kind::kSlice && index.stride == 1 && layouts::LiteralInt(index.start).has_value();
      if (!is_static && !site.facts.lanes) return "an index that is no static slice, with warpgroup semantics";
      if (index.kind == Index::Kind::kPoint && !TypeOfArg(*site.facts.kernel, index.start).shape.empty())
        return "an index array";
    }
  }
  return std::nullopt;
}

constexpr std::string_view kWgmma = "Mosaic GPU, wgmma", kShape = "choose another tile of the product";

constexpr GpuLimit<WgmmaSite> kWgmmaLimits[] = {
    {{"wgmma.shapes", "acc (M, N) += a (M, K) @ b (K, N)", "plgpu.wgmma", "transpose or slice the operands"}, Shapes},
    {{"wgmma.m", "M is a multiple of 64", kWgmma, kShape}, Rows},
    {{"wgmma.n", "N is a multiple of 8, at most 256", kWgmma, kShape}, Columns},
    {{"wgmma.k", "K is a multiple of the number of elements in the swizzle's bytes", kWgmma, kShape}, Depth},
    {{"wgmma.layout", "with lane semantics operands in SMEM are tiled and swizzled", "Mosaic GPU lowering, wgmma",
      "give the refs plgpu.TilingTransform and plgpu.SwizzleTransform"},
     Layout},
    {{"wgmma.view",
      "with lane semantics an operand is seen through indices and at most one transposition of its two dimensions, b "
      "also through reshapes before it",
      "Mosaic GPU lowering, wgmma", "give the ref the shape and the tile that the product wants"},
     Views},
    {{"wgmma.tile", "an operand's tile is 8 rows of the swizzle's bytes", kWgmma, "tile by (8, 8 * swizzle / bits)"},
     Tiling},
    {{"wgmma.swizzle", "a and b have one swizzle", "Mosaic GPU lowering, wgmma", "use the same for both"}, SameSwizzle},
    {{"wgmma.transpose", "only operands of 16 bits come in either order: others have K last, b as .transpose of (N, K)",
      kWgmma, "store the operand with K last"},
     Transposes},
    {{"wgmma.mixed", "a and b have one type, but for 8-bit floats", "plgpu.wgmma", "convert one of them"}, SameTypes},
    {{"wgmma.mixed-8-bit", "a and b have one type of 8-bit floats", "Mosaic GPU, wgmma",
      "convert one of them, or use JAX 0.11 or later", true},
     SameNarrowFloats},
    {{"wgmma.types",
      "f32 (as tf32) and bf16 add up in f32; f16, f8e5m2 and f8e4m3fn in f32 or f16; i8 and u8 in i32; nothing else "
      "multiplies",
      kWgmma, "convert the operands"},
     Types},
    {{"wgmma.registers", "a in registers is f16, bf16, i8, f8e5m2 or f8e4m3fn; i8 not with a swizzle of 32 bytes",
      kWgmma, "put a into SMEM"},
     Registers},
    {{"wgmma.slice", "an accumulator is indexed only, with warpgroup semantics by static slices without a step",
      "Mosaic GPU lowering, wgmma", "use accumulators of their own"},
     Slice},
};

}  // namespace

void CheckWgmma(Legality& legality, const GpuScope& scope, const Instr& op) {
  const Kernel& kernel = *scope.facts->kernel;
  const Arg *acc = layouts::ArgNamed(op, "acc"), *a = layouts::ArgNamed(op, "a"), *b = layouts::ArgNamed(op, "b");
  if (acc == nullptr || a == nullptr || b == nullptr || !layouts::IsRefArg(kernel, *acc) ||
      !layouts::IsRefArg(kernel, *b))
    return;
  const layouts::GpuView product = layouts::GpuViewOf(kernel, *acc);
  WgmmaSite site{.facts = *scope.facts,
                 .op = op,
                 .acc = product.ref,
                 .acc_arg = acc,
                 .b = ProductOperandOf(kernel, *b, scope.facts->lanes, /*reshapes=*/true)};
  const Type type = TypeOfArg(kernel, *a);
  site.a_shape = type.shape;
  site.a_dtype = type.dtype;
  if (layouts::IsRefArg(kernel, *a)) {
    site.a_ref = ProductOperandOf(kernel, *a, scope.facts->lanes, /*reshapes=*/!scope.facts->lanes);
    site.a_dtype = site.a_ref->view.dtype;
    if (!site.a_ref->view.shape.has_value()) return;
    site.a_shape = *site.a_ref->view.shape;
  }
  if (!product.shape.has_value() || !site.b.view.shape.has_value()) return;
  site.acc.shape = *product.shape;
  site.b_shape = *site.b.view.shape;
  Judge(legality, op, absl::Span<const GpuLimit<WgmmaSite>>(kWgmmaLimits), site);
}

void ListWgmmaLimits(std::vector<LimitText>& texts) {
  ListLimits(absl::Span<const GpuLimit<WgmmaSite>>(kWgmmaLimits), texts);
}

}  // namespace palladion::legality
