// Unary operations of f32, f64, bf16 and f16 for each SIMD target.
#include <cstddef>

#include "semantics/simd/elementwise_internal.h"
#include "semantics/simd/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semantics/simd/float_unary_simd.cc"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "semantics/simd/float_lanes-inl.h"
#include "semantics/simd/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace {

template <typename Word>
struct FlipSign {
  using T = Word;
  template <class D, class V>
  static HWY_INLINE V Apply(D d, V bits) {
    return hn::Xor(bits, hn::Set(d, static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1))));
  }
};

template <typename Word>
struct ClearSign {
  using T = Word;
  template <class D, class V>
  static HWY_INLINE V Apply(D d, V bits) {
    return hn::And(bits, hn::Set(d, static_cast<Word>(~(Word{1} << (8 * sizeof(Word) - 1)))));
  }
};

struct Sign {
  template <class D, class V>
  static HWY_INLINE V Apply(D d, V x) {
    return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, hn::IfThenElse(hn::IsNaN(x), x, hn::CopySign(hn::Set(d, 1), x)));
  }
};

struct Square {
  template <class D, class V>
  static HWY_INLINE V Apply(D, V x) {
    return hn::Mul(x, x);
  }
};

// The nearest whole number for |x| < 2^(mantissa bits), where adding and taking off that power rounds to one; larger
// values are whole. Not Highway's own, which go through integers below SSE4.
struct RoundHalfEven {
  template <class D, class V>
  static HWY_INLINE V Apply(D d, V x) {
    const V magnitude = hn::Abs(x);
    const V big = hn::Set(d, sizeof(hn::TFromD<D>) == 4 ? 0x1p23 : 0x1p52);
    const V rounded = hn::Sub(hn::Add(magnitude, big), big);
    return hn::IfThenElse(hn::Lt(magnitude, big), hn::CopySign(rounded, x), x);
  }
};

struct Floor {
  template <class D, class V>
  static HWY_INLINE V Apply(D d, V x) {
    const V whole = RoundHalfEven::Apply(d, x);
    const V lowered = hn::Sub(whole, hn::Set(d, 1));
    return hn::CopySign(hn::IfThenElse(hn::Gt(whole, x), lowered, whole), x);
  }
};

struct Ceil {
  template <class D, class V>
  static HWY_INLINE V Apply(D d, V x) {
    const V whole = RoundHalfEven::Apply(d, x);
    const V raised = hn::Add(whole, hn::Set(d, 1));
    return hn::CopySign(hn::IfThenElse(hn::Lt(whole, x), raised, whole), x);
  }
};

// Half-even is half a step off at most: where it is short of x by exactly a half, the away side is one further.
struct RoundHalfAway {
  template <class D, class V>
  static HWY_INLINE V Apply(D d, V x) {
    const V magnitude = hn::Abs(x);
    const V whole = RoundHalfEven::Apply(d, magnitude);
    const V short_by = hn::Sub(magnitude, whole);  // exact
    const V away = hn::IfThenElse(hn::Eq(short_by, hn::Set(d, 0.5)), hn::Add(whole, hn::Set(d, 1)), whole);
    return hn::CopySign(away, x);
  }
};

template <class Op>
UnaryFn OfType(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return &UnaryLoop<OnF32<Op>>;
    case DType::kF64:
      return &UnaryLoop<OnF64<Op>>;
    case DType::kBF16:
      return &UnaryLoop<OnBF16<Op>>;
    case DType::kF16:
      return &UnaryLoop<OnF16<Op>>;
    default:
      return nullptr;
  }
}

template <template <typename> class Op>
UnaryFn OfBits(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return &UnaryLoop<Op<std::uint32_t>>;
    case DType::kF64:
      return &UnaryLoop<Op<std::uint64_t>>;
    case DType::kBF16:
    case DType::kF16:
      return &UnaryLoop<Op<std::uint16_t>>;
    default:
      return nullptr;
  }
}

// Plain loops, which the compiler vectorises for this target: the magnitude's bits are below those of infinity.
template <typename Word, Word kInfinity>
void IsFinite(const void* in, void* out, std::size_t n) {
  const auto* x = static_cast<const Word*>(in);
  auto* z = static_cast<std::uint8_t*>(out);
  constexpr Word kMagnitude = static_cast<Word>(~(Word{1} << (8 * sizeof(Word) - 1)));
  for (std::size_t i = 0; i < n; ++i) z[i] = (x[i] & kMagnitude) < kInfinity;
}

UnaryFn FindIsFinite(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return &IsFinite<std::uint32_t, 0x7f800000>;
    case DType::kF64:
      return &IsFinite<std::uint64_t, 0x7ff0000000000000>;
    case DType::kBF16:
      return &IsFinite<std::uint16_t, 0x7f80>;
    case DType::kF16:
      return &IsFinite<std::uint16_t, 0x7c00>;
    default:
      return nullptr;
  }
}

}  // namespace

UnaryFn FindFloatUnary(UnaryOp op, DType dtype) {
  switch (op) {
    case UnaryOp::kNeg:
      return OfBits<FlipSign>(dtype);
    case UnaryOp::kAbs:
      return OfBits<ClearSign>(dtype);
    case UnaryOp::kSign:
      return OfType<Sign>(dtype);
    case UnaryOp::kFloor:
      return OfType<Floor>(dtype);
    case UnaryOp::kCeil:
      return OfType<Ceil>(dtype);
    case UnaryOp::kRoundHalfAway:
      return OfType<RoundHalfAway>(dtype);
    case UnaryOp::kRoundHalfEven:
      return OfType<RoundHalfEven>(dtype);
    case UnaryOp::kSquare:
      return OfType<Square>(dtype);
    case UnaryOp::kIsFinite:
      return FindIsFinite(dtype);
    default:
      return nullptr;
  }
}

#endif  // HWY_TARGET != HWY_STATIC_TARGET
}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace palladion::simd {

UnaryFn FindFloatUnarySimd(UnaryOp op, DType dtype, Target target) {
  switch (target) {
#if HWY_ARCH_X86
    case Target::kSsse3:
      return N_SSSE3::FindFloatUnary(op, dtype);
    case Target::kAvx2:
      return N_AVX2::FindFloatUnary(op, dtype);
    case Target::kAvx512:
      return N_AVX3::FindFloatUnary(op, dtype);
#elif HWY_ARCH_ARM_A64
    case Target::kNeon:
      return N_NEON::FindFloatUnary(op, dtype);
#endif
    default:
      return nullptr;
  }
}

}  // namespace palladion::simd
#endif  // HWY_ONCE
