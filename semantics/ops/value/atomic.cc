// One lane of each atomic operation, by element type. Spec: docs/spec/ref.md#atomic_rmw; of a copy's reductions
// docs/spec/gpu-copies.md#copy_smem_to_gmem.
// Based on: Pallas' Triton atomics; JAX's own order of lanes is unspecified, ours is row-major. PTX,
// cp.reduce.async.bulk.
#include <cstring>
#include <type_traits>

#include "semantics/base/cat.h"
#include "semantics/ops/families.h"
#include "semantics/tensor/element.h"

namespace palladion {
namespace {

enum class Rmw { kAdd, kMax, kMin, kAnd, kOr, kXor, kExchange, kCompareAndSwap };

template <class S>
S Read(const std::byte* p) {
  S value;
  std::memcpy(&value, p, sizeof(S));
  return value;
}

template <DType D, Rmw R>
typename Element<D>::Storage Combine(typename Element<D>::Storage old, typename Element<D>::Storage operand) {
  using E = Element<D>;
  if constexpr (R == Rmw::kExchange) return operand;
  if constexpr (E::kIsFloat) {
    const double a = E::ToDouble(old), b = E::ToDouble(operand);
    if constexpr (R == Rmw::kAdd)
      return E::FromDouble(a + b);  // one rounding: 53 >= 2p+2 for every p <= 24; f64 is itself
    if constexpr (R == Rmw::kMax)
      return b > a || a != a ? operand : old;  // a NaN in memory loses, as an operand it is not taken
    if constexpr (R == Rmw::kMin) return b < a || a != a ? operand : old;
  } else {
    const auto a = static_cast<std::uint64_t>(old), b = static_cast<std::uint64_t>(operand);
    if constexpr (R == Rmw::kAdd) return E::Wrap(a + b);
    if constexpr (R == Rmw::kMax) return operand > old ? operand : old;
    if constexpr (R == Rmw::kMin) return operand < old ? operand : old;
    if constexpr (R == Rmw::kAnd) return E::Wrap(a & b);
    if constexpr (R == Rmw::kOr) return E::Wrap(a | b);
    if constexpr (R == Rmw::kXor) return E::Wrap(a ^ b);
  }
  return old;
}

template <DType D, Rmw R>
void Apply(const std::byte* old, const std::byte* operand, const std::byte* compare, std::byte* result) {
  using S = typename Element<D>::Storage;
  S value;
  if constexpr (R == Rmw::kCompareAndSwap) {
    value = std::memcmp(old, compare, sizeof(S)) == 0 ? Read<S>(operand) : Read<S>(old);
  } else {
    value = Combine<D, R>(Read<S>(old), Read<S>(operand));
  }
  std::memcpy(result, &value, sizeof(S));
}

template <DType D>
AtomicFn Find(std::string_view name) {
  if (name == "xchg") return Apply<D, Rmw::kExchange>;
  if (name == "cas") return Apply<D, Rmw::kCompareAndSwap>;
  if constexpr (D == DType::kBool) {
    return nullptr;
  } else {
    if (name == "add") return Apply<D, Rmw::kAdd>;
    if (name == "max") return Apply<D, Rmw::kMax>;
    if (name == "min") return Apply<D, Rmw::kMin>;
    if constexpr (!Element<D>::kIsFloat) {
      if (name == "and") return Apply<D, Rmw::kAnd>;
      if (name == "or") return Apply<D, Rmw::kOr>;
      if (name == "xor") return Apply<D, Rmw::kXor>;
    }
    return nullptr;
  }
}

template <class Wide>
using Reduction = Wide (*)(Wide old, Wide operand);

// `old` and `operand` as integers of type Wide, which is of their size: with a sign or without one, whatever they are.
template <class Wide, Reduction<Wide> kReduce>
void ApplyAs(const std::byte* old, const std::byte* operand, const std::byte* compare, std::byte* result) {
  static_cast<void>(compare);
  const Wide value = kReduce(Read<Wide>(old), Read<Wide>(operand));
  std::memcpy(result, &value, sizeof(Wide));
}

template <class Wide>
Wide Lesser(Wide old, Wide operand) {
  return operand < old ? operand : old;
}

template <class Wide>
Wide Greater(Wide old, Wide operand) {
  return operand > old ? operand : old;
}

// PTX: from 0 up to the operand, and then 0 again.
std::uint32_t CountUp(std::uint32_t old, std::uint32_t operand) { return old >= operand ? 0 : old + 1; }

// PTX: down to 0, and then the operand again.
std::uint32_t CountDown(std::uint32_t old, std::uint32_t operand) {
  return old == 0 || old > operand ? operand : old - 1;
}

template <class Signed, class Unsigned>
AtomicFn FindOfSign(std::string_view name) {
  if (name == "smin") return ApplyAs<Signed, Lesser<Signed>>;
  if (name == "smax") return ApplyAs<Signed, Greater<Signed>>;
  if (name == "umin") return ApplyAs<Unsigned, Lesser<Unsigned>>;
  if (name == "umax") return ApplyAs<Unsigned, Greater<Unsigned>>;
  return nullptr;
}

AtomicFn FindOfCopiesAlone(std::string_view name, DType dtype) {
  if (!IsInteger(dtype)) return nullptr;
  if (Info(dtype).bits == 64) return FindOfSign<std::int64_t, std::uint64_t>(name);
  if (Info(dtype).bits != 32) return nullptr;
  if (name == "inc") return ApplyAs<std::uint32_t, CountUp>;
  if (name == "dec") return ApplyAs<std::uint32_t, CountDown>;
  return FindOfSign<std::int32_t, std::uint32_t>(name);
}

}  // namespace

absl::StatusOr<AtomicFn> FindCopyReduction(std::string_view name, DType dtype) {
  if (const AtomicFn fn = FindOfCopiesAlone(name, dtype); fn != nullptr) return fn;
  if (name != "xchg" && name != "cas")
    if (const absl::StatusOr<AtomicFn> fn = FindAtomic(name, dtype); fn.ok()) return fn;
  return absl::InvalidArgumentError(Cat("no copy reduces ", Name(dtype), " by '", name,
                                        "'; there are add, max, min on numbers, and, or, xor on integers, smin, smax, ",
                                        "umin, umax on those of 32 and 64 bits, and inc, dec on those of 32"));
}

absl::StatusOr<AtomicFn> FindAtomic(std::string_view name, DType dtype) {
  AtomicFn fn = VisitDType(dtype, [&](auto d) { return Find<decltype(d)::value>(name); });
  if (fn != nullptr) return fn;
  return absl::InvalidArgumentError(Cat("no atomic '", name, "' on ", Name(dtype),
                                        "; there are add, max, min, xchg, cas on numbers, and, or, xor on integers"));
}

}  // namespace palladion
