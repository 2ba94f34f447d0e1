#include "semantics/ops/value/elementwise_common.h"

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

std::string Names(Kinds kinds) {
  std::vector<std::string> names;
  if (kinds.contains(DTypeKind::kBool)) names.push_back("bool");
  if (kinds.contains(DTypeKind::kSigned)) names.push_back("signed integer");
  if (kinds.contains(DTypeKind::kUnsigned)) names.push_back("unsigned integer");
  if (kinds.contains(DTypeKind::kFloat)) names.push_back("float");
  return absl::StrJoin(names, ", ");
}

absl::Status VerifyOperands(const VerifyContext& context, std::size_t operands, Kinds kinds) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, operands));
  for (std::size_t i = 0; i < operands; ++i) {
    PALLADION_RETURN_IF_ERROR(ExpectKind(context, i, kinds));
    PALLADION_RETURN_IF_ERROR(ExpectSameDType(context, i, 0));
  }
  return absl::OkStatus();
}

absl::Status VerifyResult(const Instr& op, const VerifyContext& context, DType dtype) {
  PALLADION_ASSIGN_OR_RETURN(Shape shape, BroadcastShape(context));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  return ExpectType(op, 0, ArrayType(dtype, std::move(shape)));
}

struct UnaryParams {
  simd::UnaryFn fn;
  std::size_t n;
};
void EvalUnary(const UnaryParams& p, const ValueOperands& operands) { p.fn(operands.in[0], operands.out[0], p.n); }

struct BinaryParams {
  simd::BinaryFn fn;
  std::size_t n;
};
void EvalBinary(const BinaryParams& p, const ValueOperands& operands) {
  p.fn(operands.in[0], operands.in[1], operands.out[0], p.n);
}

}  // namespace

absl::Status ExpectKind(const VerifyContext& context, std::size_t index, Kinds kinds) {
  const Type& type = context.in[index];
  if (type.is_array() && kinds.contains(Info(type.dtype).kind)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("operand ", index, " must be an array of ", Names(kinds), "; found ", ToString(type)));
}

absl::Status ExpectSameDType(const VerifyContext& context, std::size_t index, std::size_t other) {
  if (context.in[index].dtype == context.in[other].dtype) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("operands must have one element type; operand ", other, " is ",
                                        ToString(context.in[other]), ", operand ", index, " is ",
                                        ToString(context.in[index])));
}

absl::StatusOr<Shape> BroadcastShape(const VerifyContext& context) {
  const Type* first = nullptr;
  for (const Type& type : context.in) {
    if (type.rank() == 0) continue;
    if (first == nullptr) first = &type;
    if (type.shape != first->shape) {
      return absl::InvalidArgumentError(
          Cat("operands must have one shape or rank 0; found ", ToString(*first), " and ", ToString(type)));
    }
  }
  return first == nullptr ? Shape{} : first->shape;
}

absl::Status VerifySameType(const Instr& op, const VerifyContext& context, std::size_t operands, Kinds kinds) {
  PALLADION_RETURN_IF_ERROR(VerifyOperands(context, operands, kinds));
  return VerifyResult(op, context, context.in[0].dtype);
}

absl::Status VerifyToBool(const Instr& op, const VerifyContext& context, std::size_t operands, Kinds kinds) {
  PALLADION_RETURN_IF_ERROR(VerifyOperands(context, operands, kinds));
  return VerifyResult(op, context, DType::kBool);
}

std::size_t Elements(const Type& type) { return static_cast<std::size_t>(NumElements(type.shape)); }

std::size_t Bytes(const Type& type) {
  constexpr std::size_t kWordsOfKey = 2;  // threefry's, the only keys that values can be
  return Elements(type) * StorageBytes(type.dtype) * (type.is_key() ? kWordsOfKey : 1);
}

bool IsBroadcast(const ValueTypes& types, std::size_t index) {
  return types.in[index].rank() == 0 && types.out[0].rank() != 0;
}

simd::Form FormOf(const ValueTypes& types) {
  if (IsBroadcast(types, 0)) return simd::Form::kSV;
  return IsBroadcast(types, 1) ? simd::Form::kVS : simd::Form::kVV;
}

absl::Status NoKernel(const Instr& op, DType dtype) {
  return absl::UnimplementedError(Cat("'", op.name, "' is not done for ", Name(dtype), " yet"));
}

absl::StatusOr<ValueKernel> UnaryKernel(const Instr& op, const ValueTypes& types, simd::UnaryFn fn) {
  if (fn == nullptr) return NoKernel(op, types.in[0].dtype);
  return BindElementwise<EvalUnary>(UnaryParams{.fn = fn, .n = Elements(types.out[0])});
}

absl::StatusOr<ValueKernel> BinaryKernel(const Instr& op, const ValueTypes& types, simd::BinaryFn fn) {
  if (fn == nullptr) return NoKernel(op, types.in[0].dtype);
  return BindElementwise<EvalBinary>(BinaryParams{.fn = fn, .n = Elements(types.out[0])});
}

}  // namespace palladion
