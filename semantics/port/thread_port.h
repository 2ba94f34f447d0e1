// What a thread of a GPU block may ask of its machine beyond loads and stores: barriers, semaphores, fences, operations
// that engines perform, memory that all threads of a block share, warps. Whoever implements ThreadPort (emu/gpu) knows
// which thread asks; an operation knows neither schedules nor clocks. A wait never blocks here: the step that waits
// says for what (WaitTarget), whoever schedules lets it begin when that is there, and then the wait takes it. Based on:
// the Pallas primitives of JAX's Mosaic GPU backend. Limits: one device.
#ifndef PALLADION_SEMANTICS_PORT_THREAD_PORT_H_
#define PALLADION_SEMANTICS_PORT_THREAD_PORT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "semantics/base/ids.h"
#include "semantics/port/async.h"
#include "semantics/port/machine.h"
#include "semantics/port/sync.h"

namespace palladion {

// Who has one: each thread its own, the threads of a block one together, or the whole grid.
enum class Sharing : std::uint8_t { kThread, kBlock, kGrid };

// Registers are the thread's own, whatever the sharing; so is global memory that a thread asks for alone.
enum class MemoryKind : std::uint8_t { kRegisters, kShared, kGlobal };

// Where in the kernel something is allocated: with its occurrence the name by which threads, and blocks of a cluster,
// mean the same object.
struct AllocationSite {
  std::int64_t step = 0;  // of the program
  Sharing sharing = Sharing::kThread;
};

enum class SyncKind : std::uint8_t { kBarrier, kClusterBarrier, kSemaphore };

struct SyncRequest {
  std::string name;  // the user's
  SyncKind kind = SyncKind::kBarrier;
  std::vector<std::int64_t> shape;
  std::int64_t num_arrivals = 1;
  bool orders_tensor_core = false;
  // Of a cluster barrier: the grid dimensions of each axis, several for a composite one.
  std::vector<std::vector<std::size_t>> axes;
  Site site;
};

// Along one dimension of the cluster, another block than the thread's own.
struct PeerCoordinate {
  std::size_t grid_dim = 0;
  std::int64_t index = 0;
};

enum class Fence : std::uint8_t {
  kSharedToAsync,      // commit_smem: what is known of shared memory is visible to asynchronous accesses from here on
  kPrerequisiteGrids,  // what the kernels before this one wrote is known
};

class ThreadPort {
 public:
  virtual ~ThreadPort() = default;

  // New memory or barriers; of what is shared, the first thread makes it and the others find it. ResourceExhausted when
  // there is not enough memory.
  virtual absl::StatusOr<BufferId> Alloc(const AllocRequest& request, MemoryKind kind, const AllocationSite& site) = 0;
  virtual absl::StatusOr<SyncId> Alloc(const SyncRequest& request, const AllocationSite& site) = 0;
  // The thread leaves the scope in which it came by these; they end when the last one has left.
  virtual void Leave(BufferId buffer, const Site& site) = 0;
  virtual void Leave(SyncId array, const Site& site) = 0;

  // The same allocation of another block of the cluster. A finding, and the thread's own, where there is none.
  virtual BufferId PeerBuffer(BufferId buffer, absl::Span<const PeerCoordinate> where, const Site& site) = 0;
  virtual SyncElement PeerSync(SyncElement element, absl::Span<const PeerCoordinate> where, const Site& site) = 0;

  // A collective operation: from here the thread waits for kMeeting. `what` is the same for all who meet.
  virtual void Meet(std::string what, const Site& site) = 0;
  // A collective copy along grid dimensions: every block along them must issue the same; nobody waits.
  virtual void Collective(absl::Span<const std::size_t> grid_dims, std::string what, const Site& site) = 0;

  virtual void Arrive(SyncElement barrier, const Site& site) = 0;
  virtual bool Test(SyncElement barrier, const Site& site) = 0;  // true: the phase counts as waited for
  virtual void Signal(SyncElement semaphore, std::int64_t amount, const Site& site) = 0;
  virtual std::int64_t Read(SyncElement semaphore, const Site& site) = 0;
  virtual void Make(Fence fence, const Site& site) = 0;

  // Whatever the target says is there.
  virtual void Wait(const WaitTarget& target, const Site& site) = 0;

  // The agent's own queue of that kind; an invalid id of none. A share of one arrival at the barrier, as a completion.
  virtual QueueId QueueOf(AsyncQueue queue) = 0;
  virtual Completion ArrivalAt(SyncElement barrier, std::int64_t shares) = 0;
  virtual absl::Status Start(AsyncRequest request) = 0;
  virtual void CommitGroup(AsyncQueue queue, const Site& site) = 0;
  // Does a wgmma wait for all earlier ones of its warpgroup? As the fence policy says.
  virtual bool MmaCompletesEarlier() const = 0;

  // The warpgroup becomes warps, which run from step `first` on until a step ends them; the thread waits for kWarps.
  virtual absl::Status ForkWarps(std::size_t first, std::int64_t count, const Site& site) = 0;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PORT_THREAD_PORT_H_
