// What kernel text says about where Triton's compiler keeps data: the lanes of a block, the operands of matrix products
// that it keeps in shared memory instead of registers, and how many bytes these take. Based on: JAX 0.10.2,
// jax/_src/pallas/triton/pallas_call_registration.py (num_warps is 4 and num_stages 3 by default), and Triton's
// software pipelining: a loop has num_stages buffers for each array that it loads for a matrix product. This is an
// estimate: it does not count what a layout conversion takes, and the compiler may give two arrays the same memory or
// pipeline less.
#ifndef PALLADION_EMU_CHIP_LAYOUTS_TRITON_MEMORY_H_
#define PALLADION_EMU_CHIP_LAYOUTS_TRITON_MEMORY_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "semantics/ir/module.h"

namespace palladion::layouts {

std::int64_t LanesOfTriton(const Kernel& kernel);   // of a block
std::int64_t StagesOfTriton(const Kernel& kernel);  // of its loops

// Values that take no registers of their own: loaded ones that nothing but products (and transposes in front of them)
// reads, which are in shared memory; and products that nothing but an addition reads, which are added up where they
// are.
std::set<std::int32_t> NotInRegisters(const Kernel& kernel);

struct TritonOperands {
  std::string what;  // "3 buffers of f16[128,64], which is loaded and multiplied"
  std::int64_t bytes = 0;
  int text_line = 0;  // of the first product
  LocId loc;
};
// Of the loop, or the code outside of loops, that holds most; nothing where there is no product.
std::vector<TritonOperands> SharedMemoryOfTriton(const Kernel& kernel);

}  // namespace palladion::layouts

#endif  // PALLADION_EMU_CHIP_LAYOUTS_TRITON_MEMORY_H_
