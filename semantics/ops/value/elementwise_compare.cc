// Comparisons, is_finite, and select_n, which their results feed.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/value/elementwise_common.h"
#include "semantics/registry/attrs.h"
#include "semantics/tensor/element.h"
#include "semantics/tensor/visit_dtype.h"

namespace palladion {
namespace {

using simd::BinaryOp;

absl::Status VerifyComparison(const Instr& op, const VerifyContext& context) {
  return VerifyToBool(op, context, 2, kAnyKind);
}
absl::Status VerifyIsFinite(const Instr& op, const VerifyContext& context) {
  return VerifyToBool(op, context, 1, kFloats);
}

absl::Status VerifySelectN(const Instr& op, const VerifyContext& context) {
  if (context.in.size() < 2) return ExpectOperands(context, 2);
  const Type& which = context.in[0];
  const std::size_t cases = context.in.size() - 1;
  const bool is_bool = which.is_array() && which.dtype == DType::kBool;
  if (!is_bool && !(which.is_array() && which.dtype == DType::kI32)) {
    return absl::InvalidArgumentError(Cat("the first operand must be bool or i32; found ", ToString(which)));
  }
  if (is_bool && cases > 2) {
    return absl::InvalidArgumentError(Cat("a bool selects from at most 2 cases; found ", cases));
  }
  for (std::size_t i = 1; i < context.in.size(); ++i) {
    const Type& type = context.in[i];
    if (!type.is_array() && !type.is_key()) {
      return absl::InvalidArgumentError(Cat("operand ", i, " must be an array; found ", ToString(type)));
    }
    if (type.kind != context.in[1].kind) {
      return absl::InvalidArgumentError(Cat("cases must have one type; operand 1 is ", ToString(context.in[1]),
                                            ", operand ", i, " is ", ToString(type)));
    }
    PALLADION_RETURN_IF_ERROR(ExpectSameDType(context, i, 1));
  }
  PALLADION_ASSIGN_OR_RETURN(Shape shape, BroadcastShape(context));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  Type expected = context.in[1];
  expected.shape = std::move(shape);
  return ExpectType(op, 0, expected);
}

// A number that orders the storage of a float as XLA's TOTALORDER does: -NaN < -inf < ... < -0 < +0 < ... < inf < NaN.
template <DType kType>
auto TotalKey(const std::byte* data, std::size_t index) {
  constexpr std::size_t kBytes = sizeof(StorageOf<kType>);
  using Key = std::conditional_t<
      kBytes == 1, std::int8_t,
      std::conditional_t<kBytes == 2, std::int16_t, std::conditional_t<kBytes == 4, std::int32_t, std::int64_t>>>;
  using Bits = std::make_unsigned_t<Key>;
  constexpr int kUnused = static_cast<int>(kBytes * 8) - Element<kType>::kBits;
  Bits bits;
  std::memcpy(&bits, data + index * sizeof(Bits), sizeof(Bits));
  const auto key = static_cast<Key>(static_cast<Bits>(bits << kUnused));
  return static_cast<Key>(key < 0 ? key ^ std::numeric_limits<Key>::max() : key);
}

struct TotalOrderParams {
  std::size_t n;
  bool x_is_scalar, y_is_scalar;
};

template <BinaryOp kOp, class Key>
bool Compares(Key x, Key y) {
  return kOp == BinaryOp::kEq ? x == y : kOp == BinaryOp::kLe ? x <= y : x < y;
}

template <DType kType, BinaryOp kOp>
void EvalTotalOrder(const TotalOrderParams& p, const ValueOperands& operands) {
  for (std::size_t i = 0; i < p.n; ++i) {
    const auto x = TotalKey<kType>(operands.in[0], p.x_is_scalar ? 0 : i);
    const auto y = TotalKey<kType>(operands.in[1], p.y_is_scalar ? 0 : i);
    operands.out[0][i] = static_cast<std::byte>(Compares<kOp>(x, y));
  }
}

template <BinaryOp kOp>
absl::StatusOr<ValueKernel> PrepareTotalOrder(const Instr& op, const ValueTypes& types) {
  if (!IsFloat(types.in[0].dtype)) return PrepareBinary<kOp>(op, types);
  const TotalOrderParams params{Elements(types.out[0]), IsBroadcast(types, 0), IsBroadcast(types, 1)};
  return VisitDType(types.in[0].dtype, [&](auto tag) -> absl::StatusOr<ValueKernel> {
    constexpr DType kType = decltype(tag)::value;
    if constexpr (Element<kType>::kIsFloat) {
      return BindElementwise<EvalTotalOrder<kType, kOp>>(params);
    } else {
      return NoKernel(op, kType);
    }
  });
}

struct SelectParams {
  simd::SelectFn fn;
  std::size_t n;
};
void EvalSelect(const SelectParams& p, const ValueOperands& operands) {
  p.fn(operands.in[0], operands.in[1], operands.in[2], operands.out[0], p.n);
}

// Any number of cases and an integer or a single predicate. An index outside the cases takes the nearest one.
struct SelectNParams {
  std::size_t n;
  std::size_t element_size;
  std::size_t cases;
  bool which_is_bool;
  bool which_is_scalar;
  std::vector<bool> case_is_scalar;
};

std::size_t ChosenCase(const SelectNParams& p, const std::byte* which, std::size_t element) {
  if (p.which_is_bool) return std::min<std::size_t>(which[element] != std::byte{0} ? 1 : 0, p.cases - 1);
  std::int32_t index;
  std::memcpy(&index, which + element * sizeof(index), sizeof(index));
  return index < 0 ? 0 : std::min<std::size_t>(static_cast<std::size_t>(index), p.cases - 1);
}

void EvalSelectN(const SelectNParams& p, const ValueOperands& operands) {
  const std::size_t size = p.element_size;
  if (p.which_is_scalar) {
    const std::size_t chosen = ChosenCase(p, operands.in[0], 0);
    const std::byte* from = operands.in[1 + chosen];
    if (!p.case_is_scalar[chosen]) {
      std::memcpy(operands.out[0], from, p.n * size);
      return;
    }
    for (std::size_t i = 0; i < p.n; ++i) std::memcpy(operands.out[0] + i * size, from, size);
    return;
  }
  for (std::size_t i = 0; i < p.n; ++i) {
    const std::size_t chosen = ChosenCase(p, operands.in[0], i);
    std::memcpy(operands.out[0] + i * size, operands.in[1 + chosen] + (p.case_is_scalar[chosen] ? 0 : i * size), size);
  }
}

absl::StatusOr<ValueKernel> PrepareSelectN(const Instr&, const ValueTypes& types) {
  const std::size_t n = Elements(types.out[0]);
  const std::size_t size = Bytes(types.in[1]) / std::max<std::size_t>(Elements(types.in[1]), 1);
  const bool which_is_scalar = IsBroadcast(types, 0);
  if (types.in.size() == 3 && types.in[0].dtype == DType::kBool && !which_is_scalar && n > 0) {
    constexpr simd::SelectForm kForms[2][2] = {{simd::SelectForm::kVVV, simd::SelectForm::kVVS},
                                               {simd::SelectForm::kVSV, simd::SelectForm::kVSS}};
    const simd::SelectForm form = kForms[IsBroadcast(types, 1)][IsBroadcast(types, 2)];
    if (simd::SelectFn fn = simd::FindSelect(size, form, LoopFor(types)))
      return BindElementwise<EvalSelect>(SelectParams{.fn = fn, .n = n});
  }
  SelectNParams params{.n = n,
                       .element_size = size,
                       .cases = types.in.size() - 1,
                       .which_is_bool = types.in[0].dtype == DType::kBool,
                       .which_is_scalar = which_is_scalar,
                       .case_is_scalar = {}};
  for (std::size_t i = 1; i < types.in.size(); ++i) params.case_is_scalar.push_back(IsBroadcast(types, i));
  return Bind<EvalSelectN>(std::move(params));
}

constexpr OpRow kCompareOps[] = {
    {.name = "eq",
     .spec = "elementwise.md#eq",
     .verify = VerifyComparison,
     .prepare = PrepareBinary<BinaryOp::kEq>,
     .flow = Flow::kElementwise},
    {.name = "ne",
     .spec = "elementwise.md#ne",
     .verify = VerifyComparison,
     .prepare = PrepareBinary<BinaryOp::kNe>,
     .flow = Flow::kElementwise},
    {.name = "lt",
     .spec = "elementwise.md#lt",
     .verify = VerifyComparison,
     .prepare = PrepareBinary<BinaryOp::kLt>,
     .flow = Flow::kElementwise},
    {.name = "le",
     .spec = "elementwise.md#le",
     .verify = VerifyComparison,
     .prepare = PrepareBinary<BinaryOp::kLe>,
     .flow = Flow::kElementwise},
    {.name = "gt",
     .spec = "elementwise.md#gt",
     .verify = VerifyComparison,
     .prepare = PrepareBinary<BinaryOp::kGt>,
     .flow = Flow::kElementwise},
    {.name = "ge",
     .spec = "elementwise.md#ge",
     .verify = VerifyComparison,
     .prepare = PrepareBinary<BinaryOp::kGe>,
     .flow = Flow::kElementwise},
    {.name = "lt_to",
     .spec = "elementwise.md#lt_to",
     .verify = VerifyComparison,
     .prepare = PrepareTotalOrder<BinaryOp::kLt>,
     .flow = Flow::kElementwise,
     .backends = kNoBackend},
    {.name = "le_to",
     .spec = "elementwise.md#le_to",
     .verify = VerifyComparison,
     .prepare = PrepareTotalOrder<BinaryOp::kLe>,
     .flow = Flow::kElementwise,
     .backends = kNoBackend},
    {.name = "eq_to",
     .spec = "elementwise.md#eq_to",
     .verify = VerifyComparison,
     .prepare = PrepareTotalOrder<BinaryOp::kEq>,
     .flow = Flow::kElementwise,
     .backends = kNoBackend},
    {.name = "is_finite",
     .spec = "elementwise.md#is_finite",
     .verify = VerifyIsFinite,
     .prepare = PrepareUnary<simd::UnaryOp::kIsFinite>,
     .flow = Flow::kElementwise,
     .backends = kTpuTriton},
    {.name = "select_n",
     .spec = "elementwise.md#select_n",
     .verify = VerifySelectN,
     .prepare = PrepareSelectN,
     .flow = Flow::kSelect},
};

}  // namespace

absl::Span<const OpRow> CompareOps() { return kCompareOps; }

}  // namespace palladion
