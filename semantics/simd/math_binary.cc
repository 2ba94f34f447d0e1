// pow and atan2 by Ziv's strategy (A. Ziv, "Fast evaluation of elementary mathematical functions with correctly rounded
// last bit", ACM TOMS 17 (1991)): the fast double result decides the rounding unless a boundary of the type lies within
// 2^-48 of it; the rest, and everything special, goes through math_exact.h. f64 always does.
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "semantics/simd/math_exact.h"
#include "semantics/simd/math_find.h"
#include "semantics/tensor/element.h"

namespace palladion::simd {
namespace {

double Exact(Math2Op op, double a, double b, ExactRounding rounding) {
  return op == Math2Op::kPow ? PowExact(a, b, rounding) : Atan2Exact(a, b, rounding);
}

template <Math2Op op>
void MapF64(const void* a, const void* b, void* out, std::size_t n) {
  const auto* x = static_cast<const double*>(a);
  const auto* y = static_cast<const double*>(b);
  auto* to = static_cast<double*>(out);
  for (std::size_t i = 0; i < n; ++i) {
    to[i] = Element<DType::kF64>::FromDouble(Exact(op, x[i], y[i], ExactRounding::kNearest));
  }
}

template <DType D, Math2Op op, Target target>
void MapNarrow(const void* a, const void* b, void* out, std::size_t n) {
  using Type = Element<D>;
  using Storage = typename Type::Storage;
  constexpr std::size_t kStrip = 256;
  const auto* x = static_cast<const Storage*>(a);
  const auto* y = static_cast<const Storage*>(b);
  auto* to = static_cast<Storage*>(out);
  const FastBinaryFn fast = FindFastBinary(op, target);
  alignas(64) double xs[kStrip] = {}, ys[kStrip] = {}, results[kStrip];
  for (std::size_t start = 0; start < n; start += kStrip) {
    const std::size_t count = std::min(kStrip, n - start);
    for (std::size_t i = 0; i < count; ++i) {
      xs[i] = Type::ToDouble(x[start + i]);
      ys[i] = Type::ToDouble(y[start + i]);
    }
    fast(xs, ys, results, (count + 7) / 8 * 8);
    for (std::size_t i = 0; i < count; ++i) {
      const Storage low = Type::FromDouble(results[i] * (1 - 0x1p-48));
      const Storage high = Type::FromDouble(results[i] * (1 + 0x1p-48));
      const bool settled = results[i] == results[i] && low == high;
      to[start + i] = settled ? low : Type::FromDouble(Exact(op, xs[i], ys[i], ExactRounding::kOdd));
    }
  }
}

template <DType D, Math2Op op>
BinaryFn FindFor(Target target) {
  switch (target) {
    case Target::kScalar:
      return &MapNarrow<D, op, Target::kScalar>;
    case Target::kSsse3:
      return &MapNarrow<D, op, Target::kSsse3>;
    case Target::kAvx2:
      return &MapNarrow<D, op, Target::kAvx2>;
    case Target::kAvx512:
      return &MapNarrow<D, op, Target::kAvx512>;
    case Target::kNeon:
      return &MapNarrow<D, op, Target::kNeon>;
  }
  return nullptr;
}

}  // namespace

std::string_view Name(Math2Op op) { return op == Math2Op::kPow ? "pow" : "atan2"; }

BinaryFn FindMath2(Math2Op op, DType dtype) { return FindMath2(op, dtype, ActiveTarget()); }

BinaryFn FindMath2(Math2Op op, DType dtype, Target target) {
  return VisitDType(dtype, [op, target](auto tag) -> BinaryFn {
    constexpr DType kType = tag;
    if constexpr (kType == DType::kF64) {
      return op == Math2Op::kPow ? &MapF64<Math2Op::kPow> : &MapF64<Math2Op::kAtan2>;
    } else if constexpr (Element<kType>::kIsFloat) {
      return op == Math2Op::kPow ? FindFor<kType, Math2Op::kPow>(target) : FindFor<kType, Math2Op::kAtan2>(target);
    } else {
      return nullptr;
    }
  });
}

}  // namespace palladion::simd
