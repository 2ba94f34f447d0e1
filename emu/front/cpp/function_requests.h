// The requests of one thread of a FunctionKernel, of any kind: before each one the thread yields to the scheduler, with
// what the request touches and waits for; then it is carried out at once. And what happens to a thread whose request is
// refused, or that is given up.
#ifndef PALLADION_EMU_FRONT_CPP_FUNCTION_REQUESTS_H_
#define PALLADION_EMU_FRONT_CPP_FUNCTION_REQUESTS_H_

#include <string>
#include <vector>

#include "emu/front/cpp/function_machine.h"
#include "emu/kernel.h"
#include "emu/run/threads/asking.h"
#include "emu/run/threads/footprints.h"
#include "scheduler/coroutine_agent.h"

namespace palladion {

// The running agent; none for an engine's phase.
class FunctionRequests;
struct RunningThread {
  const FunctionRequests* requests = nullptr;  // the thread's
  scheduler::AgentContext* agent = nullptr;
};

class FunctionRequests {
 public:
  // All outlive it. `index` is the thread's in the grid, its own number last.
  FunctionRequests(FunctionMachine& machine, RunningThread& running, const threads::AgentsAround& around, AgentId id,
                   std::vector<std::int64_t> index);
  FunctionRequests(const FunctionRequests&) = delete;
  FunctionRequests& operator=(const FunctionRequests&) = delete;

  // The thread's function begins, as this agent.
  void Begin(scheduler::AgentContext& agent);
  // The request's place, for all that follows.
  void At(const CodePlace& place) { site_.loc = machine_.places().IdOf(place); }

  // What a request does when the thread has been given up: one whose answer matters throws. False: the request is not
  // to be carried out. Throws AgentStopped.
  enum class Answer : std::uint8_t { kNone, kMatters };
  bool Request(const threads::MemoryRequest& request, Answer answer) { return RequestTo(FootprintOf(request), answer); }
  bool Request(const threads::SyncObjectRequest& request, Answer answer) {
    return RequestTo(FootprintOf(gpu(), request), answer);
  }
  bool Request(threads::OtherRequest request, Answer answer) { return RequestTo(FootprintOf(request), answer); }
  void WaitFor(const WaitTarget& target);

  // The function has failed, at this place. Throws KernelError.
  [[noreturn]] void Refuse(const std::string& what);
  [[noreturn]] void Refuse(const absl::Status& status);
  void Expect(const absl::Status& status) {
    if (!status.ok()) Refuse(status);
  }

  AgentId id() const { return id_; }
  const std::vector<std::int64_t>& index() const { return index_; }
  std::int64_t block() const { return block_; }  // its number
  const Site& site() const { return site_; }
  FunctionMachine& machine() { return machine_; }
  threads::ThreadMachine& gpu() { return machine_.gpu(); }

 private:
  bool Request(const scheduler::Operation& operation, Answer answer);
  bool RequestTo(const scheduler::Footprint& touch, Answer answer) {
    return Request(scheduler::Operation{.footprint = touch, .loc = site_.loc}, answer);
  }
  bool GivenUp(Answer answer);

  FunctionMachine& machine_;
  RunningThread& running_;
  const AgentId id_;
  const std::vector<std::int64_t> index_;
  std::int64_t block_ = 0;
  Site site_;
  scheduler::AgentContext* agent_ = nullptr;
  threads::ThreadWait wait_;
  bool stopped_ = false;
  int silent_ = 0;  // requests since then
};

}  // namespace palladion

#endif  // PALLADION_EMU_FRONT_CPP_FUNCTION_REQUESTS_H_
