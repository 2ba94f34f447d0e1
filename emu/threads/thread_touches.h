// What each request of a launch over threads has touched, for exhaustive search: objects of schedules beside the bytes
// that memory tells the log itself. Where footprints.h says what a request may touch at most, here is what it did. Two
// that touch nothing of each other's leave the same state, the same knowledge and the same findings in either order.
// Limits: what makes memory or barriers that several devices find, makes a peer's, asks for others' work, meets a
// cluster, or moves a TPU's blocks touches everything.
#ifndef PALLADION_EMU_THREADS_THREAD_TOUCHES_H_
#define PALLADION_EMU_THREADS_THREAD_TOUCHES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/agents/touch_log.h"
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
  void Waits(AgentId thread, const WaitTarget& target);
  void Looks(SyncElement element);  // a test, a read of the count: learns, and changes what its thread knows alone
  void Signals(SyncElement semaphore);
  void Arrives(SyncElement barrier);
  void Starts(AgentId thread, const AsyncRequest& request);
  void Performs(AgentId operation, Half half);
  void EndsThread(AgentId thread);  // the last of its block, too
  void EndsWarp(AgentId parent);
  void LeavesScope(AgentId thread);
  void Peers();  // depends on which blocks are there

  // A request for memory, or for barriers or semaphores, that others may have made already. Who makes them ends what
  // had their place before. `of_grid`: others than the thread's block find them.
  template <class Request>
  auto Allocates(AgentId thread, bool of_grid, const Request& request) {
    std::vector<std::int64_t> ended = ScopesOf(thread);
    auto answer = request();
    const bool made = log_.TakeAllocated() || MadeSync(answer);
    made ? Makes(of_grid, ended) : Finds(thread, of_grid);
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
  std::vector<std::int64_t> ScopesOf(AgentId thread);
  void Makes(bool of_grid, const std::vector<std::int64_t>& ended);
  void Finds(AgentId thread, bool of_grid);
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

#endif  // PALLADION_EMU_THREADS_THREAD_TOUCHES_H_
