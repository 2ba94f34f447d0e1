// Where what a scope makes lies in tensor memory.
#ifndef PALLADION_SEMANTICS_OPS_GPU_SCOPED_CELLS_H_
#define PALLADION_SEMANTICS_OPS_GPU_SCOPED_CELLS_H_

#include <cstdint>

#include "semantics/base/tensor_cells.h"
#include "semantics/program/program.h"

namespace palladion {

// Of the array that a step asks for (AllocationPlace::step), which names some columns; it lives as long as the program.
const TensorCells* TensorCellsOf(const Program& program, std::int64_t step);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_GPU_SCOPED_CELLS_H_
