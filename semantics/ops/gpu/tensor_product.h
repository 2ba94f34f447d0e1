// What one tcgen05_mma computes from the values of all its operands: of one block, or of the two of a pair, which share
// both halves of b. Based on: tcgen05_mma of JAX's Mosaic GPU backend. The arithmetic is Mma's and ScaledMma's.
#ifndef PALLADION_SEMANTICS_OPS_GPU_TENSOR_PRODUCT_H_
#define PALLADION_SEMANTICS_OPS_GPU_TENSOR_PRODUCT_H_

#include <optional>
#include <vector>

#include "semantics/ops/gpu/scaled_mma.h"
#include "semantics/ops/matrix/mma.h"

namespace palladion {

class TensorProduct {
 public:
  // `blocks`: 1, or 2 that multiply together; the form is of one block's rows and all columns.
  TensorProduct(const ScaledMmaForm& form, std::size_t blocks);

  // `in`: of each block, the issuer's first: the accumulator where it `accumulates`, a, b, and those of a_scale,
  // b_scale and positions that there are, in this order. `out`: each block's accumulator after.
  bool takes_views() const { return plain_.has_value(); }  // FunctionViews: without scales and positions
  void Run(bool accumulates, const std::vector<AsyncValue>& in, std::vector<AsyncValue>* out) const;

 private:
  void RunPlain(bool accumulates, const std::vector<AsyncValue>& in, std::vector<AsyncValue>* out) const;

  ScaledMmaForm form_;
  std::size_t blocks_;
  std::optional<Mma> plain_;
  std::optional<ScaledMma> scaled_;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_GPU_TENSOR_PRODUCT_H_
