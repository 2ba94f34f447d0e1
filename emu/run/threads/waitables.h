// The table of what threads can wait for, by id. A new kind is a class (waitable.h) in a file of its own, the function
// that makes it, and a row of the table.
#ifndef PALLADION_EMU_RUN_THREADS_WAITABLES_H_
#define PALLADION_EMU_RUN_THREADS_WAITABLES_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "emu/run/threads/async_queues.h"
#include "emu/run/threads/named_barriers.h"
#include "emu/run/threads/sync_arrays.h"
#include "emu/run/threads/waitable.h"

namespace palladion::threads {

// All that they are made with outlives them.
std::unique_ptr<Waitable> BarrierWaits(const MachineBase& base, const SyncArrays& syncs);    // barrier_waits.cc
std::unique_ptr<Waitable> SemaphoreWaits(const MachineBase& base, const SyncArrays& syncs);  // semaphore_waits.cc
std::unique_ptr<Waitable> GroupWaits(const MachineBase& base, AsyncQueues& queues);          // group_waits.cc
std::unique_ptr<Waitable> MeetingWaits(const MachineBase& base);                             // meeting_waits.cc
std::unique_ptr<Waitable> WarpWaits(const MachineBase& base);                                // warp_waits.cc

class Waitables {
 public:
  // All outlive it.
  Waitables(const MachineBase& base, const SyncArrays& syncs, AsyncQueues& queues, NamedBarriers& named);

  Waitable& Of(const WaitTarget& target) { return *rows_[static_cast<std::size_t>(target.kind)]; }
  const Waitable& Of(const WaitTarget& target) const { return *rows_[static_cast<std::size_t>(target.kind)]; }
  // Of a target of nothing: is there anything to wait for?
  static bool IsWait(const WaitTarget& target) { return target.kind != WaitTarget::Kind::kNothing; }

  void Retire(BlockId block) {
    for (Waitable* const row : rows_) row->Retire(block);
  }

 private:
  void Add(WaitTarget::Kind id, Waitable& row);
  void Add(WaitTarget::Kind id, std::unique_ptr<Waitable> row) { Add(id, *own_.emplace_back(std::move(row))); }

  std::vector<std::unique_ptr<Waitable>> own_;
  std::vector<Waitable*> rows_;  // by id
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_WAITABLES_H_
