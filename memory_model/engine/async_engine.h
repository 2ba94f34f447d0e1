// Asynchronous operations (semantics/port/async.h). Each has a read phase and a write phase; the phases that may happen
// next are a list from which the scheduler chooses. Hardware writes in pieces, but more phases are not needed: an
// access that could see one piece without another races with the phase, which the clocks find. Values carry marks of
// undefined elements, where the run tracks that. Based on what the hardware documents promise: nothing about the order
// of phases, except for queues that are ordered. What it does not know: where bytes lie (Machine moves them), clocks
// and races (ConcurrencyModel), time.
#ifndef PALLADION_MEMORY_MODEL_ENGINE_ASYNC_ENGINE_H_
#define PALLADION_MEMORY_MODEL_ENGINE_ASYNC_ENGINE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "memory_model/order/fence_rule.h"
#include "memory_model/sync/barrier.h"
#include "memory_model/sync/semaphore.h"
#include "semantics/base/live_table.h"
#include "semantics/port/async.h"

namespace palladion::memory_model {

enum class QueueOrder : std::uint8_t {
  kNone,     // a TPU's DMAs
  kHalves,   // reads happen in the order of issue, and so do writes; that orders no accesses (groups of TMA stores)
  kLanding,  // writes happen in the order of issue, and a completion of one covers all before it (ordered links)
  kIssued,   // nothing but what operations say of themselves (AsyncRequest::pipelined), and no groups (tcgen05)
  kSerial,   // each operation is complete, and visible to the next, before that begins (wgmma, one accumulator)
};

// One choice of the scheduler.
struct PendingHalf {
  AgentId operation;
  Half half = Half::kRead;
  friend bool operator==(const PendingHalf& a, const PendingHalf& b) {
    return a.operation == b.operation && a.half == b.half;
  }
};

class AsyncEngine {
 public:
  QueueId AddQueue(QueueOrder order);
  QueueOrder OrderOf(QueueId queue) const { return queues_[queue].order; }
  void Retire(QueueId queue);  // nothing of it is in flight, and no wait for it will come
  std::size_t queues() const { return queues_.live(); }

  // From here on values carry marks, as the machine's memory does then too. Before the first operation.
  void TrackDefinedness() { tracked_ = true; }

  // From here on the machine moves no byte (Memory::MoveNothing): functions between operands are not called, and values
  // have no bytes. Before the first operation.
  void MoveNothing() { moves_ = false; }

  // InvalidArgument: masks; a source that reduces; a completion after a half that there is not; sizes that do not fit
  // without a function.
  static absl::Status Check(const AsyncRequest& request);
  AsyncRequest NewRequest();  // Machine::NewRequest
  void Start(AgentId operation, AgentId issuer, AsyncRequest request);
  // It begins when these are complete. Before its first half.
  void Follow(AgentId operation, std::vector<AgentId> earlier);
  // Can operations keep it from beginning that are not of its own queue?
  bool FollowsOutsideItsQueue(AgentId operation) const;

  bool CanPerform(const PendingHalf& half) const;  // is it one of Pending()?
  // In the order of issue.
  std::vector<PendingHalf> Pending() const;

  // Moves the bytes of one of Pending().
  struct Performed {
    std::vector<Completion> due;  // now
    CodeSite site;
    QueueId queue;
    std::size_t parts = 1;  // AsyncRequest::parts
  };
  Performed Perform(const PendingHalf& half, Machine* memory);

  // Operations that have still to read this memory; and such a one takes what it will have read from there as it is
  // now, for the emulator is about to change it where hardware does not. When it reads stays as it was.
  std::vector<AgentId> ToRead(BufferId buffer) const;
  void ReadAhead(AgentId operation, Machine* memory);

  bool Done(AgentId operation, Half half) const;
  const AsyncRequest& RequestOf(AgentId operation) const { return Find(operation)->request; }  // while it is in flight

  // What is kept of an operation that is done, until it is forgotten.
  struct Record {
    AgentId id, issuer;
    std::optional<Half> must_await = Half::kWrite;
    // So many halves, as clocks count them.
    std::uint32_t awaited_halves() const {
      return must_await.has_value() ? static_cast<std::uint32_t>(*must_await) : 0;
    }
    CodeSite site;
  };
  const std::vector<Record>& finished() const { return finished_; }
  std::vector<Record> Unfinished() const;

  // Groups, which a thread waits for by how many may still be in flight.
  void CommitGroup(QueueId queue);
  bool IsUncommitted(AgentId operation) const;  // it is of an uncommitted group
  bool IsInGroup(AgentId operation) const;      // only its issuer can have waited for it, and has not for all of it
  bool GroupsDone(QueueId queue, std::size_t may_remain, Half half) const;
  std::size_t Groups(QueueId queue) const { return queues_[queue].groups.size(); }
  // The operations of all groups but the newest `may_remain`.
  std::vector<AgentId> GroupsBut(QueueId queue, std::size_t may_remain) const;
  // The waiter for the groups of the queue has acquired all but the newest: they need not be acquired again.
  void DropGroupsBut(QueueId queue, std::size_t may_remain);

  // Of all queues: the operations whose releases may still be needed. Sorted.
  std::vector<AgentId> InGroups() const;
  // Operations that are done and no longer needed, sorted.
  void Forget(const std::vector<AgentId>& gone);

 private:
  using Group = absl::InlinedVector<AgentId, 2>;
  struct Queue {
    QueueOrder order = QueueOrder::kNone;
    std::deque<AgentId> in_flight;          // in the order of issue
    std::deque<AgentId> to_read, to_write;  // the same, of those whose half is not done
    Group open;                             // that is not committed
    std::deque<Group> groups;               // oldest first
  };

  struct Operation {
    Record record;
    AsyncRequest request;
    std::vector<AsyncValue> values, results;
    std::vector<AgentId> follows;
    bool has_read = false;  // or reads nothing
    bool read_ahead = false;
    bool has_written = false;
    bool done(Half half) const { return half == Half::kRead ? has_read : has_written; }
    bool done() const { return has_read && has_written; }
  };

  // Values of operations that are done, for the next ones of their sizes; and requests, for the next ones' lists. A
  // copy of an engine begins without.
  struct Spare {
    Spare() = default;
    Spare(const Spare&) {}
    Spare& operator=(const Spare&) { return *this; }
    std::vector<AsyncValue> values;
    std::vector<AsyncRequest> requests;
  };

  AsyncValue NewValue(std::size_t bytes);  // its bytes hold anything
  void Read(Operation* operation, Machine* memory);
  void Compute(Operation* operation, Machine* memory);
  void Write(Operation* operation, Machine* memory);
  void Keep(std::vector<AsyncValue>* values);
  void Keep(AsyncRequest* request);

  static void AddParts(const Operation& operation, std::vector<Record>* records);
  const Operation* Find(AgentId operation) const;
  bool MayGo(const Operation& operation, Half half) const;

  std::map<AgentId, Operation> operations_;  // in flight
  std::vector<Record> finished_;
  Spare spare_;
  LiveTable<QueueId, Queue> queues_;
  std::vector<AgentId> never_committed_;  // of queues that are retired
  bool tracked_ = false;
  bool moves_ = true;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ENGINE_ASYNC_ENGINE_H_
