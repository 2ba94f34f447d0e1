// How the arrays of a launch on one device lie in its global memory, by their buffers: operands by their number, then
// whatever else is allocated.
#ifndef PALLADION_EMU_TIMING_GPU_OPERAND_ARRAYS_H_
#define PALLADION_EMU_TIMING_GPU_OPERAND_ARRAYS_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "emu/timing/gpu/global_boxes.h"
#include "memory_model/bytes/memory.h"

namespace palladion::timing::gpu {

class OperandArrays {
 public:
  // As run::Watcher::Bound; the memory outlives its use.
  void Bound(const memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
    memory_ = &memory;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (arrays[i].valid()) operand_of_.emplace(arrays[i].value, static_cast<std::int64_t>(i));
    }
  }
  ArrayLayout LayoutOf(BufferId buffer) const {
    const auto operand = operand_of_.find(buffer.value);
    return {.number = operand != operand_of_.end() ? operand->second
                                                   : static_cast<std::int64_t>(operand_of_.size()) + buffer.value,
            .shape = memory_->ShapeOf(buffer),
            .element_bytes = memory_->ElementSizeOf(buffer).value()};
  }

 private:
  const memory_model::Memory* memory_ = nullptr;
  absl::flat_hash_map<std::int32_t, std::int64_t> operand_of_;  // by buffer
};

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_OPERAND_ARRAYS_H_
