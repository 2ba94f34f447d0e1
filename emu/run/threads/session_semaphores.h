// What a launch finds of those before it, and leaves to those after it: semaphores that are operands, copies that are
// still in flight on them, barrier semaphores of collective ids. Based on: docs/spec/tpu-sessions.md. Limits: between
// launches the session holds this state (emu/run/agents/session_state.h).
#ifndef PALLADION_EMU_RUN_THREADS_SESSION_SEMAPHORES_H_
#define PALLADION_EMU_RUN_THREADS_SESSION_SEMAPHORES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emu/run/agents/session_state.h"
#include "emu/run/threads/machine_base.h"
#include "emu/run/threads/sync_array.h"

namespace palladion::threads {

// What a launch has to do with those before and after it.
struct BetweenLaunches {
  const agents::LaunchArrivals* arrivals = nullptr;  // outlives the machine
  std::function<BufferId(const agents::OperandPlace&)> array_of = {};
  std::function<std::optional<agents::OperandPlace>(BufferId)> output_of = {};  // none: it is no output
};

class SessionSemaphores {
 public:
  SessionSemaphores(const MachineBase& base, BetweenLaunches between) : base_(base), between_(std::move(between)) {}

  // The array is there from here on, on that device. Of a barrier semaphore: with what earlier launches left in it.
  void Made(const SyncArray& array, std::int64_t device);
  // Of an operand: it has what earlier launches left in it, on the array's core; which copies are still in flight.
  // nullopt: none has left anything.
  std::optional<std::vector<const agents::ArrivingCopy*>> Restore(const SyncArray& array, std::int64_t device);
  // Such a copy as a request. Its bytes were read before; it writes them some time from here on, and then signals the
  // semaphore. Where none of the operands is the array that it writes, it only signals the semaphore.
  AsyncRequest RequestFor(const SyncArray& array, const agents::ArrivingCopy& copy) const;

  // An operation has been started; `resumed`: it is that copy.
  void Started(AgentId operation, const agents::ArrivingCopy* resumed) {
    if (!operands_.empty()) Note(operation, resumed);
  }

  // Nothing signals the array any more, or the kernel has come to its end: what it holds goes on.
  void HandOver(const SyncArray& array, std::int64_t device);
  // A kernel that waits for a copy has to hold the array that it writes: else its memory may be another array's by
  // then.
  void ReportLostCopies() const;
  const agents::LaunchLeft& left() const { return left_; }

 private:
  // An operation with a write phase that signals a semaphore that is an operand: what it would be to later launches.
  struct OnOperand {
    agents::LeftCopy copy;
    SemaphoreId semaphore;
    std::string into;        // the name of what it writes
    bool in_flight = false;  // no agent has waited for it
  };
  void Restore(SemaphoreId semaphore, std::int64_t count);  // what it held before the kernel
  std::int64_t cores() const { return base_.shape.cores() ? base_.shape.blocks() / base_.shape.devices() : 1; }
  // Where the array's elements are among those of all cores of its device.
  std::int64_t FirstElement(const SyncArray& array) const;
  void Note(AgentId operation, const agents::ArrivingCopy* resumed);
  void HandOverCredits(SemaphoreId semaphore, std::int64_t element, agents::LaunchLeft::Semaphores* all);

  const MachineBase base_;
  const BetweenLaunches between_;
  std::set<SemaphoreId> operands_;
  std::map<AgentId, OnOperand> on_operands_;
  agents::LaunchLeft left_;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_SESSION_SEMAPHORES_H_
