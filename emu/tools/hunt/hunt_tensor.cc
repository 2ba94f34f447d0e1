#include "emu/tools/hunt/hunt_tensor.h"

#include <algorithm>

namespace palladion::hunt {
namespace {

constexpr int kMaxBarriers = 4;

class Patterns {
 public:
  Patterns(scheduler::Random* random, HuntKernel* kernel) : random_(*random), kernel_(*kernel) {}

  // A thread, and it or another one of its block.
  void Add(std::vector<std::vector<Op>>* body) {
    const int threads = static_cast<int>(kernel_.agents.size()) / kernel_.blocks;
    const int first = Below(kernel_.blocks) * threads, from = Below(threads);
    const int to = threads > 1 && Below(4) > 0 ? (from + 1 + Below(threads - 1)) % threads : from;
    from_ = &(*body)[static_cast<std::size_t>(first + from)];
    to_ = &(*body)[static_cast<std::size_t>(first + to)];
    switch (Below(8)) {
      case 0:
        return StoreThenLoad();
      case 1:
      case 2:
        return Multiply();
      case 3:
        return MultiplyByTwo();
      case 4:
        return CopyIn();
      case 5:
        return Overwrite();
      case 6:
        return RefillOperands();
      default:
        return Named();
    }
  }

  Op Any() {
    const int row = Row();
    switch (Below(9)) {
      case 0:
        return Load(row);
      case 1:
        return Store(row);
      case 2:
        return {.what = What::kTensorAwait};
      case 3:
        return {.what = What::kTensorSettle};
      case 4:
        return Copy(row, Row());
      case 5:
        return Product(row, Row());
      case 6:
        return On(What::kTensorCommit, Barrier());
      case 7:
        return Operands(row);
      default:
        return {.what = Below(2) == 0 ? What::kNamedArrive : What::kNamedSync, .object = NamedBarrier()};
    }
  }

 private:
  int Below(int n) { return static_cast<int>(random_.Below(static_cast<std::uint64_t>(n))); }
  int Row() { return Below(kernel_.rows); }
  int Barrier() {
    std::vector<int>& barriers = kernel_.arrivals;
    for (std::size_t i = 0; i < barriers.size(); ++i) {
      if (barriers[i] == 1 && Below(4) == 0) return static_cast<int>(i);
    }
    if (static_cast<int>(barriers.size()) == kMaxBarriers) return Below(kMaxBarriers);
    barriers.push_back(1);
    return static_cast<int>(barriers.size()) - 1;
  }
  int NamedBarrier() {
    const int threads = static_cast<int>(kernel_.agents.size()) / kernel_.blocks;
    if (kernel_.named.empty() || (kernel_.named.size() < 2 && Below(3) == 0))
      kernel_.named.push_back(std::min(threads, 2 + Below(2)));
    return Below(static_cast<int>(kernel_.named.size()));
  }

  Part AnyPart() { return Below(2) == 0 ? Part::kRow : static_cast<Part>(Below(5)); }
  Op Load(int row) { return {.what = What::kTensorLoad, .array = Array::kTensor, .part = AnyPart(), .row = row}; }
  Op Store(int row) {
    const Part part = Below(3) == 0 ? AnyPart() : Part::kRow;
    const std::int64_t amount = Below(3) == 0 ? 0 : 300 + Below(90);
    return {.what = What::kTensorStore, .array = Array::kTensor, .part = part, .row = row, .amount = amount};
  }
  Op Operands(int row) { return {.what = What::kStore, .array = Array::kOperands, .row = row, .amount = 2 + Below(9)}; }
  static Op Fence() { return {.what = What::kFence}; }
  static Op On(What what, int object) { return {.what = what, .object = object, .amount = 1}; }
  Op Product(int row, int to) { return {.what = What::kProduct, .row = row, .to = to, .flag = Below(2) == 0}; }
  static Op Copy(int row, int to) { return {.what = What::kTensorCopy, .row = row, .to = to}; }

  void Both(What first, What second) {
    const int barrier = Barrier();
    from_->push_back(On(first, barrier));
    to_->push_back(On(second, barrier));
  }
  void HandOver() {
    if (from_ != to_) Both(What::kArrive, What::kWait);
  }
  // All that was issued to the core, to the thread that loads it.
  void Commit(bool own) {
    const int barrier = Barrier();
    if (own && Below(2) == 0) {
      from_->back().object = barrier;
      from_->back().amount = 1;
    } else {
      from_->push_back(On(What::kTensorCommit, barrier));
    }
    to_->push_back(On(What::kWait, barrier));
  }

  void StoreThenLoad() {
    const int row = Row();
    from_->push_back(Store(row));
    from_->push_back({.what = What::kTensorSettle});
    HandOver();
    to_->push_back(Load(row));
  }
  void Multiply() {
    const int row = Row(), to = Row();
    from_->push_back(Operands(row));
    from_->push_back(Fence());
    from_->push_back(Product(row, to));
    from_->back().flag = false;
    if (Below(3) == 0) from_->push_back(Product(row, to));
    Commit(true);
    to_->push_back(Load(to));
  }
  // The second thread's product follows the first's.
  void MultiplyByTwo() {
    const int row = Row(), to = Row();
    from_->push_back(Operands(row));
    from_->push_back(Fence());
    from_->push_back(Product(row, to));
    from_->back().flag = false;
    HandOver();
    to_->push_back(Product(row, to));
    from_ = to_;
    Commit(true);
    to_->push_back(Load(to));
  }
  void CopyIn() {
    const int row = Row(), to = Row();
    from_->push_back({.what = What::kStore, .row = row, .amount = 500 + Below(90)});
    from_->back().array = Array::kShared;
    from_->push_back(Fence());
    from_->push_back(Copy(row, to));
    if (Below(3) == 0) {
      from_->insert(from_->end() - 1, {Operands(0), Fence()});
      from_->push_back(Product(0, to));
    }
    Commit(false);
    to_->push_back(Load(to));
  }
  // What was loaded may be overwritten once it has been read.
  void Overwrite() {
    const int row = Row();
    from_->push_back(Store(row));
    from_->push_back({.what = What::kTensorSettle});
    from_->push_back(Load(row));
    from_->push_back({.what = What::kTensorAwait});
    HandOver();
    to_->push_back(Store(row));
    to_->push_back({.what = What::kTensorSettle});
    if (Below(2) == 0) to_->push_back(Load(row));
  }
  void RefillOperands() {
    const int row = Row(), to = Row();
    from_->push_back(Operands(row));
    from_->push_back(Fence());
    from_->push_back(Product(row, to));
    Commit(true);
    to_->push_back(Operands(row));
    to_->push_back(Fence());
    to_->push_back(Product(row, to));
    from_ = to_;
    Commit(true);
    to_->push_back(Load(to));
  }
  void Named() {
    const int row = Row(), named = NamedBarrier();
    from_->push_back({.what = What::kStore, .row = row, .amount = 700 + Below(90)});
    from_->back().array = Array::kShared;
    const bool again = from_ != to_ && Below(2) == 0;
    from_->push_back({.what = again || Below(2) == 0 ? What::kNamedSync : What::kNamedArrive, .object = named});
    if (from_ != to_) to_->push_back({.what = What::kNamedSync, .object = named});
    to_->push_back({.what = What::kLoad, .array = Array::kShared, .part = AnyPart(), .row = row});
    if (!again) return;
    to_->push_back({.what = What::kNamedArrive, .object = named});
    from_->push_back({.what = What::kNamedSync, .object = named});
    from_->push_back({.what = What::kStore, .row = row, .amount = 800 + Below(90)});
    from_->back().array = Array::kShared;
  }

  scheduler::Random& random_;
  HuntKernel& kernel_;
  std::vector<Op>*from_ = nullptr, *to_ = nullptr;
};

void ForEachCommit(std::vector<Op>* ops, std::vector<bool>* order) {
  for (Op& op : *ops) {
    ForEachCommit(&op.body, order);
    ForEachCommit(&op.otherwise, order);
    const bool commits = op.what == What::kTensorCommit || (op.what == What::kProduct && op.amount != 0);
    if (commits) (*order)[static_cast<std::size_t>(op.object)] = true;
  }
}

}  // namespace

void AddTensor(HuntKernel* kernel) {
  kernel->target = "mosaic_gpu/b200";
  kernel->tensor = kernel->shared = true;
  if (kernel->family != Family::kPrograms) return;
  kernel->family = Family::kThreads;
  kernel->window = -1;
  kernel->blocks = 1;
}

void TensorPattern(scheduler::Random* random, HuntKernel* kernel, std::vector<std::vector<Op>>* body) {
  Patterns(random, kernel).Add(body);
}

Op AnyTensorOp(scheduler::Random* random, HuntKernel* kernel) { return Patterns(random, kernel).Any(); }

void OrderTensor(scheduler::Random* random, HuntKernel* kernel) {
  std::vector<bool>& order = kernel->tensor_order;
  for (std::size_t i = 0; i < kernel->arrivals.size(); ++i) order.push_back(random->Below(5) > 0);
  for (std::vector<std::vector<Op>>* agents : {&kernel->agents, &kernel->later}) {
    for (std::vector<Op>& ops : *agents) ForEachCommit(&ops, &order);
  }
}

}  // namespace palladion::hunt
