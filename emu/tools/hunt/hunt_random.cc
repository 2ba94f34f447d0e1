#include "emu/tools/hunt/hunt_random.h"

#include <algorithm>
#include <set>
#include <utility>

#include "emu/tools/hunt/hunt_clusters.h"
#include "emu/tools/hunt/hunt_credits.h"
#include "emu/tools/hunt/hunt_damage.h"
#include "emu/tools/hunt/hunt_dress.h"
#include "emu/tools/hunt/hunt_loops.h"
#include "emu/tools/hunt/hunt_patterns.h"
#include "emu/tools/hunt/hunt_tensor.h"
#include "emu/tools/hunt/hunt_tpu.h"
#include "emu/tools/hunt/hunt_warps.h"
#include "scheduler/policies/random.h"

namespace palladion::hunt {
namespace {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15 + 1) {}

  HuntKernel Make(Kernels which) {
    kernel_ = RandomSizes(&random_);
    spins_ = which == Kernels::kLoops;
    if (which == Kernels::kTensor) AddTensor(&kernel_);
    clusters_ = which == Kernels::kClusters;
    if (clusters_) MakeCluster(&random_, &kernel_);
    warps_ = which == Kernels::kWarps;
    if (warps_) MakeThreadsOfWarps(&random_, &kernel_);
    Body(&kernel_.agents, 3);
    if (kernel_.shared && !clusters_ && !warps_ && Below(10) == 0) {
      kernel_.later.resize(kernel_.agents.size());
      Body(&kernel_.later, 1);
    }
    Dress(&random_, &kernel_);
    if (warps_) KeepToWarps(&kernel_);
    if (kernel_.tensor) OrderTensor(&random_, &kernel_);
    return kernel_;
  }

 private:
  void Body(std::vector<std::vector<Op>>* agents, int most) {
    body_ = agents;
    if (Below(8) == 0) {
      for (std::vector<Op>& agent : *agents) {
        for (int n = 2 + Below(5); n > 0; --n) agent.push_back(AnyOp());
      }
    } else {
      for (int n = 1 + Below(most) / 2 + (most > 1 && Below(3) == 0); n > 0; --n) Pattern();
    }
    for (int n = Below(3); n > 0; --n) Damage();
  }

  int Below(int n) { return hunt::Below(&random_, n); }
  std::vector<Op>& Agent(int i) { return (*body_)[static_cast<std::size_t>(i)]; }
  int agents() const { return static_cast<int>(kernel_.agents.size()); }
  int Row() { return Below(kernel_.rows); }
  std::int64_t Number() { return 100 + 2 * ++numbers_ + Below(2); }

  // Threads of a block often share memory of the block; others have global memory only.
  Array Shared() {
    if (kernel_.cluster && kernel_.family == Family::kBlocks) return Below(3) == 0 ? Array::kPeer : Array::kShared;
    if (kernel_.family != Family::kThreads) return Array::kM;
    if (kernel_.unions && Below(2) == 0) return Array::kUnion;
    if (kernel_.cluster && Below(4) == 0) return Array::kPeer;
    return Below(4) == 0 ? Array::kM : Array::kShared;
  }
  int Barrier(int arrivals) { return DrawBarrier(&random_, &kernel_, arrivals); }
  int Semaphore() {
    if (kernel_.semaphores < 2 && Below(2) == 0) ++kernel_.semaphores;
    if (kernel_.semaphores == 0) ++kernel_.semaphores;
    return Below(kernel_.semaphores);
  }

  Op Store(Array array, int row, Part part = Part::kRow) {
    return {.what = What::kStore, .array = array, .part = part, .row = row, .amount = Below(4) == 0 ? 0 : Number()};
  }
  static Op Load(Array array, int row, Part part = Part::kRow) {
    return {.what = What::kLoad, .array = array, .part = part, .row = row};
  }
  Part AnyPart() { return Below(2) == 0 ? Part::kRow : static_cast<Part>(Below(5)); }
  static Op On(What what, int object, std::int64_t amount = 1) {
    return {.what = what, .object = object, .amount = amount};
  }
  static Op Fence() { return {.what = What::kFence}; }
  static Op CopyIn(int row, int to, int barrier) {
    return {.what = What::kCopyIn, .object = barrier, .row = row, .to = to};
  }
  static Op CopyOut(int row, int to) { return {.what = What::kCopyOut, .row = row, .to = to}; }
  Op Await(int n) { return {.what = What::kAwait, .amount = n, .flag = Below(3) == 0}; }
  Op AnyOp() {
    const bool programs = kernel_.family == Family::kPrograms;
    if (kernel_.tensor && Below(2) == 0) return AnyTensorOp(&random_, &kernel_);
    const int row = Row();
    switch (Below(programs ? 7 : 17)) {
      case 0:
      case 1:
        return Store(Shared(), row, AnyPart());
      case 2:
      case 3:
        return Load(Shared(), row, AnyPart());
      case 4:
        return {.what = What::kAtomicAdd, .array = Shared(), .part = AnyPart(), .row = row, .amount = Number()};
      case 5:
        return Atomic(row);
      case 6:
        return {.what = What::kIf, .body = {Store(Array::kM, row)}, .otherwise = {Load(Array::kM, Row())}};
      case 7:
        return Fence();
      case 8:
        return CopyIn(row, Row(), Barrier(1));
      case 9:
        return CopyOut(row, Row());
      case 10:
        return Await(Below(2));
      case 11:
      case 12:
        return On(What::kArrive, Barrier(1 + Below(2)));
      case 13:
        return On(What::kWait, Barrier(1 + Below(2)));
      case 14:
        return On(What::kTest, Barrier(1));
      case 15:
        return On(What::kSignal, Semaphore());
      default:
        return On(Below(2) == 0 ? What::kSemWait : What::kSemRead, Semaphore());
    }
  }
  Op Atomic(int row) {
    const bool programs = kernel_.family == Family::kPrograms;
    const What what = !programs ? What::kAtomicAdd : Below(2) == 0 ? What::kAtomicSee : What::kExchange;
    return {.what = what,
            .array = Array::kM,
            .part = Below(2) == 0 ? Part::kRow : Part::kFirst,
            .row = row,
            .amount = Number()};
  }
  int threads() const { return agents() / kernel_.blocks; }  // of a block
  void Pattern() {
    if (kernel_.tensor && Below(4) > 0) return TensorPattern(&random_, &kernel_, body_);
    if (warps_ && Below(4) > 0) return WarpPattern(&random_, &kernel_, body_);
    if (clusters_ && Below(4) > 0) return ClusterPattern(&random_, &kernel_, body_);
    const int from = Below(agents()), any = (from + (agents() > 1 ? 1 + Below(agents() - 1) : 0)) % agents();
    if (spins_ && Below(2) == 0) return WaitInALoop(&random_, &kernel_, &Agent(from), &Agent(any));
    if (kernel_.family == Family::kPrograms) return ProgramPattern(from, any);
    if (kernel_.blocks > 1 && Below(3) > 0 && !kernel_.cluster) return SemaphoreHandoff(from, any);
    const int first = from / threads() * threads();  // of the block: barriers are its own
    const int to = first + (from - first + (threads() > 1 ? 1 + Below(threads() - 1) : 0)) % threads();
    if (kernel_.cluster && Below(2) == 0) return AcrossCluster();
    switch (Below(12)) {
      case 0:
      case 1:
        return Handoff(from, to);
      case 9:
      case 10:
        return Rounds();
      case 11:
        return LoadTogether(from, to);
      case 2:
        return Ring(from, to);
      case 3:
        return LoadByCopy(from, to);
      case 4:
      case 5:
        return StoreByCopy(from, to);
      case 6:
        return SemaphoreHandoff(from, to);
      case 7:
        return Together();
      default:
        return OwnRows();
    }
  }

  void Handoff(int from, int to) {
    const Array array = Shared();
    const int row = Row(), barrier = Barrier(1);
    Agent(from).push_back(Store(array, row));
    Agent(from).push_back(On(What::kArrive, barrier));
    Agent(to).push_back(On(Below(8) == 0 ? What::kTest : What::kWait, barrier));
    Agent(to).push_back(Load(array, row, AnyPart()));
  }
  void Ring(int from, int to) {
    const Array array = Shared();
    const int row = Row(), full = Barrier(1), empty = Barrier(1);
    const std::vector<Op> put = {Store(array, row), On(What::kArrive, full), On(What::kWait, empty)};
    const std::vector<Op> take = {On(What::kWait, full), Load(array, row), On(What::kArrive, empty)};
    if (Below(2) == 0) {
      Agent(from).push_back({.what = What::kLoop, .body = put});
      Agent(to).push_back({.what = What::kLoop, .body = take});
    } else {
      Agent(from).insert(Agent(from).end(), put.begin(), put.end());
      Agent(to).insert(Agent(to).end(), take.begin(), take.end());
      Agent(from).push_back(Store(array, row));
    }
  }
  void LoadByCopy(int from, int to) {
    const int row = Row(), barrier = Barrier(1);
    Agent(from).push_back(CopyIn(Row(), row, barrier));
    Agent(to).push_back(On(What::kWait, barrier));
    Agent(to).push_back(Load(Array::kShared, row, AnyPart()));
    if (Below(3) == 0) {  // the slot again
      Agent(to).push_back(Fence());
      Agent(to).push_back(CopyIn(Row(), row, barrier));
      Agent(to).push_back(On(What::kWait, barrier));
      Agent(to).push_back(Load(Array::kShared, row));
    }
  }

  void StoreByCopy(int from, int to) {
    const int row = Row(), there = Row(), barrier = Barrier(1);
    Agent(from).push_back(Store(Array::kShared, row));
    Agent(from).push_back(Fence());
    if (from != to && Below(2) == 0) {  // another thread sends it
      Agent(from).push_back(On(What::kArrive, barrier));
      Agent(to).push_back(On(What::kWait, barrier));
      std::swap(from, to);
    }
    Agent(from).push_back(CopyOut(row, there));
    if (Below(3) == 0) {
      Agent(from).push_back(CopyOut(row, Row()));
      Agent(from).push_back(Await(1));
    }
    Agent(from).push_back(Await(0));
    if (Below(2) == 0) Agent(from).push_back(Below(2) == 0 ? Store(Array::kShared, row) : Load(Array::kM, there));
  }
  void SemaphoreHandoff(int from, int to) {
    const Array array = kernel_.family == Family::kThreads ? Shared() : Array::kM;
    const int row = Row(), semaphore = Semaphore(), amount = 1 + Below(2);
    Agent(from).push_back(Store(array, row));
    Agent(from).push_back(On(What::kSignal, semaphore, amount));
    Agent(to).push_back(On(Below(8) == 0 ? What::kSemRead : What::kSemWait, semaphore, amount));
    if (Below(8) == 0) Agent(to).back().flag = true;
    Agent(to).push_back(Load(array, row, AnyPart()));
  }

  // Barriers that several complete, for several rounds.
  void Rounds() {
    const int arrivals = 1 + Below(std::min(threads(), 3)), first = Barrier(arrivals);
    const int second = Below(2) == 0 ? first : Barrier(arrivals);
    const Array array = Shared();
    const int row = Row();
    for (int round = 0; round < 2; ++round) {
      const int barrier = round == 0 ? first : second, writer = Below(threads());
      for (int i = 0; i < agents(); ++i) {
        const bool writes = i % threads() == writer, waits = Below(6) > 0;
        if (writes) Agent(i).push_back(Store(array, row));
        if (arrivals == 1 ? writes : i % threads() < arrivals) Agent(i).push_back(On(What::kArrive, barrier));
        if (waits) Agent(i).push_back(On(What::kWait, barrier));
        if (!writes && Below(2) == 0) Agent(i).push_back(Load(array, row, AnyPart()));
      }
    }
  }

  // A copy and a thread complete one phase.
  void LoadTogether(int from, int to) {
    const int row = Row(), barrier = Barrier(2), other = (row + 1) % kernel_.rows;
    Agent(from).push_back(CopyIn(Row(), row, barrier));
    Agent(to).push_back(Store(Array::kShared, other));
    Agent(to).push_back(On(What::kArrive, barrier));
    for (const int i : {from, to}) {
      if (i == to && from == to && Below(2) == 0) break;
      Agent(i).push_back(On(What::kWait, barrier));
      Agent(i).push_back(Load(Array::kShared, Below(2) == 0 ? row : other));
      if (from == to) break;
    }
  }

  // Each block writes the other's shared memory, or its own, and they meet.
  void AcrossCluster() {
    const bool peers = Below(2) == 0;
    const int row = Row(), barrier = Barrier(0);
    for (int i = 0; i < agents(); i += threads()) Agent(i).push_back(Store(peers ? Array::kPeer : Array::kShared, row));
    for (int i = 0; i < agents(); i += threads()) {
      Agent(i).push_back(On(What::kArrive, barrier));
      Agent(i).push_back(On(What::kWait, barrier));
      Agent(i).push_back(Load(peers ? Array::kShared : Array::kPeer, row, AnyPart()));
    }
    if (Below(2) == 0) {
      const int end = Barrier(0);
      for (int i = 0; i < agents(); i += threads()) {
        Agent(i).push_back(On(What::kArrive, end));
        Agent(i).push_back(On(What::kWait, end));
      }
    }
  }

  // All write, all come together, all read.
  void Together() {
    const Array array = Shared();
    const int barrier = Barrier(std::min(threads(), 2));
    for (int i = 0; i < agents(); ++i) {
      const int me = i % threads();
      const Part part = threads() == 1 ? Part::kRow : me == 0 ? Part::kLow : Part::kHigh;
      if (me < 2) Agent(i).push_back(Store(array, 0, part));
      if (me < 2) Agent(i).push_back(On(What::kArrive, barrier));
      Agent(i).push_back(On(What::kWait, barrier));
      Agent(i).push_back(Load(array, 0, AnyPart()));
    }
  }
  void OwnRows() {
    for (int i = 0; i < agents(); ++i) {
      const int row = std::min(i, kernel_.rows - 1);
      const Array array = Below(2) == 0 ? Array::kM : Array::kShared;
      if (array == Array::kShared) Agent(i).push_back(Store(array, row));
      Agent(i).push_back(Load(array, row));
      if (Below(2) == 0) Agent(i).push_back(Store(Array::kM, row));
    }
  }

  void ProgramPattern(int from, int to) {
    const int row = Row(), other = (row + 1) % kernel_.rows;
    switch (Below(6)) {
      case 0:
        return OwnRowsOfM();
      case 1:  // both add
        for (const int i : {from, to})
          Agent(i).push_back({.what = What::kAtomicAdd, .part = AnyPart(), .row = row, .amount = Number()});
        return;
      case 2:  // a flag, looked at once
        Agent(from).push_back(Store(Array::kM, row));
        Agent(from).push_back({.what = What::kExchange, .part = Part::kFirst, .row = other, .amount = 1});
        Agent(to).push_back({.what = What::kAtomicSee, .part = Part::kFirst, .row = other, .amount = 2});
        Agent(to).push_back({.what = What::kIf, .body = {Load(Array::kM, row)}, .otherwise = {}});
        return;
      case 3:
        Agent(from).push_back(Store(Array::kM, row, Part::kLow));
        Agent(to).push_back(Store(Array::kM, row, Part::kHigh));
        return;
      case 4:
        Agent(from).push_back(Load(Array::kX, row));
        Agent(from).push_back(
            {.what = What::kIf, .body = {Store(Array::kM, row)}, .otherwise = {Load(Array::kM, other)}});
        return;
      default:
        Agent(from).push_back(Atomic(row));
        Agent(to).push_back(Load(Array::kM, row, AnyPart()));
    }
  }
  void OwnRowsOfM() {
    for (int i = 0; i < agents() && i < kernel_.rows; ++i) {
      Agent(i).push_back(Load(Array::kX, i));
      Agent(i).push_back(Store(Array::kM, i));
      if (Below(2) == 0) Agent(i).push_back(Load(Array::kM, i));
    }
  }
  // One mistake.
  void Damage() {
    std::vector<Op>* at_ops = &Agent(Below(agents()));
    for (Op& op : *at_ops) {
      if (!op.body.empty() && Below(2) == 0) {
        at_ops = &op.body;
        break;
      }
    }
    const Changes changes{
        .own = 2, .change = [this](int kind, Op* op) { Change(kind, op); }, .any = [this] { return AnyOp(); }};
    DamageOne(&random_, changes, at_ops);
  }
  void Change(int kind, Op* op) {
    static const std::set<What> kOfNoBarrier = {What::kSignal, What::kSemWait,     What::kSemRead,
                                                What::kSpin,   What::kNamedArrive, What::kNamedSync};
    if (kind == 0) {
      op->row = Row();
    } else if (!kernel_.arrivals.empty() && kOfNoBarrier.count(op->what) == 0) {
      op->object = Below(static_cast<int>(kernel_.arrivals.size()));
    }
  }

  scheduler::Random random_;
  HuntKernel kernel_;
  std::vector<std::vector<Op>>* body_ = nullptr;  // that is made
  int numbers_ = 0;
  bool spins_ = false;     // have some patterns loops that wait?
  bool clusters_ = false;  // copies of two blocks together?
  bool warps_ = false;     // or meshes of warps?
};

}  // namespace

HuntKernel RandomKernel(std::uint64_t number, Kernels which) {
  const std::uint64_t seed = StreamOf(number);
  if (which == Kernels::kPipelines) return RandomPipeline(seed);
  if (which == Kernels::kCredits) return RandomCredits(seed);
  return which == Kernels::kTpu ? RandomTpuKernel(seed) : Generator(seed).Make(which);
}

}  // namespace palladion::hunt
