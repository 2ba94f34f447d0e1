// One array or allocation of a run, as memory holds it.
#ifndef PALLADION_MEMORY_MODEL_BYTES_MEMORY_BUFFER_H_
#define PALLADION_MEMORY_MODEL_BYTES_MEMORY_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "memory_model/bytes/definedness.h"
#include "memory_model/bytes/undefined_stores.h"
#include "semantics/base/dtype.h"
#include "semantics/base/ids.h"
#include "semantics/base/units.h"
#include "semantics/port/async.h"

namespace palladion::memory_model {

struct MemoryBuffer {
  std::string name;
  DType dtype = DType::kF32;
  std::size_t words = 1;
  ElementSize element_size{4};
  absl::InlinedVector<std::int64_t, 6> shape;
  absl::InlinedVector<std::int64_t, 6> stride;  // bytes
  std::byte* data = nullptr;
  ByteCount bytes;
  bool owned = false;
  bool unfilled = false;  // its fill is written at the first access: blocks without work have none
  bool is_output = false;
  bool moves = true;  // its bytes do
  LocId made;
  int made_line = 0;
  BufferDefinedness defined;
  absl::InlinedVector<CowReadId, 2> cow_reads;  // of its bytes; a write settles these reads before it changes them
  std::vector<StoreNumber> stored_by;           // of an output's elements: what left them undefined; empty: nothing did

  ElementCount elements() const { return bytes / element_size; }
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_MEMORY_BUFFER_H_
