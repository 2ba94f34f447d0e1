// Operations that engines perform for threads: started by a thread, performed in two phases when the schedule says so.
// Based on: copies of TMA and wgmma on Hopper, DMA on a TPU. Limits: what a phase moves, and what its end signals, is
// decided by the engine (memory_model/engine); this file has what an operation in flight means to the launch.
#ifndef PALLADION_EMU_RUN_THREADS_ASYNC_OPERATIONS_H_
#define PALLADION_EMU_RUN_THREADS_ASYNC_OPERATIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "emu/run/threads/async_queues.h"
#include "emu/run/threads/block_memory.h"
#include "emu/run/threads/session_semaphores.h"

namespace palladion::threads {

class AsyncOperations {
 public:
  // All outlive it.
  AsyncOperations(const MachineBase& base, AsyncQueues& queues, BlockMemory& memory, SessionSemaphores& session)
      : base_(base), queues_(queues), memory_(memory), session_(session) {}

  // Copies between one device and another land in the order they were started. Before the first.
  void OrderLinks() { ordered_links_ = true; }
  bool orders_links() const { return ordered_links_; }
  // Called for every operation that is started: `spawn` has to schedule its phases.
  void OnStart(std::function<void(AgentId operation)> spawn) { spawn_ = std::move(spawn); }

  // By the thread; with `resumed`, that copy of the launch before this one, on semaphores that the thread has now.
  absl::Status Start(AgentId thread, AsyncRequest&& request, const agents::ArrivingCopy* resumed = nullptr);

  bool CanPerform(AgentId operation, Half half) const {
    return base_.model.CanPerform({.operation = operation, .half = half});
  }
  // Memory is about to become undefined: operations take what they have still to read there.
  void ReadAhead(BufferId buffer);
  // The cluster in which nothing is in flight any more, by its number; none: it is not that, or it was so before.
  std::optional<std::int64_t> Perform(AgentId operation, Half half);

 private:
  Who WhoDoes(AgentId operation, Half half) const;
  QueueId LinkOf(AgentId thread, const AsyncRequest& request);

  const MachineBase base_;
  AsyncQueues& queues_;
  BlockMemory& memory_;
  SessionSemaphores& session_;
  std::function<void(AgentId)> spawn_;
  bool ordered_links_ = false;
  absl::flat_hash_map<std::int32_t, std::int64_t> cluster_of_;  // the issuer's, by operation in flight
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_ASYNC_OPERATIONS_H_
