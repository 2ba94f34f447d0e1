// Arrays of barriers and semaphores of blocks, clusters and the grid: who allocates one, who reaches another block's,
// until when each can be told something. Where a cluster is one block, an array is retired soon after its scope; else
// peers may come to it by its name until the cluster ends.
// Based on: Barrier, ClusterBarrier and semaphores of Mosaic GPU, and the semaphores of Pallas' TPU backend. Limits:
// what an arrival or a signal orders is the model's (memory_model/sync).
#ifndef PALLADION_EMU_THREADS_SYNC_ARRAYS_H_
#define PALLADION_EMU_THREADS_SYNC_ARRAYS_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/threads/peers.h"
#include "emu/threads/session_semaphores.h"
#include "emu/threads/sync_array.h"

namespace palladion::threads {

class SyncArrays {
 public:
  // Both outlive it.
  SyncArrays(const MachineBase& base, const Peers& peers, SessionSemaphores& session)
      : base_(base), peers_(peers), session_(session) {}

  absl::StatusOr<SyncId> Alloc(AgentId thread, const SyncRequest& request);
  void Leave(SyncId id, const Site& site);  // of a thread, by one of its users
  // The same element of another block's array: there from now on if it has not been allocated yet.
  SyncElement OfPeer(AgentId thread, SyncElement element, absl::Span<const std::int64_t> block, const Site& site);
  // At the barrier, and of a cluster barrier at those of all blocks that wait for this one.
  void Arrive(AgentId thread, SyncElement barrier, const Site& site);

  const SyncArray& operator[](SyncId id) const { return arrays_[id]; }
  bool Lives(SyncId id) const { return arrays_.Has(id); }
  BarrierId BarrierOf(SyncElement element) const { return arrays_[element.array].barrier(element.element); }
  SemaphoreId SemaphoreOf(SyncElement element) const { return arrays_[element.array].semaphore(element.element); }
  std::int64_t ObjectOf(SyncElement element) const { return arrays_[element.array].ObjectOf(element.element); }
  // Is it the cluster's of the block with this index, which may have been retired, or the grid's?
  bool Sees(absl::Span<const std::int64_t> index, SyncId id) const;

  // The memory of those whose scope is over is given to others, or ends with the block.
  void EndLeft(BlockId block, memory_model::Barrier::Ends ends);
  void BlockEnds(BlockId block);
  // Nothing of its cluster is under way: who has ended is gone; with the block, all.
  void RetireEnded(BlockId block);
  void RetireBlock(BlockId block);
  void HandOver();  // all that are there, when the kernel ends

  std::size_t size() const { return arrays_.live(); }

 private:
  SyncId Make(const SyncRequest& request, const ObjectName& name, BlockId block);
  void MakeElements(const SyncRequest& request, SyncArray* array);
  std::int64_t Arrivals(const SyncRequest& request) const;
  std::int64_t DeviceOf(const SyncArray& array) const;
  void End(SyncId id, const CodeSite& site, memory_model::Barrier::Ends ends);
  void Retire(SyncId id);
  BlockSyncs& Of(BlockId block) { return base_.residents.Of(block).syncs; }

  const MachineBase base_;
  const Peers& peers_;
  SessionSemaphores& session_;
  LiveTable<SyncId, SyncArray> arrays_;
  std::map<ObjectName, SyncId> of_grid_;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_THREADS_SYNC_ARRAYS_H_
