// Converting arrays between element types, with the meaning of jax.lax.convert_element_type on CPU.
//   float -> float   one rounding to nearest even; overflow and NaN as FloatFormat in element.h says (ml_dtypes'
//   answers) float -> int     toward zero; out of range saturates; NaN gives 0 int -> int       the low bits (two's
//   complement) int -> float     one rounding to nearest even, from 64-bit integers too any -> bool      x != 0, so NaN
//   is true and so is every f8e8m0fnu, which has no zero bool -> any      0 or 1 (f8e8m0fnu: NaN or 1)
// A converted NaN is the destination's quiet NaN with the source's sign; payloads are dropped (JAX keeps parts of
// some). Sub-byte integers come out sign- or zero-extended. Equal types are a plain copy of the bytes. Based on running
// JAX 0.10 and ml_dtypes 0.5 side by side. Where those disagree this follows JAX, except that
//   - subnormals are kept (XLA's CPU code flushes them in bf16 -> f64 and float -> bool);
//   - f64 -> f16 and narrower rounds once (XLA goes through f32 or narrower; so does ml_dtypes, but not NumPy's f16);
//   - f4e2m1fn +-6 -> int is +-6 (XLA takes 6, the largest f4, for "out of range" and gives the integer limit);
//   - NaN -> f8e5m2 from 16-bit floats and narrower is 7e or fe like from f32 (XLA gives 7f for these sources alone).
#ifndef PALLADION_SEMANTICS_TENSOR_CONVERT_H_
#define PALLADION_SEMANTICS_TENSOR_CONVERT_H_

#include <cstddef>

#include "semantics/base/dtype.h"

namespace palladion {

// Converts n elements; src and dst are aligned for their types and must not overlap.
using ConvertFn = void (*)(const void* src, void* dst, std::size_t n);

// Never null.
ConvertFn FindConvert(DType from, DType to);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_TENSOR_CONVERT_H_
