// Which accesses of one run are not ordered, found the slow way: every access is kept with its agent's full clock, and
// at the end each pair is compared. No epochs, no pruning, no sweep; the test oracle of memory_model's clocks and
// histories, with which it shares nothing. Rules: docs/spec/gpu-order.md, docs/spec/races.md.
#ifndef PALLADION_EMU_TOOLS_HUNT_SIMPLE_RACES_H_
#define PALLADION_EMU_TOOLS_HUNT_SIMPLE_RACES_H_

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "emu/tools/hunt/reference_machine.h"

namespace palladion::hunt {

using LinePair = std::pair<int, int>;  // the smaller line first

class SimpleRaces final : public Listener {
 public:
  // `shared`: the first cell of shared memory. `acquires`: an atomic update acquires and releases, as Triton's do.
  // `tensor`: the cells of tensor memory.
  SimpleRaces(int agents, int shared, bool acquires, Mutation mutation = Mutation::kNone, std::set<int> tensor = {});

  void Touch(int who, Access access, const CellSpan& cells, int line) override;
  void Issue(int agent, int copy, int queue) override;
  void Fence(int agent) override;
  void Arrive(int who, const Phase& at, bool tensor_core) override;
  void Wait(int agent, const Phase& at) override;
  void Signal(int agent, int semaphore, std::int64_t amount) override;
  void SemWait(int agent, int semaphore, std::int64_t amount, bool take) override;
  void SemRead(int agent, int semaphore) override;
  void Credit(int copy, int halves, int semaphore, std::int64_t amount) override;
  void Await(int agent, int queue, int count, int halves) override;
  void Follow(int copy, int earlier) override;
  void Complete(int agent, int copy) override;
  void Acquire(int agent, const CellSpan& cells) override;
  void Release(int agent, const CellSpan& cells) override;

  std::set<LinePair> Races() const;  // conflicting accesses that nothing orders
  // Of the accesses that met an earlier one so: a checker may forget which. It may also leave out a read of what its
  // reader wrote itself, where that write and the other one are reported (docs/spec/races.md#atomics).
  enum class OwnReads : std::uint8_t { kIn, kOut };
  std::set<int> LaterLines(OwnReads own) const;
  std::set<LinePair> Unfenced() const;        // ordered, but a copy does not see the plain write
  std::set<LinePair> PlainlyOrdered() const;  // ordered, but by nothing that orders the tensor core

 private:
  using Clock = std::map<int, int>;  // agent: the time that is known
  struct Known {
    Clock all, fenced, tensor;
  };
  struct Touched {
    int who = 0, time = 0, line = 0;
    Access access = Access::kRead;
    CellSpan cells;
    Known known;
  };
  struct HeldCredit {
    std::int64_t amount = 0;
    Known known;
    bool copy = false;  // a wait that takes a part learns nothing
  };

  static void Join(const Known& released, Known* to, bool tensor_core = true);
  int CopyOf(int copy) const { return agents_ + copy; }
  bool IsCopy(int who) const { return who >= agents_; }
  int Tick(int who) { return known_[who].all[who] = ++time_[who]; }
  bool OfTensor(const Touched& touched) const { return tensor_.count(touched.cells.cells[0]) > 0; }
  static bool Knows(const Clock& clock, const Touched& touched);
  static bool Meet(const Touched& a, const Touched& b, int first_cell = 0);
  static bool Race(const Touched& a, const Touched& b) {
    return Meet(a, b) && !Knows(b.known.all, a) && !Knows(a.known.all, b);
  }
  bool ReadsOwn(const Touched& read, const Touched& write) const;

  const int agents_, shared_;
  const bool acquires_;
  const Mutation mutation_;
  const std::set<int> tensor_;
  std::map<int, Known> known_;
  std::map<int, int> time_;
  std::map<Phase, Known> phases_;  // of barriers
  std::map<int, std::deque<HeldCredit>> credits_;
  std::map<int, Known> released_;               // by cell
  std::map<int, std::vector<int>> copies_out_;  // by queue
  std::vector<Touched> touched_;
};

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_SIMPLE_RACES_H_
