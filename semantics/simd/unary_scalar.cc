// The kScalar loops of the unary operations: the reference.
#include <bit>
#include <cmath>
#include <cstring>

#include "semantics/simd/elementwise_internal.h"
#include "semantics/simd/scalar_ops.h"

namespace palladion::simd {
namespace {

// Away from zero at a half; x - trunc(x) is exact.
double RoundHalfAway(double x) {
  const double whole = std::trunc(x);
  return std::copysign(std::fabs(x - whole) >= 0.5 ? std::fabs(whole) + 1 : std::fabs(whole), x);
}

// A type without negative zero has its one NaN where -0 would be: both stay.
template <DType D>
StorageOf<D> NegateFloat(StorageOf<D> x) {
  using E = Element<D>;
  if constexpr (D == DType::kF32 || D == DType::kF64) {
    using Word = std::conditional_t<D == DType::kF32, std::uint32_t, std::uint64_t>;
    return std::bit_cast<StorageOf<D>>(std::bit_cast<Word>(x) ^ (Word{1} << (E::kBits - 1)));
  } else if constexpr (D == DType::kF8E8M0FNU) {
    return E::kQuietNaN;  // no sign: no value has a negative
  } else if constexpr (D == DType::kF16 || D == DType::kBF16) {
    return x ^ 0x8000;
  } else {
    constexpr std::uint8_t kSign = 1u << (E::kBits - 1);
    if (E::kFormat.unsigned_zero && (x == 0 || x == kSign)) return x;
    return x ^ kSign;
  }
}

template <DType D>
StorageOf<D> AbsFloat(StorageOf<D> x) {
  using E = Element<D>;
  if constexpr (D == DType::kF32 || D == DType::kF64) {
    using Word = std::conditional_t<D == DType::kF32, std::uint32_t, std::uint64_t>;
    return std::bit_cast<StorageOf<D>>(std::bit_cast<Word>(x) & ~(Word{1} << (E::kBits - 1)));
  } else if constexpr (D == DType::kF8E8M0FNU) {
    return x;
  } else if constexpr (D == DType::kF16 || D == DType::kBF16) {
    return x & 0x7fff;
  } else {
    constexpr std::uint8_t kSign = 1u << (E::kBits - 1);
    if (E::kFormat.unsigned_zero && x == kSign) return x;
    return x & static_cast<std::uint8_t>(~kSign);
  }
}

template <UnaryOp kOp>
double ApplyDouble(double x) {
  switch (kOp) {
    case UnaryOp::kSign:
      return x > 0 ? 1.0 : x < 0 ? -1.0 : x;
    case UnaryOp::kFloor:
      return std::floor(x);
    case UnaryOp::kCeil:
      return std::ceil(x);
    case UnaryOp::kRoundHalfAway:
      return RoundHalfAway(x);
    case UnaryOp::kRoundHalfEven:
      return std::nearbyint(x);
    default:
      return x * x;
  }
}

template <UnaryOp kOp, DType D>
StorageOf<D> ApplyFloat(StorageOf<D> x) {
  if constexpr (kOp == UnaryOp::kNeg) return NegateFloat<D>(x);
  if constexpr (kOp == UnaryOp::kAbs) return AbsFloat<D>(x);
  return RoundResult<D>(ApplyDouble<kOp>(Element<D>::ToDouble(x)));
}

template <UnaryOp kOp, DType D>
StorageOf<D> ApplyInteger(StorageOf<D> x) {
  using E = Element<D>;
  const auto wide = static_cast<std::uint64_t>(x);
  constexpr std::uint64_t kMask = ~std::uint64_t{0} >> (64 - E::kBits);
  switch (kOp) {
    case UnaryOp::kNeg:
      return E::Wrap(0 - wide);
    case UnaryOp::kAbs:
      return x < 0 ? E::Wrap(0 - wide) : x;
    case UnaryOp::kSign:
      return x > 0 ? E::Wrap(1) : x < 0 ? E::Wrap(~std::uint64_t{0}) : E::Wrap(0);
    case UnaryOp::kNot:
      return E::Wrap(~wide);
    case UnaryOp::kSquare:
      return E::Wrap(wide * wide);
    case UnaryOp::kClz:
      return E::Wrap(static_cast<std::uint64_t>(std::countl_zero(wide & kMask)) - (64 - E::kBits));
    default:
      return E::Wrap(static_cast<std::uint64_t>(std::popcount(wide & kMask)));
  }
}

template <UnaryOp kOp, DType D>
constexpr bool HasUnary() {
  constexpr bool kRounding = kOp == UnaryOp::kFloor || kOp == UnaryOp::kCeil || kOp == UnaryOp::kRoundHalfAway ||
                             kOp == UnaryOp::kRoundHalfEven || kOp == UnaryOp::kIsFinite;
  constexpr bool kBits = kOp == UnaryOp::kNot || kOp == UnaryOp::kClz || kOp == UnaryOp::kPopulationCount;
  if (D == DType::kBool) return kOp == UnaryOp::kNot;
  return Element<D>::kIsFloat ? !kBits : !kRounding;
}

template <UnaryOp kOp, DType D>
void Loop(const void* in, void* out, std::size_t n) {
  const auto* x = static_cast<const StorageOf<D>*>(in);
  if constexpr (kOp == UnaryOp::kIsFinite) {
    auto* z = static_cast<std::uint8_t*>(out);
    for (std::size_t i = 0; i < n; ++i) z[i] = std::isfinite(Element<D>::ToDouble(x[i]));
  } else {
    auto* z = static_cast<StorageOf<D>*>(out);
    for (std::size_t i = 0; i < n; ++i) {
      if constexpr (D == DType::kBool) {
        z[i] = x[i] == 0;
      } else if constexpr (Element<D>::kIsFloat) {
        z[i] = ApplyFloat<kOp, D>(x[i]);
      } else {
        z[i] = ApplyInteger<kOp, D>(x[i]);
      }
    }
  }
}

template <DType D>
void Copy(const void* in, void* out, std::size_t n) {
  if (in != out) std::memcpy(out, in, n * sizeof(StorageOf<D>));
}

template <UnaryOp kOp>
UnaryFn FindOp(DType dtype) {
  return VisitDType(dtype, [](auto tag) -> UnaryFn {
    constexpr DType kDType = decltype(tag)::value;
    if constexpr (kOp == UnaryOp::kCopy) {
      return &Copy<kDType>;
    } else if constexpr (HasUnary<kOp, kDType>()) {
      return &Loop<kOp, kDType>;
    } else {
      return nullptr;
    }
  });
}

}  // namespace

UnaryFn FindUnaryScalar(UnaryOp op, DType dtype) {
  switch (op) {
    case UnaryOp::kNeg:
      return FindOp<UnaryOp::kNeg>(dtype);
    case UnaryOp::kAbs:
      return FindOp<UnaryOp::kAbs>(dtype);
    case UnaryOp::kSign:
      return FindOp<UnaryOp::kSign>(dtype);
    case UnaryOp::kFloor:
      return FindOp<UnaryOp::kFloor>(dtype);
    case UnaryOp::kCeil:
      return FindOp<UnaryOp::kCeil>(dtype);
    case UnaryOp::kRoundHalfAway:
      return FindOp<UnaryOp::kRoundHalfAway>(dtype);
    case UnaryOp::kRoundHalfEven:
      return FindOp<UnaryOp::kRoundHalfEven>(dtype);
    case UnaryOp::kNot:
      return FindOp<UnaryOp::kNot>(dtype);
    case UnaryOp::kIsFinite:
      return FindOp<UnaryOp::kIsFinite>(dtype);
    case UnaryOp::kSquare:
      return FindOp<UnaryOp::kSquare>(dtype);
    case UnaryOp::kClz:
      return FindOp<UnaryOp::kClz>(dtype);
    case UnaryOp::kPopulationCount:
      return FindOp<UnaryOp::kPopulationCount>(dtype);
    case UnaryOp::kCopy:
      return FindOp<UnaryOp::kCopy>(dtype);
  }
  return nullptr;
}

}  // namespace palladion::simd
