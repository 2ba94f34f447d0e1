#include "semantics/simd/math.h"

#include "semantics/simd/math_find.h"

namespace palladion::simd {
namespace {

constexpr bool RowsAreInOrder() {
  for (int i = 0; i < kMathOpCount; ++i) {
    if (kMathOps[i].op != static_cast<MathOp>(i)) return false;
  }
  return true;
}
static_assert(RowsAreInOrder(), "kMathOps has one row for each MathOp, in its order");

}  // namespace

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
