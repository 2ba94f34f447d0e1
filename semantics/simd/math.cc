#include "semantics/simd/math.h"

#include <array>

#include "semantics/simd/math_find.h"

namespace palladion::simd {
namespace {

constexpr std::array<std::string_view, kMathOpCount> kNames = {
    "exp", "exp2", "expm1", "log",  "log2", "log1p", "logistic", "tanh",  "sqrt",  "rsqrt", "cbrt", "sin",     "cos",
    "tan", "asin", "acos",  "atan", "sinh", "cosh",  "asinh",    "acosh", "atanh", "erf",   "erfc", "erf_inv",
};

}  // namespace

std::string_view Name(MathOp op) { return kNames[static_cast<std::size_t>(op)]; }

UnaryFn FindMath(MathOp op, DType dtype) { return FindMath(op, dtype, ActiveTarget()); }

UnaryFn FindMath(MathOp op, DType dtype, Target target) {
  if (IsFloat(dtype) && StorageBytes(dtype) == 1) return FindNarrow(op, dtype);
  for (auto find :
       {&FindExpFamily, &FindLogFamily, &FindRootFamily, &FindTrigFamily, &FindAtanFamily, &FindErfFamily}) {
    if (UnaryFn found = find(op, dtype, target)) return found;
  }
  return nullptr;
}

}  // namespace palladion::simd
