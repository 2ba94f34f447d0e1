// Where the elements of an array lie in a block's tensor memory, which is columns of cells.
#ifndef PALLADION_SEMANTICS_BASE_TENSOR_CELLS_H_
#define PALLADION_SEMANTICS_BASE_TENSOR_CELLS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace palladion {

struct TensorCells {
  static constexpr std::int64_t kLanes = 128;  // cells of a column
  static constexpr std::int64_t kCellBytes = 4;
  std::int64_t columns = 0;              // that the array takes
  std::size_t copies = 1;                // cells that have each element
  std::vector<std::int32_t> of_element;  // lane + kLanes * column: `copies` for each element, row-major
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_TENSOR_CELLS_H_
