// A second, independent semantics of small kernels: a deliberately simple machine for the kernels of hunt_kernel.h, and
// a search of every order with nothing clever but a table of the states that were seen. It shares no code with
// memory_model, scheduler or the operations, so a mistake there is not repeated here. Rules: docs/spec/gpu-order.md.
// Limits: memory is sequentially consistent; copies happen in two phases, each atomic.
#ifndef PALLADION_EMU_TOOLS_HUNT_REFERENCE_MACHINE_H_
#define PALLADION_EMU_TOOLS_HUNT_REFERENCE_MACHINE_H_

#include <bitset>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "emu/tools/hunt/hunt_kernel.h"

namespace palladion::hunt {

// A mistake in an oracle, to see whether it is contradicted then.
enum class Mutation : std::uint8_t {
  kNone,
  // The slow race checker leaves out an order.
  kNoBarrierEdges,
  kNoSemaphoreEdges,
  kNoCompletions,
  kNoFences,
  kAllOrderTensor,
  kNoPipelines,
  kNoMeshes,
  // The reference machine: a wait for a semaphore takes nothing.
  kCreditsStay,
  // The one of launch control: work that is not done is not lost.
  kNothingLost,
};

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

// Gets what happens, in the order in which it does. `who` is an agent, or agents + the number of a copy.
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
  // Before and after an atomic update: what it acquires from earlier ones, and what it releases.
  virtual void Acquire(int agent, const CellSpan& cells) = 0;
  virtual void Release(int agent, const CellSpan& cells) = 0;
};

// Products and copies to tensor memory by their number: issued, as far as an agent knows.
using Issues = std::bitset<256>;

// An operation in flight, which ends later: a copy, or one of the tensor core.
struct Copy {
  int issuer = 0, sequence = 0;  // among the copies out of its queue
  int queue = -1;                // of copies out
  const Op* op = nullptr;
  What what = What::kCopyIn;  // a product that commits is two of them
  int tensor = -1;            // of Issues
  Issues known;               // of a product: what it follows; of a commit: what it releases
  int line = 0, number = 0;   // of all copies
  bool later = false;         // of the second scope
  int into = 0;               // of a multicast, which is one for each block that it writes: that block
  int halves = 0;             // that are done
  std::int64_t values[4] = {};
  unsigned undefined = 0;  // a bit for each cell
};

struct Choice {
  int agent = 0;
  int copy = -1;  // the place in State::copies: its next half; -1: the agent
};

class ReferenceMachine {
 public:
  ReferenceMachine(const HuntKernel& kernel, const Written& written, Mutation mutation = Mutation::kNone);

  void ListenWith(Listener* listener) { listener_ = listener; }

  std::vector<Choice> Choices() const;
  void Do(const Choice& choice);
  void Look(int agent);  // its loop that waits looks, and goes on if it has seen what it waits for

  // The agent's next operation that others can see; nullptr at its end.
  const Instr* Next(int agent) const;
  bool CanGo(int agent) const;
  bool Done() const;
  const std::vector<Copy>& copies() const { return copies_; }  // in flight, oldest first
  int agents() const { return static_cast<int>(sums_.size()); }

  // All that later steps depend on.
  std::string State() const;
  // Of a run that has ended: what it leaves in o and m, "deadlock" where an agent is left, "undefined" where undefined
  // data reached a branch, an index or an output, "broken" where a barrier completed twice without a wait
  // between, "stale" where a copy had memory in hand when another scope got it.
  std::string Outcome() const;
  std::vector<std::int64_t> Sums() const { return results_; }
  std::vector<std::int64_t> CellsOfM() const;
  bool lost() const { return lost_; }    // has a copy landed in a block that has ended?
  bool early() const { return early_; }  // has one landed in another phase than that which expects it?
  bool LeavesSemaphores() const;         // is one of them not zero?
  int thread_of(int agent) const { return ThreadOf(agent); }
  bool SameBlock(int agent, int other) const { return Instance(agent) == Instance(other); }
  std::set<int> CellsOfTensor() const;  // of all blocks
  int first_shared_cell() const { return tpu_ ? static_cast<int>(cells_.size()) : 2 * rows_ * 4; }

 private:
  struct BarrierState {
    int arrivals = 1, arrived = 0, completed = 0;
    std::vector<int> seen;     // by agent
    std::vector<Issues> told;  // by phase, the current one last
    std::int64_t bytes = 0;    // that the current phase expects and that have not landed
  };
  struct Value {
    std::int64_t number = 0;
    bool undefined = false;
  };

  int ThreadOf(int agent) const {
    const int threads = threads_ * blocks_;
    return agent < threads ? agent : (agent - threads) / kWarpsOfThread;
  }
  int Instance(int agent) const { return ThreadOf(agent) / threads_; }
  int BarrierOf(int agent, int object) const { return Instance(agent) * barriers_per_ + object; }
  // Where a row is, for an agent in the first or the second scope.
  struct Scoped {
    int agent = 0;
    bool later = false;
  };
  CellSpan CellsOf(const Scoped& where, Array array, int row, Part part) const;
  CellSpan CellsOf(const Scoped& where, const Op& op);
  void Settle(int agent);
  void Add(int agent, const Value& value);
  Value Read(const CellSpan& cells) const;
  void Memory(int agent, const Instr& instr);
  bool SpinEnds(int agent, const Op& op) const;
  void Sync(int agent, const Op& op);
  void ArriveAt(int who, int barrier, const Issues* told);
  void ArriveFrom(int agent, int object);
  void Complete(BarrierState* state);  // its phase, if all is there
  void TakePhase(int agent, int barrier);
  void Meet(int agent, bool enters);
  void StartCopy(int agent, const Instr& instr);
  void DoHalf(std::size_t at);
  void MoveHalf(Copy* copy, const CellSpan& cells, bool reads);  // what it reads there, or writes
  bool MayGo(const Copy& copy) const;
  bool AwaitDone(int agent, const Op& op) const;
  void NotifyAwaited(int agent, const Op& op);

  // ---- reference_warps.cc
  bool IsWarp(int agent) const { return agent >= threads_ * blocks_; }
  int WarpOf(int thread, int warp) const { return threads_ * blocks_ + kWarpsOfThread * thread + warp; }
  bool HasBegun(int agent) const { return !IsWarp(agent) || begun_[static_cast<std::size_t>(ThreadOf(agent))]; }
  bool WarpsEnded(int thread) const;
  std::vector<int> QueuesOf(int agent) const;  // of copies out: its own, or those of its warps
  void Fork(int thread);
  void Join(int thread);
  void CheckUneven(int agent, int barrier);

  // ---- reference_cluster.cc: copies of a cluster's blocks together
  // What an agent's n-th such copy expects, and the halves of it that have landed in its block.
  struct Together {
    const Op* op = nullptr;  // nullptr: it has not come to it
    int phase = -1;          // of its barrier, which expects the bytes
    int landed = 0;
  };
  Together& TogetherOf(int agent, int number);
  void StartMulticast(int agent, const Instr& instr);
  void DoMulticastHalf(std::size_t at);
  void ExpectPhase(Together* together, int phase);
  void AddClusterState(std::string* state) const;

  // ---- reference_tpu.cc: copies that semaphores count
  void AddTpuCells();
  CellSpan TpuCellsOf(int agent, Array array, int row, Part part) const;
  int SemaphoreOf(int agent, const Op& op) const;  // the number of `object` among all
  int DmaSemaphoreOf(int agent, int object) const { return agent * sems_per_ + semaphores_per_ + object; }
  void StartDma(int agent, const Instr& instr);
  void DoDmaHalf(std::size_t at);
  void Count(const Copy& copy, int semaphore, std::int64_t amount);
  static bool OfPipeline(What what) { return what >= What::kFetchStart; }
  bool InFlight(What what, int slot) const;
  void Pipeline(const Instr& instr);
  void DoPipelineHalf(std::size_t at);
  int SlotRow(bool out, int slot) const {
    return (shares_ ? 1 : blocks_) * 2 * rows_ + blocks_ * rows_ + 2 * out + slot;
  }
  CellSpan RowOfCells(int row) const { return {{4 * row, 4 * row + 1, 4 * row + 2, 4 * row + 3}, 4}; }

  // ---- reference_tensor.cc: tensor memory, and named barriers
  struct NamedState {
    int of = 1, arrived = 0, completed = 0;
    std::vector<int> here, joined;  // by agent: it has arrived at the current phase; at which it arrived last
  };
  struct TensorOp {
    int copy = 0;  // its number
    What what = What::kProduct;
    int row = 0;
  };
  int NamedOf(int agent, int object) const;
  void ArriveNamed(int agent, int object);
  void WaitNamed(int agent, int object);
  bool OrdersTensorCore(int barrier) const { return orders_[static_cast<std::size_t>(barrier % barriers_per_)]; }
  void Tensor(int agent, const Instr& instr);
  void LoadTensor(int agent, const Instr& instr);
  void StartTensor(int agent, const Instr& instr);
  void FollowEarlier(Copy* product);
  void StartCommit(int agent, const Instr& instr);
  void TellTouches(const Copy& copy);
  void DoTensorHalf(std::size_t at);
  bool TensorMayGo(const Copy& copy) const;
  void AddTensorState(std::string* state) const;

  const Written& written_;
  Mutation mutation_;
  int threads_ = 1, blocks_ = 1;  // of a block; of the kernel
  int rows_ = 0, barriers_per_ = 0;
  std::vector<int> pc_;
  std::vector<Value> sums_;
  std::vector<std::int64_t> results_;
  std::vector<Value> cells_;
  std::vector<BarrierState> barriers_;
  std::vector<bool> of_cluster_;  // by barrier of a block
  std::vector<std::int64_t> semaphores_;
  std::vector<Copy> copies_;
  std::vector<int> copies_out_;                  // issued, by queue, which is an agent's
  std::vector<bool> begun_;                      // have the thread's warps begun? By thread
  std::vector<std::vector<Together>> together_;  // by agent
  int copy_count_ = 0;
  std::vector<int> met_;  // threads that have come to the second scope, by block
  bool tensor_ = false;
  int cells_of_block_ = 0, named_per_ = 0;
  std::vector<bool> orders_;    // by barrier of a block
  std::vector<Issues> issues_;  // that each agent knows of
  std::vector<TensorOp> tensor_ops_;
  std::vector<std::vector<int>> loads_, stores_, core_;  // of each agent: its loads, stores, and what it gave the core
  std::vector<NamedState> named_;
  bool programs_ = false;              // of a grid, whose loops look at m
  bool tpu_ = false, shares_ = false;  // do its agents share m and x?
  int semaphores_per_ = 0, sems_per_ = 0;
  int in_slot_ = 0, out_slot_ = 0;
  bool leaked_ = false, broken_ = false, stale_ = false, lost_ = false, early_ = false;
  Listener* listener_ = nullptr;
};

struct Reached {
  std::set<std::string> outcomes;
  std::int64_t states = 0;
  bool complete = true;
  bool leaves = false;  // an order ends with a semaphore that is not zero
};
Reached ExploreFrom(const ReferenceMachine& machine, std::int64_t max_states);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_REFERENCE_MACHINE_H_
