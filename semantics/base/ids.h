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

// An agent: the one name that requests, clocks, findings, traces and logs have for it. Given once in a run, in the
// order in which agents begin; operations of engines are numbered apart, after all others.
using AgentId = Id<struct AgentTag>;

enum class AgentRole : std::uint8_t {
  kProgram,    // of a grid, whichever core it runs on
  kThread,     // of a block
  kWarp,       // that a thread forked
  kOperation,  // an engine's, while it is in flight
  kLaunch,     // another kernel, as far as this one sees it
};

// Programs of a grid in the order of its walk. The ids of a grid of more than 2^31 programs, which is hours of work,
// begin anew: the first ones are not needed.
constexpr AgentId AgentOfProgram(std::int64_t number) {
  return AgentId{static_cast<std::int32_t>(number & 0x7fffffff)};
}

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_IDS_H_
