// One lane of each atomic operation, by element type. Spec: docs/spec/ref.md#atomic_rmw.
// Based on: Pallas' Triton atomics; JAX's own order of lanes is unspecified, ours is row-major.
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

}  // namespace

absl::StatusOr<AtomicFn> FindAtomic(std::string_view name, DType dtype) {
  AtomicFn fn = VisitDType(dtype, [&](auto d) { return Find<decltype(d)::value>(name); });
  if (fn != nullptr) return fn;
  return absl::InvalidArgumentError(Cat("no atomic '", name, "' on ", Name(dtype),
                                        "; there are add, max, min, xchg, cas on numbers, and, or, xor on integers"));
}

}  // namespace palladion
