// Strips: consecutive elementwise operations over one count of elements run strip by strip, so that what one writes is
// still in the first-level cache when the next reads it. A value that only the group itself uses needs one strip of
// memory. The same kernels on the same elements: the bits do not change.
// Based on: loop fusion by strip-mining. Reductions, transposes and everything that is not elementwise end a group.
#ifndef PALLADION_SEMANTICS_PROGRAM_STRIPS_H_
#define PALLADION_SEMANTICS_PROGRAM_STRIPS_H_

#include <cstddef>
#include <vector>

#include "semantics/base/units.h"
#include "semantics/program/program.h"
#include "semantics/registry/value_kernel.h"

namespace palladion {

inline constexpr std::size_t kStripElements = 1024;
inline constexpr std::size_t kMinStripElements = 4 * kStripElements;  // smaller values stay in the cache anyway
inline constexpr std::size_t kMaxStripOperands = 8;                   // no operation with more is in a group

struct StripOperand {
  SlotId slot;
  std::size_t element_bytes = 0;  // 0: of rank 0, the same for every element
  bool advances = true;           // false: a strip of memory that every strip reuses
};

struct StripOp {
  ValueKernel kernel;
  std::vector<StripOperand> in;
  StripOperand out;
  const Instr* op = nullptr;
  const Inspected* inspected = nullptr;
};

// A group that is being built.
struct StripGroup {
  std::size_t elements = 0;
  std::vector<StripOp> ops;
};

struct StripParams {
  std::size_t elements;
  std::vector<StripOp> ops;
  std::size_t parts = 1;  // host threads that may share the elements, each with strips of its own
  ByteCount inside;       // what one part's strips take, which follow each other
};

absl::Status RunStrips(const void* params, const Step& step, Frame& frame);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_STRIPS_H_
