// The machine port: everything a step may ask of its machine, one virtual call for each request. Requests are structs
// of the headers beside this one; whoever implements Machine checks them in a stated order (bounds first) and moves the
// bytes. One door, so a rule exists once. Limits: barriers, semaphores and fences have a port of their own so far
// (thread_port.h).
#ifndef PALLADION_SEMANTICS_PORT_MACHINE_H_
#define PALLADION_SEMANTICS_PORT_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "semantics/base/finding.h"
#include "semantics/port/access.h"
#include "semantics/port/async.h"
#include "semantics/port/sync.h"

namespace palladion {

class Machine {
 public:
  virtual ~Machine() = default;

  // The agent's next program starts here: what it does until the next call is that program's.
  virtual void BeginProgram(absl::Span<const std::int64_t> grid_index) = 0;

  // New memory, poisoned. ResourceExhausted when there is not enough.
  virtual absl::StatusOr<BufferId> Alloc(const AllocRequest& request) = 0;
  virtual void Free(BufferId buffer) = 0;
  virtual void Poison(BufferId buffer) = 0;  // its contents are undefined from here on

  virtual void Load(const BoxAccess& access, std::byte* value) = 0;
  virtual void Load(const PointAccess& access, std::byte* value) = 0;
  virtual void Store(const BoxAccess& access, const std::byte* value) = 0;
  virtual void Store(const PointAccess& access, const std::byte* value) = 0;

  // Lanes one after another, in row-major order. `compare` and `old` may be null.
  virtual void Atomic(const PointAccess& access, AtomicFn fn, const std::byte* operand, const std::byte* compare,
                      std::byte* old) = 0;

  // The elements where they lie, when they are dense, inside all bounds and unmasked; else nullptr, and the caller
  // loads. Valid until the next store, atomic or free.
  virtual const std::byte* Borrow(const BoxAccess& access) = 0;

  // The agent's own queue of that kind; an invalid id where this machine has none.
  virtual QueueId QueueOf(AsyncQueue queue) = 0;
  // Something that engines carry out. A machine that is done with the request when this returns leaves it as it is; one
  // that keeps it takes it. An error says what of it the machine does not have.
  virtual absl::Status Start(AsyncRequest&& request) = 0;
  // Whatever the target says is there: whoever schedules the agent has let the step begin when it was.
  virtual absl::Status Wait(const WaitTarget& target, const Site& site) = 0;

  virtual void Print(std::string line) = 0;
  virtual void Report(Finding finding) = 0;

  // A result for which hardware promises nothing, such as that of a division by zero: the mark that its elements carry.
  // The finding, whose place is the operation's, is told where one of them reaches a branch, an index or an output. 0:
  // definedness is not tracked.
  virtual std::uint8_t MarkOfValue(const Finding& finding, const Site& site) = 0;

  // Something that must be defined is not. `mark` is the undefined element's; `use` says what it is: "the predicate of
  // a branch".
  virtual void ReportUndefined(std::uint8_t mark, std::string_view use, const Site& site) = 0;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PORT_MACHINE_H_
