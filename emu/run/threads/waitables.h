// The table of what threads can wait for, by id. A new kind is a class (waitable.h) in a file of its own, and here the
// function that makes it and a row.
#ifndef PALLADION_EMU_RUN_THREADS_WAITABLES_H_
#define PALLADION_EMU_RUN_THREADS_WAITABLES_H_

#include <array>
#include <cstddef>
#include <iterator>
#include <memory>

#include "emu/run/threads/async_queues.h"
#include "emu/run/threads/sync_arrays.h"
#include "emu/run/threads/waitable.h"

namespace palladion::threads {

// What they are made with: all of it outlives them.
struct WaitableParts {
  const MachineBase& base;
  SyncArrays& syncs;
  AsyncQueues& queues;
};

std::unique_ptr<Waitable> AlwaysThere(const WaitableParts& parts);        // waitables.cc
std::unique_ptr<Waitable> BarrierWaits(const WaitableParts& parts);       // barrier_waits.cc
std::unique_ptr<Waitable> BlockCopyWaits(const WaitableParts& parts);     // waitables.cc
std::unique_ptr<Waitable> ClusterSyncWaits(const WaitableParts& parts);   // cluster_sync_waits.cc
std::unique_ptr<Waitable> GroupWaits(const WaitableParts& parts);         // group_waits.cc
std::unique_ptr<Waitable> MeetingWaits(const WaitableParts& parts);       // meeting_waits.cc
std::unique_ptr<Waitable> NamedBarrierWaits(const WaitableParts& parts);  // named_barrier_waits.cc
std::unique_ptr<Waitable> SemaphoreWaits(const WaitableParts& parts);     // semaphore_waits.cc
std::unique_ptr<Waitable> WarpWaits(const WaitableParts& parts);          // warp_waits.cc

struct WaitableRow {
  WaitTarget::Kind id;
  std::unique_ptr<Waitable> (*make)(const WaitableParts& parts);
};

inline constexpr WaitableRow kWaitables[] = {
    {WaitTarget::Kind::kNothing, AlwaysThere},
    {WaitTarget::Kind::kBarrier, BarrierWaits},
    {WaitTarget::Kind::kSemaphore, SemaphoreWaits},
    {WaitTarget::Kind::kGroups, GroupWaits},
    {WaitTarget::Kind::kQueue, BlockCopyWaits},
    {WaitTarget::Kind::kMeeting, MeetingWaits},
    {WaitTarget::Kind::kSpawned, WarpWaits},
    {WaitTarget::Kind::kNamedBarrier, NamedBarrierWaits},
    {WaitTarget::Kind::kClusterSync, ClusterSyncWaits},
};

class Waitables {
 public:
  explicit Waitables(const WaitableParts& parts);

  Waitable& Of(const WaitTarget& target) { return *of_[static_cast<std::size_t>(target.kind)]; }
  const Waitable& Of(const WaitTarget& target) const { return *of_[static_cast<std::size_t>(target.kind)]; }
  // Of a target of nothing: is there anything to wait for?
  static bool IsWait(const WaitTarget& target) { return target.kind != WaitTarget::Kind::kNothing; }

  void Retire(BlockId block) {
    for (const std::unique_ptr<Waitable>& kind : of_) kind->Retire(block);
  }

 private:
  std::array<std::unique_ptr<Waitable>, std::size(kWaitables)> of_;  // by id
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_WAITABLES_H_
