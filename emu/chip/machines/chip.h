// The limits of the chips that a target names, one plain row each, read from their descriptions (description.h), where
// each number has its source. Device kinds: what JAX says on such a chip, as far as its own tables name it.
#ifndef PALLADION_EMU_CHIP_MACHINES_CHIP_H_
#define PALLADION_EMU_CHIP_MACHINES_CHIP_H_

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"

namespace palladion::machines {

struct Chip {
  std::string_view name;         // as a target has it: "v5e"
  std::string_view device_kind;  // as JAX has it: "TPU v5 lite"
  bool is_tpu = false;
  int generation = 0;              // TPU generation, or the major compute capability
  int cores = 1;                   // TensorCores that one kernel may span (megacore), or SMs
  std::int64_t vmem_bytes = 0;     // TPU: vector memory of one core
  std::int64_t vmem_scoped = 0;    // TPU: of it for one kernel that gives no vmem_limit_bytes
  std::int64_t vmem_reserved = 0;  // TPU: of it that no kernel may have
  std::int64_t vmem_subcore = 0;   // TPU: vector memory of a vector subcore of its SparseCores; 0: no such kernels
  std::int64_t smem_bytes = 0;     // TPU: scalar memory of one core. GPU: shared memory that one block may have
  std::int64_t cmem_bytes = 0;     // TPU: common memory of one core; 0: it has none
  std::int64_t hbm_bytes = 0;      // the memory of one device, of all its cores
  int lanes = 0, sublanes = 0;     // TPU: the shape of a vector register of 32-bit elements
  int vector_registers = 0;        // TPU: of a core
  int matrix_units = 0;            // TPU: of one core
  int accumulators = 0;            // TPU: of a matrix unit, as far as kernels may name them; 0: they may not
};

absl::Span<const Chip> AllChips();
const Chip* FindChip(std::string_view name);  // nullptr: no such chip, or "" of `generic`

}  // namespace palladion::machines

#endif  // PALLADION_EMU_CHIP_MACHINES_CHIP_H_
