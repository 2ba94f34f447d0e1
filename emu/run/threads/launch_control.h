// Cluster launch control: which clusters of the grid have begun, which will not run because another one has taken their
// work, and what became of each answer. Work that is lost or done twice, and a request after a refusal, are found here.
// Based on: clusterlaunchcontrol.try_cancel in PTX and "Work Stealing with Cluster Launch Control" in the CUDA C++
// Programming Guide. Also while clusters wait a request may be refused (one of higher priority begins), and a new
// request after a refusal is undefined. Each device has its own grid, whose work only its own clusters take. Limits:
// the schedule decides when an answer comes, and which (answer_agent.h).
#ifndef PALLADION_EMU_RUN_THREADS_LAUNCH_CONTROL_H_
#define PALLADION_EMU_RUN_THREADS_LAUNCH_CONTROL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "emu/run/threads/async_operations.h"
#include "emu/run/threads/block_memory.h"
#include "emu/run/threads/sync_arrays.h"
#include "semantics/port/launch_control.h"

namespace palladion::threads {

// A thread has read an answer that gives it work.
struct AnswerReading {
  AgentId thread;
  std::size_t serial = 0;  // the answer's
  std::int64_t cluster = 0;
  CodeSite site = {};
};

// An answer that a request may get: a cluster's number, or a refusal.
using WorkChoice = std::optional<std::int64_t>;

class LaunchControl {
 public:
  // All outlive it.
  LaunchControl(const MachineBase& base, SyncArrays& syncs, BlockMemory& memory, AsyncOperations& operations)
      : base_(base), syncs_(syncs), memory_(memory), operations_(operations) {}
  LaunchControl(const LaunchControl&) = delete;
  LaunchControl& operator=(const LaunchControl&) = delete;

  void Use() { used_ = true; }  // the kernel asks for work; before the first thread begins
  bool used() const { return used_; }
  void OfferAll() { all_ = true; }  // Choices are all that there are: for searches

  // A thread of the cluster begins. False: its work has been taken, and it does not run.
  bool Begin(std::int64_t cluster);

  // A thread does its part of a request; the first thread of the cluster's first block makes it, or where each thread
  // makes its own, that thread in the first block.
  absl::Status Try(AgentId thread, const CancelRequest& request, const Site& site);
  bool asking() const { return asking_; }  // the operation that is started now is such a request

  // Which answers one of the thread may get now: each cluster of its device that has not begun, or of many the first,
  // the middle and the last; and a refusal. The first of them is what undisturbed hardware does.
  std::vector<WorkChoice> Choices(AgentId thread) const;
  // The request that is performed next gets this answer; where that cluster has begun since, or was taken, one after it
  // on its device that waits.
  void Answer(WorkChoice choice);

  // What an answer says to the thread.
  CancelAnswer Read(AgentId thread, const std::byte* bytes, const Site& site);

  // Called for each that gives work, but where a thread reads one again at the same line.
  void OnRead(std::function<void(const AnswerReading&)> on_read) { on_read_ = std::move(on_read); }
  // The work of an answer is done again: by which agent and at which second reading, where it was read first, and which
  // output says so.
  void ReportTwice(const AnswerReading& again, const CodeSite& first, std::string_view output);

  void End();  // the kernel has ended: work that no block got is lost

 private:
  enum class State : std::uint8_t { kWaits, kBegun, kTaken };
  struct Given {  // an answer
    WorkChoice work;
    CodeSite requested_at;
    std::vector<std::pair<AgentId, int>> readers;  // the agents that have read it, and at which line
  };

  State StateOf(std::int64_t cluster) const;
  void SetState(std::int64_t cluster, State state);
  std::int64_t ClustersOfDevice() const;
  WorkChoice NextWaiting(std::int64_t from) const;
  AsyncRequest RequestFor(AgentId thread, const CancelRequest& request, const Site& site);
  void Give(const CodeSite& requested_at, std::vector<AsyncValue>* results);
  void ReportEachAlong(std::string_view axes, const CodeSite& site);
  void Report(std::string message, std::string fix, const CodeSite& site);
  std::string NameOfWork(std::int64_t cluster) const;

  const MachineBase base_;
  SyncArrays& syncs_;
  BlockMemory& memory_;
  AsyncOperations& operations_;
  bool used_ = false, all_ = false;
  std::vector<State> states_;      // by cluster, as far as any is known of
  std::size_t first_waiting_ = 0;  // none before it waits
  std::vector<Given> given_;       // by serial number
  WorkChoice answer_;              // of the request that is performed next
  bool asking_ = false;
  std::function<void(const AnswerReading&)> on_read_;
  std::set<AgentId> refused_;  // threads that know that there is no work
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_LAUNCH_CONTROL_H_
