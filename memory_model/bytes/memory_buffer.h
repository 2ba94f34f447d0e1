// One array or allocation of a run, as memory holds it.
#ifndef PALLADION_MEMORY_MODEL_BYTES_MEMORY_BUFFER_H_
#define PALLADION_MEMORY_MODEL_BYTES_MEMORY_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "memory_model/bytes/definedness.h"
#include "memory_model/bytes/undefined_stores.h"
#include "semantics/base/dtype.h"
#include "semantics/base/ids.h"

namespace palladion::memory_model {

class Memory;

struct MemoryBuffer {
  std::string name;
  DType dtype = DType::kF32;
  std::size_t words = 1;
  std::size_t element_bytes = 4;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> stride;  // bytes
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  bool owned = false;
  bool unfilled = false;  // its fill is written when somebody touches it: blocks without work never do
  bool is_output = false;
  bool moves = true;  // its bytes do
  std::int32_t device = 0;
  const Memory* of = nullptr;  // the launch's; nullptr: it was freed
  LocId made;
  int made_line = 0;
  BufferDefinedness defined;
  std::vector<StoreNumber> stored_by;  // of an output's elements: what left them undefined; empty: nothing did
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_MEMORY_BUFFER_H_
