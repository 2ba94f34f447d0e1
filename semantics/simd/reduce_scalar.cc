// The reference reductions, argmax and argmin: one output after the other, by definition.
#include <cmath>
#include <cstring>

#include "semantics/simd/reduce_internal.h"
#include "semantics/simd/scalar_ops.h"

namespace palladion::simd {
namespace {

constexpr BinaryOp ElementOp(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return BinaryOp::kAdd;
    case ReduceOp::kProd:
      return BinaryOp::kMul;
    case ReduceOp::kMax:
      return BinaryOp::kMax;
    case ReduceOp::kMin:
      return BinaryOp::kMin;
    case ReduceOp::kMaxNum:
      return BinaryOp::kMaxNum;
    case ReduceOp::kMinNum:
      return BinaryOp::kMinNum;
    case ReduceOp::kAnd:
      return BinaryOp::kAnd;
    case ReduceOp::kOr:
      return BinaryOp::kOr;
    default:
      return BinaryOp::kXor;
  }
}

constexpr bool IsSumOrProd(ReduceOp op) { return op == ReduceOp::kSum || op == ReduceOp::kProd; }

// The type's highest or lowest value: an infinity where it has one.
template <DType D>
StorageOf<D> Extreme(bool highest) {
  using E = Element<D>;
  if constexpr (D == DType::kBool) {
    return highest ? 1 : 0;
  } else if constexpr (D == DType::kF8E8M0FNU) {
    return highest ? 0xfe : 0;
  } else if constexpr (!E::kIsFloat) {
    return highest ? E::kMax : E::kMin;
  } else {
    const double infinity = highest ? HUGE_VAL : -HUGE_VAL;
    const StorageOf<D> value = E::FromDouble(infinity);
    if constexpr (E::kBits <= 8) {
      const auto finite = static_cast<StorageOf<D>>(E::kFormat.max_finite | (highest ? 0u : 1u << (E::kBits - 1)));
      return std::isinf(E::ToDouble(value)) ? value : finite;
    }
    return value;
  }
}

template <ReduceOp kOp, DType D>
StorageOf<D> Empty() {
  using E = Element<D>;
  switch (kOp) {
    case ReduceOp::kProd:
      return E::FromDouble(1.0);
    case ReduceOp::kMax:
    case ReduceOp::kMaxNum:
      return Extreme<D>(false);
    case ReduceOp::kMin:
    case ReduceOp::kMinNum:
      return Extreme<D>(true);
    case ReduceOp::kAnd:
      if constexpr (D == DType::kBool) return 1;
      if constexpr (!E::kIsFloat && D != DType::kBool) return E::Wrap(~std::uint64_t{0});
      return 0;
    default:
      return StorageOf<D>{0};
  }
}

// What changes no element, not even the only one: for kMaxNum a NaN, so that all NaN gives NaN.
template <ReduceOp kOp, DType D>
StorageOf<D> Identity() {
  if constexpr (kOp == ReduceOp::kMaxNum || kOp == ReduceOp::kMinNum) {
    if constexpr (Element<D>::kHasNaN) return Element<D>::kQuietNaN;
  }
  return Empty<kOp, D>();
}

template <ReduceOp kOp, DType D>
double SixteenPartials(const StorageOf<D>* x, std::size_t length, std::size_t stride) {
  double part[kPartials];
  for (double& p : part) p = kOp == ReduceOp::kSum ? 0.0 : 1.0;
  for (std::size_t i = 0; i < length; ++i) {
    double& p = part[i % kPartials];
    p = ApplyDouble<ElementOp(kOp)>(p, Element<D>::ToDouble(x[i * stride]));
  }
  for (std::size_t half = kPartials / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) part[j] = ApplyDouble<ElementOp(kOp)>(part[j], part[j + half]);
  }
  return part[0];
}

template <ReduceOp kOp, DType D>
void Run(const ReduceKernel&, const void* in, const MiddleAxis& shape, void* out) {
  const auto* x = static_cast<const StorageOf<D>*>(in);
  auto* z = static_cast<StorageOf<D>*>(out);
  for (std::size_t o = 0; o < shape.outer; ++o) {
    for (std::size_t i = 0; i < shape.inner; ++i) {
      // Over nothing there may be no operand at all, and adding to a null pointer is undefined.
      const StorageOf<D>* first = shape.length == 0 ? x : x + o * shape.length * shape.inner + i;
      StorageOf<D> result = shape.length == 0 ? Empty<kOp, D>() : Identity<kOp, D>();
      if constexpr (IsSumOrProd(kOp) && Element<D>::kIsFloat) {
        if (shape.length > 0) result = RoundResult<D>(SixteenPartials<kOp, D>(first, shape.length, shape.inner));
      } else {
        for (std::size_t k = 0; k < shape.length; ++k) {
          result = ApplyBinary<ElementOp(kOp), D>(result, first[k * shape.inner]);
        }
      }
      z[o * shape.inner + i] = result;
    }
  }
}

template <DType D>
void Round(const double* sums, void* out, std::size_t n) {
  auto* z = static_cast<StorageOf<D>*>(out);
  for (std::size_t i = 0; i < n; ++i) z[i] = RoundResult<D>(sums[i]);
}

template <ReduceOp kOp>
ReduceKernel FindOp(DType dtype) {
  return VisitDType(dtype, [](auto tag) {
    constexpr DType kDType = decltype(tag)::value;
    ReduceKernel kernel;
    if constexpr (HasBinary<ElementOp(kOp), kDType>()) {
      kernel.valid = true;
      kernel.dtype = kDType;
      kernel.run = &Run<kOp, kDType>;
      if constexpr (IsSumOrProd(kOp) && Element<kDType>::kIsFloat) kernel.round = &Round<kDType>;
      const auto identity = Identity<kOp, kDType>();
      const auto empty = Empty<kOp, kDType>();
      std::memcpy(&kernel.identity, &identity, sizeof(identity));
      std::memcpy(&kernel.empty, &empty, sizeof(empty));
    }
    return kernel;
  });
}

// Whether a is further out than b.
template <ArgOp kOp, DType D>
bool Beats(StorageOf<D> a, StorageOf<D> b) {
  return ApplyCompare < kOp == ArgOp::kArgMax ? BinaryOp::kGt : BinaryOp::kLt, D > (a, b);
}

template <DType D>
bool IsNaN(StorageOf<D> x) {
  if constexpr (Element<D>::kIsFloat) return std::isnan(Element<D>::ToDouble(x));
  return false;
}

template <ArgOp kOp, NaNOrder kOrder, DType D>
std::int32_t ArgOne(const StorageOf<D>* x, std::size_t length, std::size_t stride) {
  StorageOf<D> best = x[0];
  std::size_t index = 0;
  for (std::size_t k = 1; k < length; ++k) {
    const StorageOf<D> value = x[k * stride];
    if (IsNaN<D>(best)) {
      if (kOrder == NaNOrder::kNaNWins) break;
      best = value;  // the index stays
    } else if (Beats<kOp, D>(value, best) || (kOrder == NaNOrder::kNaNWins && IsNaN<D>(value))) {
      best = value;
      index = k;
    }
  }
  return static_cast<std::int32_t>(index);
}

template <ArgOp kOp, NaNOrder kOrder, DType D>
void Arg(const void* in, const MiddleAxis& shape, std::int32_t* out) {
  const auto* x = static_cast<const StorageOf<D>*>(in);
  for (std::size_t o = 0; o < shape.outer; ++o) {
    for (std::size_t i = 0; i < shape.inner; ++i) {
      *out++ = ArgOne<kOp, kOrder, D>(x + o * shape.length * shape.inner + i, shape.length, shape.inner);
    }
  }
}

template <ArgOp kOp, NaNOrder kOrder>
ArgFn FindArgOp(DType dtype) {
  return VisitDType(dtype, [](auto tag) -> ArgFn { return &Arg<kOp, kOrder, decltype(tag)::value>; });
}

}  // namespace

ReduceKernel FindReduceScalar(ReduceOp op, DType dtype) {
  switch (op) {
    case ReduceOp::kSum:
      return FindOp<ReduceOp::kSum>(dtype);
    case ReduceOp::kProd:
      return FindOp<ReduceOp::kProd>(dtype);
    case ReduceOp::kMax:
      return FindOp<ReduceOp::kMax>(dtype);
    case ReduceOp::kMin:
      return FindOp<ReduceOp::kMin>(dtype);
    case ReduceOp::kMaxNum:
      return FindOp<ReduceOp::kMaxNum>(dtype);
    case ReduceOp::kMinNum:
      return FindOp<ReduceOp::kMinNum>(dtype);
    case ReduceOp::kAnd:
      return FindOp<ReduceOp::kAnd>(dtype);
    case ReduceOp::kOr:
      return FindOp<ReduceOp::kOr>(dtype);
    case ReduceOp::kXor:
      return FindOp<ReduceOp::kXor>(dtype);
  }
  return {};
}

// One loop for every target: finding the index costs more than comparing.
ArgFn FindArg(ArgOp op, NaNOrder order, DType dtype) {
  if (op == ArgOp::kArgMax) {
    return order == NaNOrder::kNaNWins ? FindArgOp<ArgOp::kArgMax, NaNOrder::kNaNWins>(dtype)
                                       : FindArgOp<ArgOp::kArgMax, NaNOrder::kNaNIsEqual>(dtype);
  }
  return order == NaNOrder::kNaNWins ? FindArgOp<ArgOp::kArgMin, NaNOrder::kNaNWins>(dtype)
                                     : FindArgOp<ArgOp::kArgMin, NaNOrder::kNaNIsEqual>(dtype);
}

}  // namespace palladion::simd
