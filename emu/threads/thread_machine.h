// The machine of a launch over threads: the port over the launch's memory and a ConcurrencyModel. It knows the blocks
// that are under way, what each has allocated and which barriers that stands for, and in whose name the model is asked.
// A cluster is retired with all that it had once its blocks have ended and nothing that they started is under way; a
// warp when it is joined; barriers and semaphores, where a cluster is one block, soon after their scope.
// Several devices of a TPU that run a kernel together are the first dimensions of its grid: their cores are blocks that
// reach each other's memory and semaphores as the blocks of a cluster do.
// Based on: the execution model of Pallas' Mosaic GPU backend. Limits: the bytes of shared memory are a stack, as that
// backend lays them out.
#ifndef PALLADION_EMU_THREADS_THREAD_MACHINE_H_
#define PALLADION_EMU_THREADS_THREAD_MACHINE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/agents/session_state.h"
#include "emu/threads/block.h"
#include "memory_model/bytes/over_memory.h"
#include "memory_model/concurrency_model.h"
#include "semantics/base/live_table.h"
#include "semantics/port/machine.h"
#include "semantics/program/program.h"

namespace palladion::threads {

// What a launch has to do with those before and after it.
struct BetweenLaunches {
  const agents::LaunchArrivals* arrivals = nullptr;  // outlives the machine
  std::function<BufferId(const agents::OperandPlace&)> array_of = {};
  std::function<std::optional<agents::OperandPlace>(BufferId)> output_of = {};  // none: it is no output
};

struct ThreadMachineOptions {
  memory_model::FencePolicy policy = memory_model::FencePolicy::kPallas;
  bool races = false;  // record accesses and judge their order
  bool definedness = false;
  bool moves_nothing = false;  // as its memory does: Memory::MoveNothing
  bool ordered_links = false;  // copies between one device and another land in the order they were started
  std::int32_t device = 0;     // of every block, and of what is allocated; the first of several
  memory_model::PlaceNamer places = {};
  BetweenLaunches between = {};
};

class ThreadMachine final : public memory_model::OverMemory {
 public:
  // All outlive it. `grid`: the launch's sizes, of every dimension.
  ThreadMachine(const Program& program, memory_model::Memory& memory, absl::Span<const std::int64_t> grid,
                const ThreadMachineOptions& options);

  // An array of the kernel call: it is there before every thread. Where several devices run the kernel together, one of
  // a device's, by the operand's number: it is there when the device enters the kernel.
  void Adopt(BufferId array);
  void AdoptOf(std::int64_t device, std::size_t operand, BufferId array);

  // The kernel before this one may not have ended yet, and writes the array.
  void WrittenBefore(BufferId array);

  // A block begins: the index of its first thread in the grid, and how many it has. Its threads are numbered in order.
  AgentId AddBlock(absl::Span<const std::int64_t> index, std::int64_t threads);
  // Of several devices, once all their blocks have been added, which they are before any runs: the devices enter the
  // kernel. `meet`: they wait for each other there, so each knows that the others have entered.
  void EnterDevices(bool meet);
  void SetCurrent(AgentId thread) { current_ = thread; }  // who asks, from here on
  // It has come to its end. True: it was the last of its cluster, whose memory is gone now.
  bool EndThread(AgentId thread);

  std::int64_t DeviceOf(absl::Span<const std::int64_t> index) const;  // its number in the mesh

  std::string NameOf(AgentId thread) const { return model_.agents().NameOf(thread); }
  // The same of any thread of the grid, by its index: it may have been retired, or not begun yet.
  std::string NameOf(absl::Span<const std::int64_t> index) const;
  AgentId current() const { return current_; }

  // May a thread that waits for the target go on, and what it waits for in words.
  bool CanWait(AgentId thread, const WaitTarget& target) const;
  std::string DescribeWait(AgentId thread, const WaitTarget& target) const;

  // Called for every warp that a thread forks, with the step that it begins with. It has been added as a thread.
  void OnFork(std::function<absl::Status(AgentId warp, std::int64_t number, std::size_t first)> fork) {
    fork_ = std::move(fork);
  }
  void EndWarp(AgentId warp);  // it has come to its end

  // Who could bring about what a thread waits for.
  const SyncRequest& RequestOf(SyncId array) const { return syncs_[array].request; }
  const memory_model::Semaphore& CountOf(SyncElement element) const { return model_.Of(SemaphoreOf(element)); }
  bool Lives(SyncElement element) const { return syncs_.Has(element.array); }
  std::int64_t WarpOf(AgentId thread) const {  // -1: it is no warp
    return Of(thread).parent.valid() ? static_cast<std::int64_t>(Of(thread).warp) : -1;
  }
  bool OfGrid(SyncId array) const { return !syncs_[array].block.valid(); }
  const std::vector<std::int64_t>& IndexOf(AgentId thread) const { return Of(thread).index; }
  // Of a thread of the grid by its index, which may have been retired: is it of the thread's block, is the array its
  // block's, its cluster's or the grid's?
  bool SameBlock(AgentId thread, absl::Span<const std::int64_t> index) const;
  bool Sees(absl::Span<const std::int64_t> index, SyncId array) const;
  bool Awaits(AgentId thread, AsyncQueue kind, QueueId queue) const;  // does a wait for its groups look there?

  // Called for every operation that is started: somebody has to schedule its halves.
  void OnStart(std::function<void(AgentId operation)> spawn) { spawn_ = std::move(spawn); }
  bool CanPerform(AgentId operation, Half half) const;
  void Perform(AgentId operation, Half half);
  bool performing() const { return performing_; }   // the accesses of now are an engine's
  AgentId performer() const { return performer_; }  // then: of this operation

  // The kernel has come to its end.
  void End(const Site& site);
  // Before that: what goes on to the launches after it, and is not left over.
  agents::LaunchLeft HandOver();

  memory_model::ConcurrencyModel& model() { return model_; }
  const memory_model::ConcurrencyModel& model() const { return model_; }

  // Which objects a request touches, for schedules.
  std::int64_t ObjectOf(SyncElement element) const;
  std::int64_t ObjectOf(AgentId thread, const WaitTarget& target) const;
  static std::int64_t ObjectOf(const Completion& completion);
  std::int64_t ObjectOf(QueueId queue) const { return queue_objects_.at(queue.value); }

  // What is kept, for tests: bounded by what is alive.
  struct Kept {
    std::size_t threads = 0, blocks = 0, clusters = 0, syncs = 0, queues = 0, collectives = 0, globals = 0, names = 0;
  };
  Kept kept() const;

  // The port, for the current thread. Blocks of a kernel's operands are the memory's own, and so are their copies.
  absl::StatusOr<BufferId> Alloc(const AllocRequest& request) override;
  void Leave(BufferId buffer, const Site& site) override;
  BufferId PeerBuffer(BufferId buffer, absl::Span<const PeerCoordinate> where, const Site& site) override;
  absl::Status Start(AsyncRequest&& request) override;
  QueueId QueueOf(AsyncQueue queue) override;
  absl::Status CommitGroup(AsyncQueue queue, const Site& site) override;
  bool CompletesEarlier(AsyncQueue queue) const override {
    return queue == AsyncQueue::kMma && model_.rule().WgmmaCompletesEarlier();
  }
  absl::Status Collective(absl::Span<const std::size_t> grid_dims, std::string what, const Site& site) override;
  absl::Status Wait(const WaitTarget& target, const Site& site) override;
  absl::StatusOr<SyncId> AllocSync(const SyncRequest& request) override;
  void LeaveSync(SyncId array, const Site& site) override;
  SyncElement PeerSync(SyncElement element, absl::Span<const PeerCoordinate> where, const Site& site) override;
  absl::Status Arrive(SyncElement barrier, const Site& site) override;
  absl::StatusOr<bool> Test(SyncElement barrier, const Site& site) override;
  absl::Status Signal(SyncElement semaphore, std::int64_t amount, const Site& site) override;
  absl::StatusOr<std::int64_t> Read(SyncElement semaphore, const Site& site) override;
  Completion ArrivalAt(SyncElement barrier, std::int64_t shares) override;
  Completion SignalAt(SyncElement semaphore, std::int64_t amount, CompletionUnit unit) override;
  absl::Status Make(Fence fence, const Site& site) override;
  absl::Status Meet(std::string what, const Site& site) override;
  absl::Status Spawn(const SpawnRequest& request, const Site& site) override;

 private:
  struct Thread {
    BlockId block;
    std::vector<std::int64_t> index;
    std::map<std::int64_t, std::int64_t> occurrences;  // by allocating step
    std::size_t number = 0;                            // in its block
    bool ended = false;
    QueueId mma;
    std::vector<QueueId> stores;  // by lane; invalid: none yet
    AgentId parent;               // of a warp
    std::size_t warp = 0;
    std::vector<AgentId> warps;  // forked, and not joined yet
    std::size_t warps_running = 0;
  };
  // One lane of each warp issues what the warp issues, and of what the warpgroup issues as one, that of its first warp:
  // what a lane has issued are its groups, whether inside a warp mesh or outside.
  std::size_t LaneOf(const Thread& thread) const { return thread.parent.valid() ? thread.warp : 0; }
  // Of whom collective copies are the same: blocks, each with this thread and lane.
  struct CollectiveKey {
    std::vector<std::int64_t> group;  // the index of the blocks; -1: any
    std::size_t thread = 0, lane = 0;
    friend bool operator<(const CollectiveKey& a, const CollectiveKey& b) {
      return std::tie(a.group, a.thread, a.lane) < std::tie(b.group, b.thread, b.lane);
    }
  };
  // An array of barriers or semaphores.
  struct SyncArray {
    SyncRequest request;
    BlockId block;
    ObjectName name;
    std::vector<BarrierId> barriers;
    std::vector<SemaphoreId> semaphores;
    std::size_t users = 0;
    bool ended = false;
  };
  using Collectives = std::map<CollectiveKey, memory_model::CollectiveId>;
  struct Cluster {
    std::vector<BlockId> blocks;      // that have begun
    std::int64_t ended = 0;           // of these, all of whose threads have ended
    std::int64_t under_way = 0;       // operations
    std::vector<SyncId> ended_syncs;  // an operation under way may still tell them
    Collectives collectives;          // among its blocks
    bool over = false;
  };

  Thread& Of(AgentId id) { return threads_[id]; }
  const Thread& Of(AgentId id) const { return threads_[id]; }
  Block& Of(BlockId id) { return blocks_[id]; }
  const Block& Of(BlockId id) const { return blocks_[id]; }
  Cluster& ClusterOf(BlockId id) { return clusters_.at(Of(id).cluster); }
  std::int64_t NumberOf(absl::Span<const std::int64_t> index) const;  // of the block
  bool several_devices() const { return !program_.device_axes.empty(); }
  std::string NameOf(const Block& block) const;
  bool OfCores() const { return program_.mesh.has_value() && program_.mesh->cores; }
  bool HasPeers() const { return units_ > 1 || several_devices(); }
  std::int64_t BlocksOfCluster() const;
  void Began(BufferId buffer, memory_model::TrackedBuffer tracked, const Block& block, const CodeSite& site);
  bool AtEntry(AgentId core) const { return model_.agents().NowOf(core) == kEntered; }
  static constexpr std::int64_t kLinkObjects = std::int64_t{6} << 40;  // after those of thread_machine.cc
  static constexpr std::uint32_t kEntered = 2;  // an agent's time once it has entered: it has told that, nothing else
  memory_model::TrackedBuffer Tracked(BufferId array, const memory_model::Place& place) const;
  Thread& Current() { return Of(current_); }
  std::int64_t PeerNumber(BlockId block, absl::Span<const PeerCoordinate> where) const;
  BlockId PeerOf(BlockId block, absl::Span<const PeerCoordinate> where) const;
  std::string WhyNoPeer(BlockId block, absl::Span<const PeerCoordinate> where) const;
  bool HasBegun(std::int64_t block) const {
    return block >= 0 && static_cast<std::size_t>(block) < begun_.size() && begun_[static_cast<std::size_t>(block)];
  }
  ObjectName NextName(std::int64_t step);
  memory_model::Place DevicePlace(std::int64_t device = 0) const {
    return memory_model::Place{}.With(PlaceLevel::kDevice, options_.device + static_cast<std::int32_t>(device));
  }

  absl::StatusOr<BufferId> MakeBuffer(const AllocRequest& request, const memory_model::Place& place);
  absl::StatusOr<BufferId> AllocGlobal(const AllocRequest& request);
  bool LeaveGlobal(BufferId buffer, const Site& site);
  absl::StatusOr<BufferId> AllocShared(const AllocRequest& request, const ObjectName& name, BlockId block,
                                       std::int64_t offset);
  SyncId MakeSync(const SyncRequest& request, const ObjectName& name, BlockId block);
  std::int64_t Arrivals(const SyncRequest& request) const;
  void EndSync(SyncId id, const CodeSite& site, memory_model::Barrier::Ends ends);
  void EndLeft(Block& block, memory_model::Barrier::Ends ends);
  BufferId PeerArray(BufferId buffer, std::size_t operand, absl::Span<const PeerCoordinate> where, const Site& site);
  void Release(BufferId buffer);
  void FreeMemory(BufferId buffer);
  void EndBlock(BlockId block);
  void RetireIfIdle(std::int64_t cluster);
  void RetireBlock(BlockId block);
  void RetireThread(AgentId thread);
  void RetireSync(SyncId id);
  bool InCluster(const CollectiveKey& key) const;  // are all of its blocks of one cluster?
  memory_model::CollectiveId MakeCollective(const CollectiveKey& key);
  std::optional<std::size_t> MemberOf(const CollectiveKey& key, absl::Span<const std::int64_t> index) const;
  void EndCollectives(const Thread& thread, const Collectives& all);
  void JoinWarps();
  void ReportPeer(std::string_view what, const Site& site);
  BarrierId BarrierOf(SyncElement element) const;
  SemaphoreId SemaphoreOf(SyncElement element) const;
  QueueId MakeQueueOf(AgentId thread, AsyncQueue queue);
  std::int64_t DeviceOf(BufferId buffer) const;  // -1: memory that has no peers
  QueueId LinkOf(const AsyncRequest& request);
  std::vector<QueueId> QueuesOf(AgentId thread, AsyncQueue queue) const;
  // Of an operand that earlier launches have left something in: that is there from here on.
  absl::Status Resume(SyncId id, std::size_t operand);
  absl::Status ResumeCopy(SyncElement semaphore, const agents::ArrivingCopy& copy);
  void Restore(SemaphoreId semaphore, std::int64_t count);  // what it held before the kernel
  AgentId Before();
  void NoteOnOperand(AgentId operation, const AsyncRequest& request);
  void HandOver(SyncId id);  // nothing tells it any more
  void HandOverCredits(SemaphoreId semaphore, std::int64_t element, agents::LaunchLeft::Semaphores* all);
  void ReportLostCopies();
  std::int64_t QueueObject(AgentId thread, AsyncQueue queue) const;

  const Program& program_;
  const std::vector<std::int64_t> grid_;
  const ThreadMachineOptions options_;
  memory_model::ConcurrencyModel model_;
  AgentId before_;                      // the kernel before this one, where they may overlap
  std::int64_t units_ = 1;              // of one arrival: a multicast's part is a share of one
  std::size_t block_dims_;              // of the grid: all but the thread's
  LiveTable<AgentId, Thread> threads_;  // and warps: whoever the model has an agent for
  LiveTable<BlockId, Block> blocks_;
  absl::flat_hash_map<std::int64_t, Cluster> clusters_;  // by number
  absl::flat_hash_map<std::int64_t, BlockId> block_at_;  // by number
  std::vector<bool> begun_;                              // blocks, by number
  // Of several devices: the arrays of each, by operand; and which one a buffer is.
  std::vector<std::vector<BufferId>> device_arrays_;
  absl::flat_hash_map<std::int32_t, std::size_t> operand_of_;
  LiveTable<SyncId, SyncArray> syncs_;
  std::map<ObjectName, SyncId> grid_syncs_;
  absl::flat_hash_map<std::int32_t, std::pair<BlockId, ObjectName>> names_;  // of shared buffers
  // Global memory that several threads have: of a block, or, with no block, of the grid.
  struct GlobalBuffer {
    BufferId buffer;
    std::size_t users = 0;  // threads that have not left its scope
  };
  using GlobalName = std::pair<BlockId, ObjectName>;
  std::map<GlobalName, GlobalBuffer> globals_;
  absl::flat_hash_map<std::int32_t, GlobalName> global_of_;     // by buffer
  absl::flat_hash_map<std::int32_t, int> pending_;              // operations under way, by buffer
  absl::flat_hash_map<std::int32_t, std::int64_t> cluster_of_;  // of who started it, by operation under way
  std::vector<BufferId> to_free_;                               // once nothing is pending there
  Collectives collectives_;                                     // among blocks of several clusters
  // By queue: the schedules' object, one for all queues of a thread.
  absl::flat_hash_map<std::int32_t, std::int64_t> queue_objects_;
  std::map<std::pair<std::int64_t, std::int64_t>, QueueId> links_;  // ordered ones, by the devices' numbers: from, to
  // Operations that tell, by their writing, a semaphore that is an operand: what each would be to later launches.
  struct OnOperand {
    agents::LeftCopy copy;
    SemaphoreId told;
    std::string into;        // the name of what it writes
    bool under_way = false;  // nobody has waited for it
  };
  std::set<SemaphoreId> operand_semaphores_;
  std::map<AgentId, OnOperand> on_operands_;
  const agents::ArrivingCopy* resuming_ = nullptr;
  agents::LaunchLeft left_;
  std::function<void(AgentId)> spawn_;
  std::function<absl::Status(AgentId, std::int64_t, std::size_t)> fork_;
  AgentId current_;
  bool performing_ = false;
  AgentId performer_;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_THREADS_THREAD_MACHINE_H_
