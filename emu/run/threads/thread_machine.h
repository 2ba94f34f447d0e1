// The machine of a launch over threads: the port over the launch's memory and a ConcurrencyModel. It knows the
// requesting agent, and what each thread waits for. Its parts, in the order of its members, each built on those before
// it, hold the resident agents, their allocations, and their barriers, queues and operations. A cluster is retired with
// everything that it owns once its blocks have ended and nothing that they started is in flight; a warp when it is
// joined; barriers and semaphores, where a cluster is one block, soon after their scope. Based on: the execution model
// of Pallas' Mosaic GPU backend. Limits: those of its parts.
#ifndef PALLADION_EMU_RUN_THREADS_THREAD_MACHINE_H_
#define PALLADION_EMU_RUN_THREADS_THREAD_MACHINE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/run/threads/async_operations.h"
#include "emu/run/threads/async_queues.h"
#include "emu/run/threads/block_memory.h"
#include "emu/run/threads/collectives.h"
#include "emu/run/threads/launch_control.h"
#include "emu/run/threads/launch_shape.h"
#include "emu/run/threads/operand_arrays.h"
#include "emu/run/threads/peers.h"
#include "emu/run/threads/residents.h"
#include "emu/run/threads/schedule_objects.h"
#include "emu/run/threads/session_semaphores.h"
#include "emu/run/threads/sync_arrays.h"
#include "emu/run/threads/thread_touches.h"
#include "emu/run/threads/waitables.h"
#include "memory_model/bytes/over_memory.h"
#include "memory_model/concurrency_model.h"
#include "scheduler/operation.h"
#include "semantics/port/machine.h"
#include "semantics/program/program.h"

namespace palladion::threads {

struct ThreadMachineOptions {
  memory_model::FencePolicy policy = memory_model::FencePolicy::kPallas;
  bool automatic_barriers = false;  // of JAX's lowering: FenceRule
  bool races = false;               // record accesses and judge their order
  bool definedness = false;
  bool moves_nothing = false;  // as its memory does: Memory::MoveNothing
  bool ordered_links = false;  // copies between one device and another land in the order they were started
  memory_model::PlaceNamer places = {};
  BetweenLaunches between = {};
};

class ThreadMachine final : public memory_model::OverMemory {
 public:
  // All outlive it. `grid`: the launch's sizes, of every dimension.
  ThreadMachine(const Program& program, memory_model::Memory& memory, absl::Span<const std::int64_t> grid,
                const ThreadMachineOptions& options);
  ThreadMachine(const ThreadMachine&) = delete;
  ThreadMachine& operator=(const ThreadMachine&) = delete;

  const LaunchShape& shape() const { return shape_; }
  const Residents& residents() const { return residents_; }
  const SyncArrays& syncs() const { return syncs_; }
  const AsyncQueues& queues() const { return queues_; }
  const AsyncOperations& operations() const { return operations_; }
  const BlockMemory& block_memory() const { return block_memory_; }
  OperandArrays& operands() { return operands_; }
  LaunchControl& launch_control() { return control_; }
  memory_model::ConcurrencyModel& model() { return model_; }
  const memory_model::ConcurrencyModel& model() const { return model_; }

  // A block begins: the index of its first thread in the grid, and how many it has. Its threads are numbered in order.
  AgentId AddBlock(absl::Span<const std::int64_t> index, std::int64_t threads) {
    return residents_.AddBlock(index, threads);
  }
  void SetCurrent(AgentId thread) {  // the agent of the requests from here on
    current_ = thread;
    memory_.Acts(thread);
  }
  AgentId current() const { return current_; }
  std::string NameOf(AgentId thread) const { return model_.agents().NameOf(thread); }
  void EndWarp(AgentId warp) {  // it has come to its end
    if (touches_ != nullptr) touches_->EndsWarp(residents_.Of(warp).parent);
    changes_.Add(WarpsObjectOf(residents_.Of(warp).parent));
    residents_.WarpEnds(warp);
  }
  // Others may wait for the ends of threads, at the barrier of a cluster (UseClusterBarrier, before the first begins):
  // then the thread says, in an operation of its own, that it has come to its end.
  void UseClusterBarrier() { uses_cluster_barrier_ = true; }
  bool uses_cluster_barrier() const { return uses_cluster_barrier_; }
  void LeaveCluster();
  // It has come to its end. True: it was the last of its cluster, whose memory is gone now.
  bool EndThread(AgentId thread);

  const Waitables& waitables() const { return waitables_; }  // what threads wait for, by id
  // What of that the operations in flight have changed: frequent operations say which objects.
  scheduler::Changes& changes() { return changes_; }

  // From here on every request reports what it has touched: for exhaustive search. It outlives the machine's requests.
  void ReportTouchesTo(ThreadTouches* touches) { touches_ = touches; }
  ThreadTouches* touches() const { return touches_; }  // nullptr: no search

  // Called for every warp that a thread forks, with the step that it begins with. It has been added as a thread.
  void OnFork(std::function<absl::Status(AgentId warp, std::int64_t number, std::size_t first)> fork) {
    fork_ = std::move(fork);
  }
  // Called for every operation that is started: `spawn` has to schedule its phases.
  void OnStart(std::function<void(AgentId operation)> spawn) { operations_.OnStart(std::move(spawn)); }
  void Perform(AgentId operation, Half half);

  // The kernel has come to its end.
  void End(const Site& site) {
    control_.End();
    if (shape_.gpus()) operands_.LeaveDevices();
    model_.End(CodeSite::Of(site));
  }
  // Before that: what goes on to the launches after it, and is not left over.
  agents::LaunchLeft HandOver();

  // What is kept, for tests: bounded by what is alive.
  struct Kept {
    std::size_t threads = 0, blocks = 0, clusters = 0, syncs = 0, queues = 0, collectives = 0, globals = 0, names = 0;
  };
  Kept kept() const;

  void Running(const RunningAgent& now) override {
    if (now.begins && touches_ != nullptr) touches_->Peers();
    OverMemory::Running(now);
  }
  // No hardware writes what is undefined: an operation in flight reads what was there.
  void Poison(BufferId buffer) override {
    if (touches_ != nullptr) touches_->Object(buffer.value);
    operations_.ReadAhead(buffer);
    OverMemory::Poison(buffer);
  }
  // The port, for the current thread. Blocks of a kernel's operands are the memory's own, and so are their copies.
  absl::StatusOr<BufferId> Alloc(const AllocRequest& request) override;
  void Leave(BufferId buffer, const Site& site) override {
    if (touches_ != nullptr) touches_->LeavesScope(current_);
    block_memory_.Leave(buffer, site);
  }
  void Turn(const BlockTurn& turn, const Site& site) override;
  BufferId PeerBuffer(BufferId buffer, absl::Span<const PeerCoordinate> where, const Site& site) override;
  AsyncRequest NewRequest() override { return model_.NewRequest(); }
  absl::Status Start(AsyncRequest&& request) override;
  QueueId QueueOf(AsyncQueue queue) override;
  absl::Status CommitGroup(AsyncQueue queue, const Site& site) override;
  bool CompletesEarlier(AsyncQueue queue) const override {
    return queue == AsyncQueue::kMma && model_.rule().WgmmaCompletesEarlier();
  }
  absl::Status Collective(const CollectiveStep& step, const Site& site) override;
  absl::Status Arrive(const Arrival& arrival, const Site& site) override;
  absl::Status Wait(const WaitTarget& target, const Site& site) override;
  absl::StatusOr<std::int64_t> Poll(const WaitTarget& target, const Site& site) override;
  absl::StatusOr<SyncId> AllocSync(const SyncRequest& request) override;
  void LeaveSync(SyncId array, const Site& site) override {
    if (touches_ != nullptr) touches_->LeavesScope(current_);
    syncs_.Leave(array, site);
  }
  SyncElement PeerSync(SyncElement element, absl::Span<const PeerCoordinate> where, const Site& site) override;
  absl::Status TryCancel(const CancelRequest& request, const Site& site) override;
  absl::StatusOr<CancelAnswer> ReadAnswer(const std::byte* answer, const Site& site) override;
  Completion CompletionAt(SyncElement element) override { return syncs_.CompletionAt(element); }
  absl::Status Make(Fence fence, const Site& site) override;
  absl::Status Spawn(const SpawnRequest& request, const Site& site) override;

 private:
  Asker Asking(const Site& site) { return {current_, site, changes_, touches_}; }
  absl::Status Resume(const SyncArray& array);
  void EndBlock(BlockId block);
  void RetireIfIdle(std::int64_t cluster);

  memory_model::ConcurrencyModel model_;
  scheduler::Changes changes_;
  bool uses_cluster_barrier_ = false;
  const LaunchShape shape_;
  Residents residents_;
  const MachineBase base_;
  const Peers peers_;
  SessionSemaphores session_;
  SyncArrays syncs_;
  OperandArrays operands_;
  BlockMemory block_memory_;
  Collectives collectives_;
  AsyncQueues queues_;
  Waitables waitables_;
  AsyncOperations operations_;
  LaunchControl control_;
  std::function<absl::Status(AgentId, std::int64_t, std::size_t)> fork_;
  ThreadTouches* touches_ = nullptr;  // of a search
  AgentId current_;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_THREAD_MACHINE_H_
