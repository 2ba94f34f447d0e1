// The kScalar loops of the comparisons: the reference.
#include "semantics/simd/elementwise_internal.h"
#include "semantics/simd/scalar_ops.h"

namespace palladion::simd {
namespace {

template <BinaryOp kOp, DType D, Form kForm>
void Loop(const void* a, const void* b, void* out, std::size_t n) {
  const auto* x = static_cast<const StorageOf<D>*>(a);
  const auto* y = static_cast<const StorageOf<D>*>(b);
  auto* z = static_cast<std::uint8_t*>(out);
  if (n == 0) return;
  const StorageOf<D> scalar = kForm == Form::kSV ? x[0] : y[0];
  for (std::size_t i = 0; i < n; ++i) {
    z[i] = ApplyCompare<kOp, D>(kForm == Form::kSV ? scalar : x[i], kForm == Form::kVS ? scalar : y[i]);
  }
}

template <BinaryOp kOp>
BinaryFn FindOp(DType dtype, Form form) {
  return VisitDType(dtype, [form](auto tag) -> BinaryFn {
    constexpr DType kDType = decltype(tag)::value;
    switch (form) {
      case Form::kVV:
        return &Loop<kOp, kDType, Form::kVV>;
      case Form::kSV:
        return &Loop<kOp, kDType, Form::kSV>;
      case Form::kVS:
        return &Loop<kOp, kDType, Form::kVS>;
    }
    return nullptr;
  });
}

}  // namespace

BinaryFn FindCompareScalar(BinaryOp op, DType dtype, Form form) {
  switch (op) {
    case BinaryOp::kEq:
      return FindOp<BinaryOp::kEq>(dtype, form);
    case BinaryOp::kNe:
      return FindOp<BinaryOp::kNe>(dtype, form);
    case BinaryOp::kLt:
      return FindOp<BinaryOp::kLt>(dtype, form);
    case BinaryOp::kLe:
      return FindOp<BinaryOp::kLe>(dtype, form);
    case BinaryOp::kGt:
      return FindOp<BinaryOp::kGt>(dtype, form);
    case BinaryOp::kGe:
      return FindOp<BinaryOp::kGe>(dtype, form);
    default:
      return nullptr;
  }
}

}  // namespace palladion::simd
