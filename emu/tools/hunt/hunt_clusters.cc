#include "emu/tools/hunt/hunt_clusters.h"

#include "emu/tools/hunt/hunt_patterns.h"

namespace palladion::hunt {
namespace {

class Patterns final : public PatternMaker {
 public:
  using PatternMaker::PatternMaker;

  void Add() {
    switch (Below(6)) {
      case 0:
        return Once();
      case 1:
        return Again(/*meets=*/Below(3) > 0);
      case 2:
        return TwoThreads();
      case 3:
        return WithAnArrival();
      case 4:
        return OverWhatWasRead();
      default:
        return SendOn();
    }
  }

 private:
  int threads() const { return static_cast<int>(kernel_.agents.size()) / kernel_.blocks; }
  static Op Copy(int row, int to, int barrier) {
    return {.what = What::kMulticast, .object = barrier, .row = row, .to = to};
  }
  Op Load(int row) {
    const Part part = Below(2) == 0 ? Part::kRow : static_cast<Part>(Below(5));
    return {.what = What::kLoad, .array = Array::kShared, .part = part, .row = row};
  }
  Op Store(int row) { return {.what = What::kStore, .array = Array::kShared, .row = row, .amount = 600 + Below(90)}; }

  // The same in that thread of each block.
  void Each(int thread, const std::vector<Op>& ops) {
    for (int block = 0; block < kernel_.blocks; ++block) {
      std::vector<Op>& agent = body_[static_cast<std::size_t>(block * threads() + thread)];
      agent.insert(agent.end(), ops.begin(), ops.end());
    }
  }
  // All blocks come, by that thread; where blocks have two, the other one comes by a barrier of the block.
  void Meet(int thread) {
    const int barrier = Barrier(0);
    Each(thread, {On(What::kArrive, barrier), On(What::kWait, barrier)});
  }

  void Once() {
    const int row = Row(), to = Row(), barrier = Barrier(1), thread = Below(threads()), reader = Below(threads());
    Each(thread, {Copy(row, to, barrier)});
    Each(reader, {On(What::kWait, barrier), Load(to)});
    if (Below(2) == 0) Meet(thread);
  }
  // The slot again: no thread may still read it, in either block.
  void Again(bool meets) {
    const int to = Row(), barrier = Barrier(1), thread = Below(threads());
    Each(thread, {Copy(Row(), to, barrier), On(What::kWait, barrier), Load(to)});
    if (meets) Meet(thread);
    if (Below(2) == 0) Each(thread, {Fence()});
    Each(thread, {Copy(Row(), to, barrier), On(What::kWait, barrier), Load(to)});
  }
  // Two threads, or one twice, complete a phase together.
  void TwoThreads() {
    const int barrier = Barrier(2), other = threads() - 1;
    Each(0, {Copy(Row(), 0, barrier)});
    Each(other, {Copy(Row(), 1, barrier)});
    Each(0, {On(What::kWait, barrier), Load(Row())});
    if (other > 0 && Below(2) == 0) Each(other, {On(What::kWait, barrier), Load(Row())});
  }
  // A phase of a copy and of a thread's own arrival.
  void WithAnArrival() {
    const int barrier = Barrier(2), to = Row(), other = (to + 1) % kernel_.rows, thread = threads() - 1;
    Each(0, {Copy(Row(), to, barrier)});
    Each(thread, {Store(other), On(What::kArrive, barrier)});
    Each(0, {On(What::kWait, barrier), Load(to), Load(other)});
  }
  // What a block has stored is overwritten by the next copy.
  void OverWhatWasRead() {
    const int to = Row(), barrier = Barrier(1), thread = Below(threads());
    Each(thread, {Store(to)});
    if (Below(2) == 0) Each(thread, {Load(to)});
    Each(thread, {Fence()});
    if (Below(3) > 0) Meet(thread);
    Each(thread, {Copy(Row(), to, barrier), On(What::kWait, barrier), Load(to)});
  }
  // What has come goes out again.
  void SendOn() {
    const int to = Row(), barrier = Barrier(1), thread = Below(threads());
    Each(thread, {Copy(Row(), to, barrier), On(What::kWait, barrier)});
    const int block = Below(kernel_.blocks);
    std::vector<Op>& agent = body_[static_cast<std::size_t>(block * threads() + thread)];
    agent.push_back({.what = What::kCopyOut, .row = to, .to = Row()});
    agent.push_back({.what = What::kAwait, .amount = 0, .flag = Below(3) == 0});
    if (Below(2) == 0) Meet(thread);
  }
};

}  // namespace

void MakeCluster(scheduler::Random* random, HuntKernel* kernel) {
  const std::size_t threads = 1 + random->Below(2);
  kernel->family = random->Below(3) == 0 && threads == 1 ? Family::kBlocks : Family::kThreads;
  kernel->target = "mosaic_gpu/h100";
  kernel->blocks = 2;
  kernel->cluster = kernel->shared = true;
  kernel->unions = false;
  kernel->window = -1;
  kernel->agents.assign(2 * threads, {});
}

void ClusterPattern(scheduler::Random* random, HuntKernel* kernel, std::vector<std::vector<Op>>* body) {
  Patterns(random, kernel, body).Add();
}

}  // namespace palladion::hunt
