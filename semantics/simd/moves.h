// Kernels that place values without computing: fill, iota, and select among many cases. Bits are kept.
// Strided copies (slices, transposes, blocks) are semantics/tensor/copy_box.h.
#ifndef PALLADION_SEMANTICS_SIMD_MOVES_H_
#define PALLADION_SEMANTICS_SIMD_MOVES_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "semantics/base/dtype.h"

namespace palladion::simd {

// n copies of one element of 1, 2, 4 or 8 bytes. `out` is aligned for the element; `element` may lie anywhere outside
// it.
void Fill(const void* element, std::size_t element_size, void* out, std::size_t n);

// out[o, k, i] = k for the dense shape [outer, length, inner], converted to the type as FromDouble does for floats (one
// rounding) and modulo 2^bits for integers. bool: k != 0.
void Iota(DType dtype, std::size_t outer, std::size_t length, std::size_t inner, void* out);

// out[i] = cases[which[i]][i] for cases of n elements each, of 1, 2, 4 or 8 bytes. An index outside takes the nearest
// case, as XLA's expansion into nested selects does. At least one case.
void SelectN(const std::int32_t* which, absl::Span<const void* const> cases, std::size_t element_size, void* out,
             std::size_t n);

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_MOVES_H_
