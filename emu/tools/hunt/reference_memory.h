// The cells of the reference machine: what each holds, and whether that is defined. Sequentially consistent: a read
// gives what was written last.
#ifndef PALLADION_EMU_TOOLS_HUNT_REFERENCE_MEMORY_H_
#define PALLADION_EMU_TOOLS_HUNT_REFERENCE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emu/tools/hunt/reference_layout.h"
#include "emu/tools/hunt/reference_listener.h"

namespace palladion::hunt {

// Arithmetic of i32.
inline std::int64_t WrapI32(std::int64_t value) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(value)); }

struct CellValue {
  std::int64_t number = 0;
  bool undefined = false;
};

class ReferenceMemory {
 public:
  explicit ReferenceMemory(const ReferenceLayout& layout);

  int size() const { return static_cast<int>(cells_.size()); }
  CellValue& At(int cell) { return cells_[static_cast<std::size_t>(cell)]; }
  const CellValue& At(int cell) const { return cells_[static_cast<std::size_t>(cell)]; }
  const std::vector<CellValue>& cells() const { return cells_; }

  CellValue Read(const CellSpan& cells) const;  // the sum of its elements

 private:
  std::vector<CellValue> cells_;
};

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_REFERENCE_MEMORY_H_
