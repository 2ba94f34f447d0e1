// What the reference machine says of what happens, in the order in which it does; for the slow race checker.
#ifndef PALLADION_EMU_TOOLS_HUNT_REFERENCE_LISTENER_H_
#define PALLADION_EMU_TOOLS_HUNT_REFERENCE_LISTENER_H_

#include <compare>
#include <cstdint>

namespace palladion::hunt {

// A block of 64 elements is two cells: its first element, and the others.
struct CellSpan {
  int cells[4] = {};
  int count = 0;
};

enum class Access : std::uint8_t { kRead, kWrite, kUpdate };

// Of a barrier; from here on of where a mesh of warps begins or ends.
inline constexpr int kMeshes = 1000;
struct Phase {
  int barrier = 0, number = 0;
  friend auto operator<=>(const Phase&, const Phase&) = default;
};

// `who` is an agent, or agents + the number of a copy.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void Touch(int who, Access access, const CellSpan& cells, int line) = 0;
  // `queue`: of its copies out; -1: it is none.
  virtual void Issue(int agent, int copy, int queue) = 0;
  virtual void Fence(int agent) = 0;
  // `tensor_core`: what it knows of tensor memory, too.
  virtual void Arrive(int who, const Phase& at, bool tensor_core) = 0;
  virtual void Wait(int agent, const Phase& at) = 0;
  virtual void Signal(int agent, int semaphore, std::int64_t amount) = 0;
  virtual void SemWait(int agent, int semaphore, std::int64_t amount, bool take) = 0;
  virtual void SemRead(int agent, int semaphore) = 0;
  // A copy has done so many halves, and its semaphore counts it.
  virtual void Credit(int copy, int halves, int semaphore, std::int64_t amount) = 0;
  // Of a queue's copies out, the first `count` are known: their reading, or both halves.
  virtual void Await(int agent, int queue, int count, int halves) = 0;
  // A copy begins when an earlier one is over, and knows it.
  virtual void Follow(int copy, int earlier) = 0;
  // The agent has waited for all of a copy.
  virtual void Complete(int agent, int copy) = 0;
  // Before and after an atomic update: what it learns from earlier ones, and what it tells.
  virtual void Acquire(int agent, const CellSpan& cells) = 0;
  virtual void Release(int agent, const CellSpan& cells) = 0;
};

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_REFERENCE_LISTENER_H_
