// Names of blocks, and of what they allocate.
#ifndef PALLADION_EMU_RUN_THREADS_OBJECT_NAME_H_
#define PALLADION_EMU_RUN_THREADS_OBJECT_NAME_H_

#include <compare>
#include <cstdint>

#include "semantics/base/ids.h"

namespace palladion::threads {

using BlockId = Id<struct BlockTag>;  // that has begun: residents.h

// What an allocation is called in every block: the step that makes it, and the how-maniest time the thread ran it.
struct ObjectName {
  std::int64_t step = 0, occurrence = 0;
  friend auto operator<=>(const ObjectName&, const ObjectName&) = default;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_OBJECT_NAME_H_
