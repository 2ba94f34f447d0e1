// What Triton's compiler keeps where, as far as kernel text says it: the lanes of a block, the operands of matrix
// products that are in shared memory and not in registers, and how much of it they take. Based on: JAX 0.10.2,
// jax/_src/pallas/triton/pallas_call_registration.py (num_warps is 4 and num_stages 3 unless said), and Triton's
// software pipelining, which has a buffer for each of num_stages steps of a loop for what the loop loads and
// multiplies. An estimate: does not know what a layout conversion takes, and that the compiler may give one place to
// two arrays or pipeline less.
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
