// What threads allocate: shared memory of their block, global memory of the block or of the grid, and registers; and
// which of it other blocks can access. A peer may name shared memory before its own block has reached the allocation:
// the bytes exist from the block's start. Based on: scopes of Pallas' Mosaic GPU backend. Limits: shared_stack.h
// decides which bytes of a block's stack an allocation gets, and the model what an access to them means.
#ifndef PALLADION_EMU_RUN_THREADS_BLOCK_MEMORY_H_
#define PALLADION_EMU_RUN_THREADS_BLOCK_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/run/threads/buffers_in_use.h"
#include "emu/run/threads/operand_arrays.h"
#include "emu/run/threads/sync_arrays.h"

namespace palladion::threads {

class BlockMemory {
 public:
  // All outlive it. `races`: the model gets every free.
  BlockMemory(const MachineBase& base, const Peers& peers, const OperandArrays& operands, SyncArrays& syncs, bool races)
      : base_(base), peers_(peers), operands_(operands), syncs_(syncs), races_(races) {}

  absl::StatusOr<BufferId> Alloc(AgentId thread, const AllocRequest& request);
  bool IsOwn(AgentId thread, const AllocationPlace& place) const;  // no other thread finds what is allocated there
  bool HasUnreached(BlockId block) const;                          // memory that only peers have come to
  std::vector<BufferId> BuffersOf(BlockId block) const;            // its shared and tensor memory
  std::vector<BufferId> Replaceable(BlockId block) const;          // whose bytes what is made next may have
  void Leave(BufferId buffer, const Site& site);                   // of a thread, by one of its users
  // The same memory of another block; of an operand, of another device.
  BufferId OfPeer(AgentId thread, BufferId buffer, absl::Span<const PeerCoordinate> where, const Site& site);
  void BlockEnds(BlockId block);

  // Operations in flight have it in hand.
  void Use(BufferId buffer) { in_use_.Add(buffer); }
  void EndUse(BufferId buffer) {
    if (in_use_.Remove(buffer)) Free(buffer);
  }

  // -1: it is of no device among several.
  std::int64_t DeviceOf(BufferId buffer) const;

  std::size_t globals() const { return globals_.size(); }
  std::size_t names() const { return shared_.size(); }

 private:
  using Name = std::pair<BlockId, ObjectName>;  // no block: it is the grid's
  struct GlobalBuffer {
    BufferId buffer;
    std::size_t users = 0;  // threads that have not left its scope
  };
  // A new buffer of shared memory: where it lies, and which thread asks.
  struct NewShared {
    Name name;
    ByteCount offset;
    AgentId thread;
    const TensorCells* cells = nullptr;  // of tensor memory
  };

  absl::StatusOr<BufferId> Make(const AllocRequest& request, const memory_model::Place& place);
  absl::StatusOr<BufferId> AllocGlobal(AgentId thread, const AllocRequest& request);
  absl::StatusOr<BufferId> AllocShared(AgentId thread, const AllocRequest& request);
  absl::StatusOr<BufferId> MakeShared(const NewShared& made, const AllocRequest& request);
  void Track(const NewShared& made, BufferId buffer, const AllocRequest& request);
  bool LeaveGlobal(BufferId buffer, const Site& site);
  std::vector<AgentId> LastToUse(const Block& block) const;
  bool HasCome(const Block& block, const ObjectName& name) const;
  void Release(BufferId buffer);
  void Free(BufferId buffer);

  const MachineBase base_;
  const Peers& peers_;
  const OperandArrays& operands_;
  SyncArrays& syncs_;
  const bool races_;
  BuffersInUse in_use_;
  absl::flat_hash_map<std::int32_t, Name> shared_;  // by buffer
  std::map<Name, GlobalBuffer> globals_;            // that several threads have
  absl::flat_hash_map<std::int32_t, Name> global_;  // by buffer
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_BLOCK_MEMORY_H_
