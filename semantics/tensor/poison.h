// The visible pattern of unwritten memory and of the padding of partial blocks: values that spoil a result rather than
// hide in it. Floats: the quiet NaN; the f6 and f4 types, which have none: the most negative finite value. Signed
// integers: the most negative value; unsigned: the largest; bool: true. Based on what JAX's two interpreters and the
// TPU's poisoned buffers use, which disagree (NaN everywhere; ints min or max; bool either). Poison is only the second
// layer: a program may legally store these values. Definedness bits are what findings rest on.
#ifndef PALLADION_SEMANTICS_TENSOR_POISON_H_
#define PALLADION_SEMANTICS_TENSOR_POISON_H_

#include <cstddef>

#include "semantics/base/dtype.h"
#include "semantics/tensor/element.h"

namespace palladion {

template <DType D>
constexpr StorageOf<D> PoisonOf() {
  using E = Element<D>;
  if constexpr (D == DType::kBool) {
    return 1;
  } else if constexpr (!E::kIsFloat) {
    return E::kMin < 0 ? E::kMin : E::kMax;
  } else if constexpr (E::kHasNaN) {
    return E::kQuietNaN;
  } else {
    return static_cast<StorageOf<D>>((1u << (E::kBits - 1)) | E::kFormat.max_finite);
  }
}

// Writes n elements of poison to dst, which is aligned for the type.
void FillPoison(DType dtype, void* dst, std::size_t n);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_TENSOR_POISON_H_
