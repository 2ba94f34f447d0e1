// The kScalar loops of every binary operation: the reference.
#include "semantics/simd/elementwise_internal.h"
#include "semantics/simd/scalar_ops.h"

namespace palladion::simd {
namespace {

template <BinaryOp kOp, DType D, Form kForm>
void Loop(const void* a, const void* b, void* out, std::size_t n) {
  const auto* x = static_cast<const StorageOf<D>*>(a);
  const auto* y = static_cast<const StorageOf<D>*>(b);
  auto* z = static_cast<StorageOf<D>*>(out);
  if (n == 0) return;
  const StorageOf<D> scalar =
      kForm == Form::kSV ? x[0] : y[0];  // read before out, which may be the same memory, is written
  for (std::size_t i = 0; i < n; ++i) {
    z[i] = ApplyBinary<kOp, D>(kForm == Form::kSV ? scalar : x[i], kForm == Form::kVS ? scalar : y[i]);
  }
}

template <BinaryOp kOp>
BinaryFn FindOp(DType dtype, Form form) {
  return VisitDType(dtype, [form](auto tag) -> BinaryFn {
    constexpr DType kDType = decltype(tag)::value;
    if constexpr (HasBinary<kOp, kDType>()) {
      switch (form) {
        case Form::kVV:
          return &Loop<kOp, kDType, Form::kVV>;
        case Form::kSV:
          return &Loop<kOp, kDType, Form::kSV>;
        case Form::kVS:
          return &Loop<kOp, kDType, Form::kVS>;
      }
    }
    return nullptr;
  });
}

}  // namespace

BinaryFn FindBinaryScalar(BinaryOp op, DType dtype, Form form) {
  switch (op) {
    case BinaryOp::kAdd:
      return FindOp<BinaryOp::kAdd>(dtype, form);
    case BinaryOp::kSub:
      return FindOp<BinaryOp::kSub>(dtype, form);
    case BinaryOp::kMul:
      return FindOp<BinaryOp::kMul>(dtype, form);
    case BinaryOp::kDiv:
      return FindOp<BinaryOp::kDiv>(dtype, form);
    case BinaryOp::kRem:
      return FindOp<BinaryOp::kRem>(dtype, form);
    case BinaryOp::kMax:
      return FindOp<BinaryOp::kMax>(dtype, form);
    case BinaryOp::kMin:
      return FindOp<BinaryOp::kMin>(dtype, form);
    case BinaryOp::kMaxNum:
      return FindOp<BinaryOp::kMaxNum>(dtype, form);
    case BinaryOp::kMinNum:
      return FindOp<BinaryOp::kMinNum>(dtype, form);
    case BinaryOp::kAnd:
      return FindOp<BinaryOp::kAnd>(dtype, form);
    case BinaryOp::kOr:
      return FindOp<BinaryOp::kOr>(dtype, form);
    case BinaryOp::kXor:
      return FindOp<BinaryOp::kXor>(dtype, form);
    case BinaryOp::kShiftLeft:
      return FindOp<BinaryOp::kShiftLeft>(dtype, form);
    case BinaryOp::kShiftRightLogical:
      return FindOp<BinaryOp::kShiftRightLogical>(dtype, form);
    case BinaryOp::kShiftRightArithmetic:
      return FindOp<BinaryOp::kShiftRightArithmetic>(dtype, form);
    default:
      return FindCompareScalar(op, dtype, form);
  }
}

}  // namespace palladion::simd
