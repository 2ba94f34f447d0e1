// Ids that must not be confused with each other or with counts. An id is an index into one table of its owner.
#ifndef PALLADION_SEMANTICS_BASE_IDS_H_
#define PALLADION_SEMANTICS_BASE_IDS_H_

#include <cstdint>
#include <functional>

namespace palladion {

template <class Tag>
struct Id {
  std::int32_t value = -1;
  constexpr bool valid() const { return value >= 0; }
  constexpr std::size_t index() const { return static_cast<std::size_t>(value); }
  friend constexpr bool operator==(Id a, Id b) { return a.value == b.value; }
  friend constexpr bool operator!=(Id a, Id b) { return a.value != b.value; }
  friend constexpr bool operator<(Id a, Id b) { return a.value < b.value; }
};

using ValueId = Id<struct ValueTag>;    // a value or ref of one kernel: Kernel::values
using LocId = Id<struct LocTag>;        // a source location: Module::locs
using FileId = Id<struct FileTag>;      // a source file: Module::files
using BufferId = Id<struct BufferTag>;  // an allocation of one run

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_IDS_H_
