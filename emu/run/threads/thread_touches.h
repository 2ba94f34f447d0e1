// What each request of a launch over threads has touched, for exhaustive search: objects of schedules beside the bytes
// that memory reports to the log itself. footprints.h has what a request may touch at most, this file what it did
// touch. Two requests that touch no object in common leave the same state, the same clocks and the same findings in
// either order. Limits: some requests count as touching everything: allocations for several devices or for a peer,
// cluster launch control, and collective operations of a cluster.
#ifndef PALLADION_EMU_RUN_THREADS_THREAD_TOUCHES_H_
#define PALLADION_EMU_RUN_THREADS_THREAD_TOUCHES_H_

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/run/agents/touch_log.h"
#include "emu/run/threads/residents.h"
#include "semantics/port/async.h"
#include "semantics/port/machine.h"
#include "semantics/port/sync.h"

namespace palladion::threads {

class ThreadMachine;

class ThreadTouches {
 public:
  // The machine outlives it.
  ThreadTouches(const memory_model::Memory& memory, const ThreadMachine& machine) : log_(memory), machine_(machine) {}
  agents::TouchLog& log() { return log_; }

  void Everything() { log_.AddEverything(); }
  void Object(std::int64_t object, bool writes = true) { log_.Add({{.object = object, .writes = writes}}); }

  // Before the request is carried out.
  // A wait for a phase, a test, a read of the count: learns, and changes what its thread knows alone.
  void Looks(SyncElement element);
  void Signals(SyncElement semaphore);  // or takes from its count
  void Arrives(SyncElement barrier);
  void Meets(AgentId thread, const std::string& work, bool last);  // `last`: all have come now
  void LeavesMeeting(memory_model::RendezvousId meeting);
  void Starts(AgentId thread, const AsyncRequest& request);
  void Turns(const Machine::BlockTurn& turn);
  void Commits(AgentId thread, AsyncQueue queue);
  void Performs(AgentId operation, Half half);
  void EndsThread(AgentId thread);  // the last of its block, too
  void EndsWarp(AgentId parent);
  void LeavesScope(AgentId thread);
  void Peers();  // depends on which blocks are there

  // A request for memory, or for barriers or semaphores, that others may have made already. The request that makes them
  // ends what had their place before. `of_grid`: others than the thread's block find them.
  template <class Request>
  auto Allocates(AgentId thread, bool of_grid, const Request& request) {
    const std::vector<std::int64_t> ended = EndedFor(thread);
    const bool peers_ahead = PeersAhead(thread);
    auto answer = request();
    const bool made = log_.TakeAllocated() || MadeSync(answer);
    made ? Makes(thread, of_grid, ended, NameOf(answer)) : Finds(thread, of_grid, NameOf(answer), peers_ahead);
    return answer;
  }
  // The same in another block of its cluster.
  template <class Request>
  auto Reaches(AgentId thread, const Request& request) {
    log_.TakeAllocated();
    auto answer = request();
    log_.TakeAllocated() || MadeSync(answer) ? Everything() : FindsPeers(thread);
    return answer;
  }

 private:
  void Count(std::int64_t object, std::int64_t held, bool writes);
  void Element(SyncElement element, bool writes);
  void Closing(scheduler::Touched touched);
  void Operands(const AsyncRequest& request);
  void OfQueue(const scheduler::Touch& touch, bool of_pipeline);
  std::vector<std::int64_t> EndedFor(AgentId thread);
  bool PeersAhead(AgentId thread) const;  // they have made what the block's threads have not come to yet
  void EndsBlocks(const std::vector<BlockId>& blocks);
  void Makes(AgentId thread, bool of_grid, const std::vector<std::int64_t>& ended, std::int64_t name);
  void Finds(AgentId thread, bool of_grid, std::int64_t name, bool peers_ahead);
  // Of what was asked for, among the block's.
  template <class Id>
  static std::int64_t NameOf(const absl::StatusOr<Id>& id) {
    return id.ok() ? 1 + 2 * std::int64_t{id->value} + std::is_same_v<Id, SyncId> : 0;
  }
  void FindsPeers(AgentId thread);
  static bool MadeSync(BufferId) { return false; }
  static bool MadeSync(const absl::StatusOr<BufferId>&) { return false; }
  bool MadeSync(SyncElement element) { return MadeSync(absl::StatusOr<SyncId>(element.array)); }
  bool MadeSync(const absl::StatusOr<SyncId>& id);

  agents::TouchLog log_;
  const ThreadMachine& machine_;
  std::int32_t last_sync_ = -1;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_THREAD_TOUCHES_H_
