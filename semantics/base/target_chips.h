// The chips that a target can name: those that have a machine description (emu/chip/machines), so that there is one
// list of them. semantics/CMakeLists.txt makes it of the names and families of these files.
#ifndef PALLADION_SEMANTICS_BASE_TARGET_CHIPS_H_
#define PALLADION_SEMANTICS_BASE_TARGET_CHIPS_H_

#include <string_view>

#include "absl/types/span.h"

namespace palladion {

struct TargetChip {
  std::string_view name;  // "v5p"
  bool is_tpu;
};

absl::Span<const TargetChip> TargetChips();  // GPUs first, Hopper before Blackwell, then by name

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_TARGET_CHIPS_H_
