// The residents of a launch over threads: the blocks that have begun, their threads and the warps that these have
// forked, by cluster. What has ended is retired when its cluster is, a warp when it is joined. Based on: the execution
// model of CUDA, where the blocks of a cluster are resident together. Limits: the caller (ThreadMachine) decides when a
// cluster may be retired, because operations that it started may still be in flight.
#ifndef PALLADION_EMU_RUN_THREADS_RESIDENTS_H_
#define PALLADION_EMU_RUN_THREADS_RESIDENTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "emu/run/threads/block_syncs.h"
#include "emu/run/threads/launch_shape.h"
#include "emu/run/threads/object_name.h"
#include "emu/run/threads/shared_stack.h"
#include "memory_model/concurrency_model.h"
#include "semantics/base/live_table.h"

namespace palladion::threads {

struct Thread {  // or a warp that one has forked
  BlockId block;
  std::vector<std::int64_t> index;
  std::vector<ObjectName> names;  // the next that each of its allocating steps gives: a few
  std::size_t number = 0;         // in its block
  bool ended = false;
  QueueId mma;                                   // invalid: none yet
  std::vector<QueueId> stores, tensor_core;      // the same, by lane
  std::vector<QueueId> tmem_loads, tmem_stores;  // the same: the warpgroup's own, then those of its warps
  QueueId fetches, flushes;                      // of a TPU's core
  AgentId parent;                                // of a warp
  std::size_t warp = 0;
  std::vector<AgentId> warps;  // forked, and not joined yet
  std::size_t warps_running = 0;

  bool is_warp() const { return parent.valid(); }
  // One lane of each warp issues what the warp issues, and of what the warpgroup issues as one, that of its first warp:
  // what a lane has issued are its groups, whether inside a warp mesh or outside.
  std::size_t lane() const { return is_warp() ? warp : 0; }
  ObjectName NextName(std::int64_t step) {
    auto next = std::find_if(names.begin(), names.end(), [&](const ObjectName& name) { return name.step == step; });
    if (next == names.end()) next = names.insert(next, {step, 0});
    return {step, next->occurrence++};
  }
};

struct Block {
  std::vector<std::int64_t> index;  // of the grid, without the thread
  std::int64_t number = 0;          // in the grid
  std::int64_t cluster = 0;
  memory_model::Place place;
  std::vector<AgentId> threads;
  std::size_t running = 0;  // of these
  memory_model::RendezvousId meeting;
  SharedStack shared, tensor{SharedStack::kTensorAlignment};
  BlockSyncs syncs;
};

struct Cluster {
  std::vector<BlockId> blocks;  // that have begun
  std::int64_t ended = 0;       // of these, all of whose threads have ended
  std::int64_t in_flight = 0;   // operations that they have started
  bool over = false;            // all of its blocks have ended
};

class Residents {
 public:
  // Both outlive it.
  Residents(const LaunchShape& shape, memory_model::ConcurrencyModel& model) : shape_(shape), model_(model) {}
  Residents(const Residents&) = delete;
  Residents& operator=(const Residents&) = delete;

  // A block begins: the index of its first thread, and how many it has. Its threads are numbered in order.
  AgentId AddBlock(absl::Span<const std::int64_t> index, std::int64_t threads);
  AgentId Fork(AgentId parent, std::int64_t warp, const CodeSite& site);
  void WarpEnds(AgentId warp) { --Of(Of(warp).parent).warps_running; }
  // The thread has come to its end. Was it the last of its cluster?
  bool ThreadEnds(AgentId thread);

  // The kernel before this one, where the two may overlap, is an agent too; it is made when first asked for.
  AgentId Before();
  // So is an end of a launch, of which no block knows: by its name in findings.
  AgentId AddLaunch(std::string name, const memory_model::Place& place);
  bool overlaps() const { return before_.valid(); }

  Thread& Of(AgentId id) { return threads_[id]; }
  const Thread& Of(AgentId id) const { return threads_[id]; }
  Block& Of(BlockId id) { return blocks_[id]; }
  const Block& Of(BlockId id) const { return blocks_[id]; }
  Block& BlockOf(AgentId thread) { return Of(Of(thread).block); }
  const Block& BlockOf(AgentId thread) const { return Of(Of(thread).block); }
  // Is the thread of the block with this index, or that has a thread with it?
  bool IsOf(AgentId thread, absl::Span<const std::int64_t> index) const {
    return BlockOf(thread).number == shape_.NumberOf(index);
  }
  // The owner of the queues, and the memory, of a thread or of a warp: the thread.
  const Thread& OwnerOf(const Thread& thread) const { return thread.is_warp() ? Of(thread.parent) : thread; }
  Cluster& ClusterOf(std::int64_t number) { return clusters_.at(number); }
  const Cluster& ClusterOf(std::int64_t number) const { return clusters_.at(number); }

  // Of the blocks that have begun and have not been retired, the one with this number; invalid: there is none.
  BlockId At(std::int64_t number) const {
    const auto found = block_at_.find(number);
    return found == block_at_.end() ? BlockId{} : found->second;
  }
  bool HasBegun(std::int64_t number) const {  // it may have ended since
    return static_cast<std::size_t>(number) < begun_.size() && begun_[static_cast<std::size_t>(number)];
  }
  std::vector<BlockId> InOrder() const;  // all of these, by number

  // They are gone, and with a cluster its blocks and threads.
  void RetireThread(AgentId id);
  void RetireCluster(std::int64_t number);

  std::size_t threads() const { return threads_.live(); }
  std::size_t blocks() const { return blocks_.live(); }
  std::size_t clusters() const { return clusters_.size(); }

 private:
  std::int64_t BlocksOfCluster() const;

  const LaunchShape& shape_;
  memory_model::ConcurrencyModel& model_;
  AgentId before_;
  LiveTable<AgentId, Thread> threads_;  // and warps: all for which the model has an agent
  LiveTable<BlockId, Block> blocks_;
  absl::flat_hash_map<std::int64_t, Cluster> clusters_;  // by number
  absl::flat_hash_map<std::int64_t, BlockId> block_at_;  // by number
  std::vector<bool> begun_;                              // blocks, by number
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_RESIDENTS_H_
