// Barriers and semaphores by which agents wait for each other and for engines, and what a wait is for. Requests are
// data; the implementation of the port (machine.h) knows the requesting agent.
#ifndef PALLADION_SEMANTICS_PORT_SYNC_H_
#define PALLADION_SEMANTICS_PORT_SYNC_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "semantics/base/ids.h"
#include "semantics/port/access.h"
#include "semantics/port/async.h"
#include "semantics/port/places.h"

namespace palladion {

using SyncId = Id<struct SyncTag>;  // an array of barriers, or of semaphores, at one place

struct SyncElement {
  SyncId array;
  std::int64_t element = 0;  // row-major
};

enum class SyncKind : std::uint8_t { kBarrier, kClusterBarrier, kSemaphore, kDmaSemaphore };  // the last counts bytes

struct SyncRequest {
  std::string name;  // the user's
  SyncKind kind = SyncKind::kBarrier;
  std::vector<std::int64_t> shape;
  std::int64_t num_arrivals = 1;
  bool orders_tensor_core = false;
  // Of a cluster barrier: the grid dimensions of each axis, several for a composite one.
  std::vector<std::vector<std::size_t>> axes;
  // Of a cluster barrier: arrivals go to the block whose index along the one axis is 0, and to no other.
  bool leader_tracked = false;
  AllocationPlace place;  // whose memory a barrier is in is the machine's own business
  // Of a barrier semaphore of a TPU, its collective id: kernels and devices that name the same one mean the same, and
  // asking for it again gives it again. -1: none.
  std::int64_t collective = -1;
  Site site;
};

enum class Fence : std::uint8_t {
  kSharedToAsync,      // commit_smem: what is known of shared memory is visible to asynchronous accesses from here on
  kPrerequisiteGrids,  // what the kernels before this one wrote is known
  kLanes,              // debug_barrier: the lanes of the program know what each of them did
};

// The barriers that a block has without asking for them, with numbers for names.
inline constexpr std::int64_t kNamedBarriers = 16;

// Agents that another becomes until they end: the warps of a warpgroup.
struct SpawnRequest {
  std::size_t first = 0;  // the step that they begin with; a step ends them
  std::int64_t count = 0;
};

// Whose signals a wait acquires from: all, or those of its own device's threads.
enum class MemoryScope : std::uint8_t { kSystem, kDevice };

struct WaitTarget {
  enum class Kind : std::uint8_t {
    kNothing,
    kBarrier,       // the next phase of `object`
    kSemaphore,     // `object` to hold `value`
    kGroups,        // at most `value` groups of `queue` in flight
    kQueue,         // no operation of `queue` in flight
    kMeeting,       // all agents of the block at the same collective operation
    kSpawned,       // the end of the agents that it spawned
    kNamedBarrier,  // the phase of named barrier `value` at which it arrived last
    kClusterSync,   // all threads of the cluster at its barrier, where the agent has arrived
  };
  Kind kind = Kind::kNothing;
  SyncElement object;
  std::int64_t value = 0;
  bool decrement = true;    // kSemaphore
  bool reads_only = false;  // kGroups: only their reading
  bool promised = false;    // kGroups: nothing waits in what JAX makes of it; its documentation says that they are done
  AsyncQueue queue = AsyncQueue::kNone;
  MemoryScope scope = MemoryScope::kSystem;  // kSemaphore
};

// What an agent does for agents that wait, itself included: an arrival at a barrier, a signal to a semaphore.
struct Arrival {
  WaitTarget at;            // its kind, and which one: what waits for it have there, too
  std::int64_t amount = 1;  // kSemaphore: what its count grows by; kNamedBarrier: the lanes that complete a phase
  bool waits = false;       // kNamedBarrier: the agent then waits for the phase to which it arrives
  std::string_view what;    // kMeeting: the operation, the same for all that meet
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PORT_SYNC_H_
