// Cumulative operations: one binary kernel call for each step, over all elements that lie side by side.
#include <algorithm>
#include <cstring>

#include "semantics/simd/reduce.h"
#include "semantics/tensor/element.h"

namespace palladion::simd {
namespace {

BinaryOp StepOp(CumOp op) {
  switch (op) {
    case CumOp::kSum:
      return BinaryOp::kAdd;
    case CumOp::kProd:
      return BinaryOp::kMul;
    case CumOp::kMin:
      return BinaryOp::kMin;
    default:
      return BinaryOp::kMax;
  }
}

// Bits of y with x op y = x for every x: -0 for the sum of floats, which keeps a first -0, and 1; the extremes of two
// equal values are that value, so they start from the element itself.
template <DType D>
std::uint64_t IdentityBits(CumOp op) {
  std::uint64_t bits = 0;
  if constexpr (D != DType::kBool) {
    StorageOf<D> value{0};
    if (op == CumOp::kProd) value = Element<D>::FromDouble(1.0);
    if (op == CumOp::kSum && Element<D>::kIsFloat) value = Element<D>::FromDouble(-0.0);
    std::memcpy(&bits, &value, sizeof(value));
  }
  return bits;
}

bool IsWideFloat(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16 || dtype == DType::kF32 || dtype == DType::kF64;
}

// out = logaddexp(a, b), n elements. jnp.logaddexp: where a - b is NaN (equal infinities, or a NaN) the result is a +
// b.
void LogAddExp(const CumKernel& k, const std::byte* a, const std::byte* b, std::byte* out, std::size_t n) {
  constexpr std::size_t kBlockBytes = 1024;
  alignas(64) std::byte larger[kBlockBytes], delta[kBlockBytes], sum[kBlockBytes];
  alignas(64) std::byte is_nan[kBlockBytes];
  for (std::size_t left = n; left > 0;) {
    const std::size_t count = std::min(left, kBlockBytes / k.element_size);
    const std::size_t bytes = count * k.element_size;
    k.step(a, b, larger, count);
    k.add(a, b, sum, count);
    k.subtract(a, b, delta, count);
    k.is_unequal(delta, delta, is_nan, count);
    k.abs(delta, delta, count);
    k.negate(delta, delta, count);
    k.exp(delta, delta, count);
    k.log1p(delta, delta, count);
    k.add(larger, delta, delta, count);
    k.select(is_nan, delta, sum, out, count);
    a += bytes;
    b += bytes;
    out += bytes;
    left -= count;
  }
}

void AddLogSumExp(DType dtype, Target target, CumKernel& kernel) {
  kernel.add = FindBinary(BinaryOp::kAdd, dtype, Form::kVV, target);
  kernel.subtract = FindBinary(BinaryOp::kSub, dtype, Form::kVV, target);
  kernel.is_unequal = FindBinary(BinaryOp::kNe, dtype, Form::kVV, target);
  kernel.abs = FindUnary(UnaryOp::kAbs, dtype, target);
  kernel.negate = FindUnary(UnaryOp::kNeg, dtype, target);
  kernel.exp = FindMath(MathOp::kExp, dtype, target);
  kernel.log1p = FindMath(MathOp::kLog1p, dtype, target);
  kernel.select = FindSelect(kernel.element_size, SelectForm::kVVV, target);
}

}  // namespace

void CumKernel::operator()(const void* x, const MiddleAxis& shape, Direction direction, void* out) const {
  if (shape.length == 0 || shape.inner == 0) return;
  const std::size_t row = shape.inner * element_size;
  const bool reverse = direction == Direction::kReverse;
  for (std::size_t o = 0; o < shape.outer; ++o) {
    const std::size_t base = o * shape.length * row;
    const std::byte* before = nullptr;
    for (std::size_t k = 0; k < shape.length; ++k) {
      const std::size_t at = base + (reverse ? shape.length - 1 - k : k) * row;
      const auto* from = static_cast<const std::byte*>(x) + at;
      auto* to = static_cast<std::byte*>(out) + at;
      if (before == nullptr && start == nullptr) {
        step(from, from, to, shape.inner);
      } else if (before == nullptr) {
        start(from, &identity, to, shape.inner);
      } else if (log1p != nullptr) {
        LogAddExp(*this, before, from, to, shape.inner);
      } else {
        step(before, from, to, shape.inner);
      }
      before = to;
    }
  }
}

CumKernel FindCum(CumOp op, DType dtype, Target target) {
  CumKernel kernel;
  kernel.step = FindBinary(StepOp(op), dtype, Form::kVV, target);
  if (kernel.step == nullptr || (op == CumOp::kLogSumExp && !IsWideFloat(dtype))) return {};
  kernel.element_size = StorageBytes(dtype);
  const bool is_extreme = op == CumOp::kMax || op == CumOp::kMin;
  if (op == CumOp::kLogSumExp) AddLogSumExp(dtype, target, kernel);
  if (op == CumOp::kLogSumExp && (kernel.exp == nullptr || kernel.log1p == nullptr)) return {};
  const BinaryOp start = op == CumOp::kProd ? BinaryOp::kMul : BinaryOp::kAdd;
  kernel.start = is_extreme ? nullptr : FindBinary(start, dtype, Form::kVS, target);
  const CumOp starts_like = op == CumOp::kLogSumExp ? CumOp::kSum : op;
  kernel.identity =
      VisitDType(dtype, [starts_like](auto tag) { return IdentityBits<decltype(tag)::value>(starts_like); });
  kernel.valid = true;
  return kernel;
}

}  // namespace palladion::simd
