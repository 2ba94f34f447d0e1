// How many columns of tensor memory a kernel's scopes hold at once, as Mosaic GPU lays them out. Based on: JAX 0.10.2,
// jax/_src/pallas/mosaic_gpu/lowering.py (_estimate_resources: every ref takes a multiple of 8 columns, nested scopes
// add up, others take the largest) and jax/experimental/mosaic/gpu/tcgen05.py (tmem_alloc_exact_ncols: the whole is
// allocated once, when a block begins, as a power of two of at least 32). So no kernel frees twice or allocates in one
// block of a pair alone. Not counted: what inline_mgpu allocates.
#ifndef PALLADION_EMU_CHIP_LAYOUTS_TENSOR_MEMORY_H_
#define PALLADION_EMU_CHIP_LAYOUTS_TENSOR_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "semantics/ir/module.h"

namespace palladion::layouts {

inline constexpr std::int64_t kTensorMemoryColumns = 512;  // of an SM; one block may have them all

struct TensorMemoryPart {
  std::string what;
  std::int64_t columns = 0;
};

// What is held where most is held.
std::vector<TensorMemoryPart> TensorMemoryOfScopes(const Kernel& kernel);
// What a block that holds these allocates; 0 where it holds none.
std::int64_t AllocatedColumns(const std::vector<TensorMemoryPart>& parts);

}  // namespace palladion::layouts

#endif  // PALLADION_EMU_CHIP_LAYOUTS_TENSOR_MEMORY_H_
