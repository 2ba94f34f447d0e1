// One element of every binary operation, by definition: floats up to 32 bits go through double, which rounds once to
// the same bits as the type's own operation (53 >= 2p+2 for every p up to 24), f64 is native; integers go through 64
// bits and wrap. The reference for the vector kernels and the body of the kScalar loops. Not for use between Highway's
// BEFORE and AFTER.
#ifndef PALLADION_SEMANTICS_SIMD_SCALAR_OPS_H_
#define PALLADION_SEMANTICS_SIMD_SCALAR_OPS_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "semantics/simd/elementwise.h"
#include "semantics/tensor/element.h"
#include "semantics/tensor/visit_dtype.h"

namespace palladion::simd {

constexpr bool IsCompare(BinaryOp op) { return op >= BinaryOp::kEq; }
constexpr bool IsBitwise(BinaryOp op) { return op == BinaryOp::kAnd || op == BinaryOp::kOr || op == BinaryOp::kXor; }
constexpr bool IsShift(BinaryOp op) {
  return op == BinaryOp::kShiftLeft || op == BinaryOp::kShiftRightLogical || op == BinaryOp::kShiftRightArithmetic;
}
constexpr bool IsMaxMin(BinaryOp op) { return op >= BinaryOp::kMax && op <= BinaryOp::kMinNum; }

// Whether the operation has a meaning for the type.
template <BinaryOp kOp, DType D>
constexpr bool HasBinary() {
  if (IsCompare(kOp)) return true;
  if (D == DType::kBool) return IsBitwise(kOp) || kOp == BinaryOp::kMax || kOp == BinaryOp::kMin;
  if (Element<D>::kIsFloat) return !IsBitwise(kOp) && !IsShift(kOp);
  return kOp != BinaryOp::kMaxNum && kOp != BinaryOp::kMinNum;
}

inline double MaxOf(double a, double b) { return a > b || (a == b && !std::signbit(a)) ? a : b; }
inline double MinOf(double a, double b) { return a < b || (a == b && std::signbit(a)) ? a : b; }

template <BinaryOp kOp>
double ApplyDouble(double a, double b) {
  if constexpr (kOp == BinaryOp::kAdd) return a + b;
  if constexpr (kOp == BinaryOp::kSub) return a - b;
  if constexpr (kOp == BinaryOp::kMul) return a * b;
  if constexpr (kOp == BinaryOp::kDiv) return a / b;
  if constexpr (kOp == BinaryOp::kRem) return std::fmod(a, b);  // exact in every libm
  if constexpr (kOp == BinaryOp::kMax || kOp == BinaryOp::kMin) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
    return kOp == BinaryOp::kMax ? MaxOf(a, b) : MinOf(a, b);
  }
  if constexpr (kOp == BinaryOp::kMaxNum || kOp == BinaryOp::kMinNum) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    return kOp == BinaryOp::kMaxNum ? MaxOf(a, b) : MinOf(a, b);
  }
}

template <BinaryOp kOp, DType D>
StorageOf<D> ApplyInteger(StorageOf<D> a, StorageOf<D> b) {
  using E = Element<D>;
  using T = StorageOf<D>;
  constexpr bool kSigned = std::is_signed_v<T>;
  const auto x = static_cast<std::uint64_t>(a);  // sign-extended
  const auto y = static_cast<std::uint64_t>(b);
  constexpr std::uint64_t kMask = ~std::uint64_t{0} >> (64 - E::kBits);
  const std::uint64_t amount = y & kMask;
  switch (kOp) {
    case BinaryOp::kAdd:
      return E::Wrap(x + y);
    case BinaryOp::kSub:
      return E::Wrap(x - y);
    case BinaryOp::kMul:
      return E::Wrap(x * y);
    case BinaryOp::kDiv:
      if (b == 0) return E::Wrap(~std::uint64_t{0});
      if (kSigned && y == ~std::uint64_t{0}) return E::Wrap(0 - x);
      return static_cast<T>(a / b);
    case BinaryOp::kRem:
      if (b == 0) return a;
      if (kSigned && y == ~std::uint64_t{0}) return 0;
      return static_cast<T>(a % b);
    case BinaryOp::kMax:
      return a > b ? a : b;
    case BinaryOp::kMin:
      return a < b ? a : b;
    case BinaryOp::kAnd:
      return static_cast<T>(a & b);
    case BinaryOp::kOr:
      return static_cast<T>(a | b);
    case BinaryOp::kXor:
      return static_cast<T>(a ^ b);
    case BinaryOp::kShiftLeft:
      return amount >= E::kBits ? T{0} : E::Wrap(x << amount);
    case BinaryOp::kShiftRightLogical:
      return amount >= E::kBits ? T{0} : E::Wrap((x & kMask) >> amount);
    case BinaryOp::kShiftRightArithmetic: {
      const auto value = static_cast<std::int64_t>(x << (64 - E::kBits)) >> (64 - E::kBits);
      return E::Wrap(static_cast<std::uint64_t>(value >> (amount >= E::kBits ? E::kBits - 1 : amount)));
    }
    default:
      return 0;  // not reached: HasBinary
  }
}

// The rounded result; an overflow into NaN, of a type without infinities, is the one quiet NaN whatever its sign.
template <DType D>
StorageOf<D> RoundResult(double value) {
  using E = Element<D>;
  const StorageOf<D> result = E::FromDouble(value);
  if constexpr (D == DType::kF8E4M3FN) return (result & 0x7f) == E::kQuietNaN ? E::kQuietNaN : result;
  return result;
}

template <BinaryOp kOp, DType D>
StorageOf<D> ApplyBinary(StorageOf<D> a, StorageOf<D> b) {
  using E = Element<D>;
  if constexpr (D == DType::kBool) {
    const bool x = a != 0;
    const bool y = b != 0;
    if (kOp == BinaryOp::kXor) return x != y;
    return kOp == BinaryOp::kAnd || kOp == BinaryOp::kMin ? x && y : x || y;
  } else if constexpr (E::kIsFloat) {
    return RoundResult<D>(ApplyDouble<kOp>(E::ToDouble(a), E::ToDouble(b)));
  } else {
    return ApplyInteger<kOp, D>(a, b);
  }
}

template <BinaryOp kOp, DType D>
bool ApplyCompare(StorageOf<D> a, StorageOf<D> b) {
  if constexpr (Element<D>::kIsFloat || D == DType::kBool) {
    return [](double x, double y) {
      if (kOp == BinaryOp::kEq) return x == y;
      if (kOp == BinaryOp::kNe) return x != y;
      if (kOp == BinaryOp::kLt) return x < y;
      if (kOp == BinaryOp::kLe) return x <= y;
      return kOp == BinaryOp::kGt ? x > y : x >= y;
    }(Element<D>::ToDouble(a), Element<D>::ToDouble(b));
  } else {
    if (kOp == BinaryOp::kEq) return a == b;
    if (kOp == BinaryOp::kNe) return a != b;
    if (kOp == BinaryOp::kLt) return a < b;
    if (kOp == BinaryOp::kLe) return a <= b;
    return kOp == BinaryOp::kGt ? a > b : a >= b;
  }
}

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_SCALAR_OPS_H_
