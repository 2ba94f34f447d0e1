// Barriers and semaphores by which agents wait for each other and for engines, and what a wait is for. Requests are
// data; whoever implements the port (machine.h) knows who asks.
#ifndef PALLADION_SEMANTICS_PORT_SYNC_H_
#define PALLADION_SEMANTICS_PORT_SYNC_H_

#include <cstdint>

#include "semantics/base/ids.h"
#include "semantics/port/async.h"

namespace palladion {

using SyncId = Id<struct SyncTag>;  // an array of barriers, or of semaphores, at one place

struct SyncElement {
  SyncId array;
  std::int64_t element = 0;  // row-major
};

struct WaitTarget {
  enum class Kind : std::uint8_t {
    kNothing,
    kBarrier,    // the next phase of `object`
    kSemaphore,  // `object` to hold `value`
    kGroups,     // at most `value` groups of `queue` under way
    kQueue,      // no operation of `queue` under way
    kMeeting,    // all threads of the block at the same collective operation
    kWarps,      // the end of the warps that the thread forked
  };
  Kind kind = Kind::kNothing;
  SyncElement object;
  std::int64_t value = 0;
  bool decrement = true;    // kSemaphore
  bool reads_only = false;  // kGroups: only their reading
  AsyncQueue queue = AsyncQueue::kNone;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PORT_SYNC_H_
