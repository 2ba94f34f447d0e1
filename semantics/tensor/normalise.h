// Memory's form of elements that come from outside: files, NumPy arrays.
#ifndef PALLADION_SEMANTICS_TENSOR_NORMALISE_H_
#define PALLADION_SEMANTICS_TENSOR_NORMALISE_H_

#include <cstddef>

#include "semantics/base/dtype.h"

namespace palladion {

// Whether a NumPy array of the type may have another form than memory's: types narrower than a byte, whose upper bits
// NumPy leaves clear where memory has signed integers sign-extended. Its bools are 0 and 1, as memory's are.
bool NeedsNormalising(DType dtype);

// Brings n elements into memory's form (dtype.h, element.h), whatever bytes they had; of a bool any byte but 0 is true.
void Normalise(DType dtype, std::byte* elements, std::size_t n);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_TENSOR_NORMALISE_H_
