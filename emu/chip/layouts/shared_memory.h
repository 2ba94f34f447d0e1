// How much shared memory a GPU kernel's scopes hold at once, as Mosaic GPU lays it out. Based on: JAX 0.10.2,
// jax/_src/pallas/mosaic_gpu/lowering.py (_estimate_resources): nested scopes add up, scopes after one another and
// branches take the largest; every array begins at a multiple of 1024 bytes; barriers, 8 bytes each, have a place of
// their own that equal groups of later scopes use again; a reduction needs scratch. Not counted: the profiler's buffer.
#ifndef PALLADION_EMU_CHIP_LAYOUTS_SHARED_MEMORY_H_
#define PALLADION_EMU_CHIP_LAYOUTS_SHARED_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "semantics/base/units.h"
#include "semantics/ir/module.h"
#include "semantics/program/program.h"

namespace palladion::layouts {

inline constexpr std::int64_t kSharedMemoryAlignment = 1024;  // bytes

struct SharedMemoryPart {
  std::string what;
  ByteCount bytes;
};

// What is held where most is held.
std::vector<SharedMemoryPart> SharedMemoryOfScopes(const Kernel& kernel);
// The same with the blocks and the scratch of a pallas_call. `program` is looked at where the kernel is no mesh's.
std::vector<SharedMemoryPart> SharedMemoryHeld(const Kernel& kernel, const Program* program);

}  // namespace palladion::layouts

#endif  // PALLADION_EMU_CHIP_LAYOUTS_SHARED_MEMORY_H_
