// The cells of tensor memory that have each element of an array: the table of docs/spec/kernel-text.md, "Tensor
// memory". Based on: TMEMLayout of jax/experimental/mosaic/gpu/tcgen05.py, by tmem_layout.h, whose limits it has.
#ifndef PALLADION_SEMANTICS_IR_TMEM_CELLS_H_
#define PALLADION_SEMANTICS_IR_TMEM_CELLS_H_

#include "semantics/base/status.h"
#include "semantics/base/tensor_cells.h"
#include "semantics/ir/module.h"

namespace palladion {

// Of a ref in tensor memory. InvalidArgument where its attributes are not those of a layout; ResourceExhausted for an
// array of more than 2^24 elements, 64 times what the tensor memory of an SM holds with 8 bits each.
absl::StatusOr<TensorCells> TmemCells(const Type& type);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_TMEM_CELLS_H_
