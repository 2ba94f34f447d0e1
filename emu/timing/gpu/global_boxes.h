// The rows of bytes of an array in global memory that a request touches, as requested from L2 and copy engines.
#ifndef PALLADION_EMU_TIMING_GPU_GLOBAL_BOXES_H_
#define PALLADION_EMU_TIMING_GPU_GLOBAL_BOXES_H_

#include <vector>

#include "absl/types/span.h"
#include "emu/timing/gpu/l2_cache.h"
#include "semantics/port/access.h"
#include "semantics/port/async.h"

namespace palladion::timing::gpu {

// How an array lies in memory: row-major.
struct ArrayLayout {
  std::int64_t number = 0;  // GlobalBox::array
  absl::Span<const std::int64_t> shape;
  std::int64_t element_bytes = 0;
};

// Without what lies outside the array. One box where rows lie a stride apart, in planes a stride apart; else several.
std::vector<GlobalBox> BoxesOf(const BoxAccess& access, const ArrayLayout& array);
// Each piece is a row of its own.
std::vector<GlobalBox> BoxesOf(absl::Span<const std::int64_t> offsets, std::int64_t piece_bytes,
                               const ArrayLayout& array);

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_GLOBAL_BOXES_H_
