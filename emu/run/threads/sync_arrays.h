// Arrays of barriers and semaphores of blocks, clusters and the grid: which agent allocates one, how another block's is
// reached, until when each can be signalled. Where a cluster is one block, an array is retired soon after its scope;
// otherwise peers may name it until the cluster ends. With several GPUs, an array in global memory exists before its
// block begins and after it ends, until the cluster with the same number has ended on every device: a block that names
// another device's array names that of the block with its own number. Based on: Barrier, ClusterBarrier and semaphores
// of Mosaic GPU, and the semaphores of Pallas' TPU backend. Limits: the model (memory_model/sync) decides what an
// arrival or a signal orders.
#ifndef PALLADION_EMU_RUN_THREADS_SYNC_ARRAYS_H_
#define PALLADION_EMU_RUN_THREADS_SYNC_ARRAYS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/run/threads/peers.h"
#include "emu/run/threads/session_semaphores.h"
#include "emu/run/threads/sync_array.h"
#include "scheduler/operation.h"

namespace palladion::threads {

class SyncArrays {
 public:
  // Both outlive it.
  SyncArrays(const MachineBase& base, const Peers& peers, SessionSemaphores& session, bool races)
      : base_(base), peers_(peers), session_(session), races_(races) {}

  absl::StatusOr<SyncId> Alloc(AgentId thread, const SyncRequest& request);
  void Leave(SyncId id, const Site& site);  // of a thread, by one of its users
  // The same element of another block's array, or of another device's grid: there from now on if it has not been
  // allocated yet.
  SyncElement OfPeer(AgentId thread, SyncElement element, absl::Span<const std::int64_t> block, const Site& site);
  // At the barrier, and of a cluster barrier at those of all blocks that wait for this one; at the leader's alone where
  // that tracks it. Which these are goes to `changes`.
  void Arrive(AgentId thread, SyncElement barrier, const Site& site, scheduler::Changes* changes);

  // A semaphore of a TPU is there from when its device enters the kernel: does the thread that signals know of that?
  void ExpectEntered(AgentId thread, SyncElement semaphore, const Site& site) const;

  const SyncArray& operator[](SyncId id) const { return arrays_[id]; }
  bool Lives(SyncId id) const { return arrays_.Has(id); }
  BarrierId BarrierOf(SyncElement element) const { return arrays_[element.array].barrier(element.element); }
  SemaphoreId SemaphoreOf(SyncElement element) const { return arrays_[element.array].semaphore(element.element); }
  Completion CompletionAt(SyncElement element) const { return arrays_[element.array].CompletionAt(element.element); }
  std::int64_t ObjectOf(SyncElement element) const { return arrays_[element.array].ObjectOf(element.element); }
  // Is it the cluster's of the block with this index, which may have been retired, or the grid's?
  bool Sees(absl::Span<const std::int64_t> index, SyncId id) const;

  // The memory of arrays whose scope is over is allocated again, or ends with the block.
  void EndLeft(BlockId block, memory_model::Barrier::Ends ends);
  void BlockEnds(BlockId block);
  // Nothing of its cluster is in flight: what has ended is gone; with the block, all.
  void RetireEnded(BlockId block);
  void RetireBlock(BlockId block);
  void ClusterRetires(std::int64_t number);  // the cluster: in global memory, what no agent can reach any more
  void HandOver();                           // all that are there, when the kernel ends

  std::size_t size() const { return arrays_.live(); }

 private:
  // `number`: of the block; -1: it is the grid's.
  SyncId Make(const SyncRequest& request, const ObjectName& name, std::int64_t number, std::int64_t device);
  SyncId OfBlock(const SyncRequest& request, const ObjectName& name, std::int64_t number);
  SyncId OfGrid(const SyncRequest& request, std::int64_t device);
  bool InGlobalMemory(const SyncRequest& request) const;
  void MakeBarriers(const SyncRequest& request, SyncArray* array);
  void MakeSemaphores(const SyncRequest& request, SyncArray* array);
  std::vector<memory_model::Barrier::Spec> MakeSpecs(const SyncRequest& request, const std::string& of) const;
  std::string OwnerInNames(const SyncArray& array) const;
  std::int64_t Arrivals(const SyncRequest& request) const;
  // None: there is no such block any more.
  std::optional<BarrierId> LeadersBarrier(AgentId thread, SyncElement barrier, const Site& site);
  void End(SyncId id, const CodeSite& site, memory_model::Barrier::Ends ends);
  void Retire(SyncId id);
  BlockSyncs& Of(BlockId block) { return base_.residents.Of(block).syncs; }
  BlockSyncs& Of(std::int64_t block, const SyncRequest& request) {
    return InGlobalMemory(request) ? global_[block] : Of(base_.residents.At(block));
  }
  void RetireGlobal(std::int64_t block);

  // What the barriers are that one place of the kernel asks for, most often in every block the same.
  struct SpecsOfPlace {
    SyncRequest request;
    std::vector<memory_model::Barrier::Spec> specs;
    bool Serves(const SyncRequest& other) const;
  };

  const MachineBase base_;
  const Peers& peers_;
  SessionSemaphores& session_;
  const bool races_;
  LiveTable<SyncId, SyncArray> arrays_;
  std::map<ObjectName, SyncId> of_grid_;                  // with the device in the place of the occurrence
  std::map<std::int64_t, BlockSyncs> global_;             // of blocks, by number, what lies in global memory
  absl::flat_hash_map<std::int64_t, std::int64_t> over_;  // devices whose cluster with this number has ended: of some
  std::map<std::int64_t, SpecsOfPlace> specs_;            // by step
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_SYNC_ARRAYS_H_
