#include "emu/tools/hunt/hunt_warps.h"

#include <utility>

#include "emu/tools/hunt/hunt_patterns.h"

namespace palladion::hunt {
namespace {

class Patterns final : public PatternMaker {
 public:
  using PatternMaker::PatternMaker;

  void Add() {
    thread_ = &body_[static_cast<std::size_t>(Below(static_cast<int>(body_.size())))];
    other_ = &body_[static_cast<std::size_t>(Below(static_cast<int>(body_.size())))];
    switch (Below(6)) {
      case 0:
        return StoreInWarps();
      case 1:
        return HandOver();
      case 2:
        return LoadByWarp();
      case 3:
        return SendByWarp();
      case 4:
        return Waits();
      default:
        return ToAnother();
    }
  }

 private:
  Part Point() { return Below(2) == 0 ? Part::kFirst : Part::kMiddle; }
  Op Store(int row, Part part) {
    const std::int64_t amount = Below(3) == 0 ? 0 : 400 + Below(90);
    return {.what = What::kStore, .array = Array::kShared, .part = part, .row = row, .amount = amount};
  }
  static Op Load(int row, Part part) {
    return {.what = What::kLoad, .array = Array::kShared, .part = part, .row = row};
  }
  static Op CopyIn(int row, int to, int barrier) {
    return {.what = What::kCopyIn, .object = barrier, .row = row, .to = to};
  }
  static Op CopyOut(int row, int to) { return {.what = What::kCopyOut, .row = row, .to = to}; }
  Op Await(int n) { return {.what = What::kAwait, .amount = n, .flag = Below(3) == 0}; }

  // More in the thread's mesh, which begins here if it has none.
  void InWarps(const std::vector<Op>& first, const std::vector<Op>& second) {
    Op* mesh = nullptr;
    for (Op& op : *thread_) {
      if (op.what == What::kWarps) mesh = &op;
    }
    if (mesh == nullptr) mesh = &thread_->emplace_back(Op{.what = What::kWarps});
    mesh->body.insert(mesh->body.end(), first.begin(), first.end());
    mesh->otherwise.insert(mesh->otherwise.end(), second.begin(), second.end());
    if (Below(2) == 0) std::swap(mesh->body, mesh->otherwise);
  }
  void Then(std::vector<Op>* ops, const std::vector<Op>& more) { ops->insert(ops->end(), more.begin(), more.end()); }

  // An element each, which the thread loads.
  void StoreInWarps() {
    const int row = Row();
    const Part first = Point(), second = Below(4) == 0 ? first : first == Part::kFirst ? Part::kMiddle : Part::kFirst;
    Then(thread_, {Store(row, Part::kRow)});
    InWarps({Store(row, first)}, {Store(row, second)});
    Then(thread_, {Load(row, Part::kRow)});
  }
  // From a warp to the other.
  void HandOver() {
    const int row = Row(), barrier = Barrier(1);
    const Part part = Point();
    InWarps({Store(row, part), On(What::kArrive, barrier)},
            {On(Below(6) == 0 ? What::kTest : What::kWait, barrier), Load(row, part), Store(row, Point())});
  }
  void LoadByWarp() {
    const int to = Row(), barrier = Barrier(1);
    const bool outside = Below(2) == 0;
    InWarps({CopyIn(Row(), to, barrier)}, {});
    if (outside) {
      Then(Below(2) == 0 ? thread_ : other_, {On(What::kWait, barrier), Load(to, Part::kRow)});
    } else {
      InWarps({}, {On(What::kWait, barrier), Load(to, Point())});
    }
  }
  // A wait of the warpgroup is one of each warp; that of a warp is of its own copies.
  void SendByWarp() {
    const int row = Row(), there = Row();
    Then(thread_, {Store(row, Part::kRow), Fence()});
    if (Below(3) == 0) Then(thread_, {CopyOut(row, Row())});
    std::vector<Op> sends = {CopyOut(row, there)};
    if (Below(2) == 0) sends.push_back(Await(Below(2)));
    std::vector<Op> second;
    if (Below(3) == 0) second = {CopyOut(row, Row()), Await(0)};
    if (Below(4) == 0) second = {Await(0), Store(row, Point())};
    InWarps(sends, second);
    if (Below(4) > 0) Then(thread_, {Await(Below(3) == 0 ? 1 : 0)});
    if (Below(2) == 0) Then(thread_, {Store(row, Part::kRow)});
  }
  // The thread waits, and then one of its warps, or the other way about.
  void Waits() {
    const int barrier = Barrier(1);
    const std::vector<Op> round = {On(What::kArrive, barrier), On(What::kWait, barrier)};
    if (Below(2) == 0) Then(thread_, round);
    InWarps(round, Below(4) == 0 ? round : std::vector<Op>());
    if (Below(3) == 0) Then(thread_, round);
  }
  // Both warps arrive for another thread.
  void ToAnother() {
    const int row = Row(), barrier = Barrier(2);
    InWarps({Store(row, Part::kFirst), On(What::kArrive, barrier)},
            {Store(row, Part::kMiddle), On(What::kArrive, barrier)});
    Then(other_, {On(What::kWait, barrier), Load(row, Point()), Load(row, Point())});
  }

  std::vector<Op>*thread_ = nullptr, *other_ = nullptr;
};

bool IsOfWarps(const Op& op) {
  switch (op.what) {
    case What::kLoad:
    case What::kStore:
      return op.array == Array::kM || op.array == Array::kX || op.array == Array::kShared;
    case What::kArrive:
    case What::kWait:
    case What::kTest:
    case What::kCopyIn:
    case What::kCopyOut:
    case What::kAwait:
    case What::kSignal:
    case What::kSemWait:
    case What::kIf:
      return true;
    default:
      return false;
  }
}

void KeepInWarp(std::vector<Op>* ops) {
  std::erase_if(*ops, [](const Op& op) { return !IsOfWarps(op); });
  for (Op& op : *ops) {
    if (op.part != Part::kFirst) op.part = Part::kMiddle;
    KeepInWarp(&op.body);
    KeepInWarp(&op.otherwise);
  }
}

void NoWarps(std::vector<Op>* ops) {
  std::erase_if(*ops, [](const Op& op) { return op.what == What::kWarps; });
  for (Op& op : *ops) {
    NoWarps(&op.body);
    NoWarps(&op.otherwise);
  }
}

}  // namespace

void MakeThreadsOfWarps(scheduler::Random* random, HuntKernel* kernel) {
  kernel->family = Family::kThreads;
  kernel->target = "mosaic_gpu/h100";
  kernel->blocks = 1;
  kernel->shared = true;
  kernel->cluster = kernel->unions = false;
  kernel->window = -1;
  kernel->agents.assign(1 + random->Below(2), {});
}

void WarpPattern(scheduler::Random* random, HuntKernel* kernel, std::vector<std::vector<Op>>* body) {
  Patterns(random, kernel, body).Add();
}

void KeepToWarps(HuntKernel* kernel) {
  for (std::vector<Op>& ops : kernel->agents) {
    bool has = false;
    std::erase_if(ops, [&](const Op& op) { return op.what == What::kWarps && std::exchange(has, true); });
    for (Op& op : ops) {
      const bool warps = op.what == What::kWarps;
      for (std::vector<Op>* const inner : {&op.body, &op.otherwise}) warps ? KeepInWarp(inner) : NoWarps(inner);
    }
  }
}

}  // namespace palladion::hunt
