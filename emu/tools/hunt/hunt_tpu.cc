#include "emu/tools/hunt/hunt_tpu.h"

#include <algorithm>
#include <utility>

#include "emu/tools/hunt/hunt_damage.h"
#include "scheduler/policies/random.h"

namespace palladion::hunt {
namespace {

constexpr int kMaxSemaphores = 3;
constexpr std::size_t kMostOps = 9;  // of a program

class TpuGenerator {
 public:
  explicit TpuGenerator(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15 + 3) {}

  HuntKernel Make(bool pipelined) {
    Sizes();
    if (pipelined) Blocks();
    if (!pipelined && Below(10) == 0) {
      for (std::vector<Op>& ops : kernel_.agents) {
        for (int n = 1 + Below(5); n > 0; --n) ops.push_back(AnyOp());
      }
    } else {
      for (int n = pipelined ? Below(2) : 1 + Below(3); n > 0; --n) Pattern();
    }
    const Changes changes{
        .own = 4, .change = [this](int kind, Op* op) { Change(kind, op); }, .any = [this] { return AnyOp(); }};
    for (int n = Below(3); n > 0; --n)
      DamageOne(&random_, changes, &kernel_.agents[static_cast<std::size_t>(Below(programs()))]);
    for (std::vector<Op>& ops : kernel_.agents) {
      if (ops.size() > kMostOps) ops.resize(kMostOps);
      Dress(&ops);
      if (kernel_.in_block.on && kernel_.out_block.on) NoWholeM(&ops);
    }
    return kernel_;
  }

 private:
  int Below(int n) { return static_cast<int>(random_.Below(static_cast<std::uint64_t>(n))); }
  int Row() { return Below(kernel_.rows); }
  int programs() const { return static_cast<int>(kernel_.agents.size()); }
  bool devices() const { return kernel_.cores == Cores::kDevices && kernel_.blocks > 1; }
  std::int64_t Number() { return 100 + 2 * ++numbers_ + Below(2); }

  void Sizes() {
    static constexpr Cores kCores[] = {Cores::kDevices, Cores::kDevices, Cores::kDevices, Cores::kOfChip,
                                       Cores::kTasks};
    kernel_.family = Family::kTpu;
    kernel_.rows = 2 + Below(2);
    kernel_.shared = true;
    kernel_.cores = kCores[Below(5)];
    kernel_.blocks = kernel_.cores == Cores::kDevices ? 1 + (Below(4) > 0) + (Below(8) == 0) : 2;
    if (kernel_.cores == Cores::kTasks) kernel_.blocks += Below(2);
    if (kernel_.cores == Cores::kDevices) kernel_.steps = kernel_.blocks > 1 ? 1 + (Below(3) == 0) : 1 + Below(4);
    kernel_.target = kernel_.cores == Cores::kOfChip ? "mosaic_tpu/v5p" : "mosaic_tpu/v5e";
    kernel_.agents.resize(static_cast<std::size_t>(kernel_.blocks * kernel_.steps));
    kernel_.dmas = 1;
  }

  // One core, whose c and m, or one of them, go by blocks.
  void Blocks() {
    kernel_.cores = Cores::kDevices;
    kernel_.blocks = 1;
    kernel_.steps = 2 + Below(3);
    kernel_.target = "mosaic_tpu/v5e";
    kernel_.agents.assign(static_cast<std::size_t>(kernel_.steps), {});
    const int which = Below(3);
    kernel_.in_block = {which != 0, Below(3) == 0, Below(3), Below(kernel_.rows)};
    kernel_.out_block = {which != 1, Below(3) == 0, Below(3), Below(kernel_.rows)};
    for (std::vector<Op>& ops : kernel_.agents) {
      if (kernel_.in_block.on && Below(6) > 0) ops.push_back({.what = What::kLoad, .array = Array::kBlockIn});
      if (!kernel_.out_block.on || Below(8) == 0) continue;
      ops.push_back({.what = What::kStore, .array = Array::kBlockOut, .amount = Below(2) == 0 ? 0 : Number()});
    }
  }
  // No agent sees all of m.
  static void NoWholeM(std::vector<Op>* ops) {
    for (Op& op : *ops) {
      if (op.array == Array::kM) op.array = Array::kX;
      if (op.there == Array::kM) op.there = Array::kShared;
    }
  }

  int DmaSemaphore() {
    if (kernel_.dmas < kMaxSemaphores && Below(2) == 0) return kernel_.dmas++;
    return Below(kernel_.dmas);
  }
  int Semaphore() {
    if (kernel_.semaphores == 0 || (kernel_.semaphores < 2 && Below(2) == 0)) return kernel_.semaphores++;
    return Below(kernel_.semaphores);
  }
  Part AnyPart() { return Below(2) == 0 ? Part::kRow : static_cast<Part>(Below(5)); }
  Part CopiedPart() { return Below(3) > 0 ? Part::kRow : Below(2) == 0 ? Part::kLow : Part::kHigh; }

  Op Store(int row, Part part = Part::kRow) {
    const std::int64_t amount = Below(4) == 0 ? 0 : Number();
    return {.what = What::kStore, .array = Array::kShared, .part = part, .row = row, .amount = amount};
  }
  Op Load(int row, Part part = Part::kRow) {
    return {.what = What::kLoad, .array = Array::kShared, .part = part, .row = row};
  }
  static Op Copy(Array array, int row, Array there, int to, int semaphore) {
    return {.what = What::kDma, .array = array, .object = semaphore, .row = row, .to = to, .there = there};
  }
  Op Send(int row, Array there, int to, int received, int sent) {
    Op op = Copy(Array::kShared, row, there, to, received);
    op.other = sent;
    op.peer = true;
    return op;
  }
  static Op Wait(int semaphore, Part part = Part::kRow) {
    return {.what = What::kDmaWait, .part = part, .object = semaphore};
  }
  static Op Signal(int semaphore, bool peer, std::int64_t amount = 1) {
    return {.what = What::kSignal, .object = semaphore, .amount = amount, .peer = peer};
  }
  static Op Await(int semaphore, std::int64_t amount = 1) {
    return {.what = What::kSemWait, .object = semaphore, .amount = amount};
  }

  Op AnyOp() {
    const Array from = static_cast<Array>(Below(3)), to = Below(2) == 0 ? Array::kM : Array::kShared;
    switch (Below(9)) {
      case 0:
        return Store(Row(), AnyPart());
      case 1:
        return Load(Row(), AnyPart());
      case 2:
      case 3: {
        Op op = Copy(from, Row(), to, Row(), DmaSemaphore());
        op.part = CopiedPart();
        op.peer = devices() && Below(2) == 0;
        op.other = op.peer ? DmaSemaphore() : 0;
        return op;
      }
      case 4:
      case 5:
        return Wait(DmaSemaphore(), CopiedPart());
      case 6:
        return Signal(Semaphore(), CanSignal() && Below(2) == 0);
      case 7:
        return Await(Semaphore());
      default: {
        const bool dma = Below(2) == 0;
        return {.what = What::kSemRead, .object = dma ? DmaSemaphore() : Semaphore(), .flag = dma};
      }
    }
  }
  bool CanSignal() const { return kernel_.blocks > 1 && kernel_.cores != Cores::kTasks; }

  void Pattern() {
    const int agent = Below(kernel_.blocks), step = Below(kernel_.steps);
    at_ = &kernel_.agents[static_cast<std::size_t>(agent * kernel_.steps + step)];
    const int later = std::min(step + 1, kernel_.steps - 1), peer = (agent + 1) % kernel_.blocks;
    next_ = &kernel_.agents[static_cast<std::size_t>(agent * kernel_.steps + later)];
    peer_ = &kernel_.agents[static_cast<std::size_t>(peer * kernel_.steps + step)];
    if (CanSignal() && Below(3) > 0) return devices() && Below(3) > 0 ? BetweenDevices() : SignalWithCopies();
    switch (Below(7)) {
      case 0:
        return Fetch();
      case 1:
        return TwoSlots();
      case 2:
        return SendBack();
      case 3:
        return OutAndIn();
      case 4:
        return Parts();
      case 5:
        return Counted();
      default:
        return Carried();
    }
  }

  void Put(std::vector<Op>* ops, std::vector<Op> more) { ops->insert(ops->end(), more.begin(), more.end()); }

  void Fetch() {
    const int row = Row(), semaphore = DmaSemaphore();
    Put(at_, {Copy(Below(2) == 0 ? Array::kX : Array::kM, Row(), Array::kShared, row, semaphore)});
    Put(Below(2) == 0 ? next_ : at_, {Wait(semaphore), Load(row, AnyPart())});
  }

  // Two copies in flight, with a semaphore each or one for both.
  void TwoSlots() {
    const int first = DmaSemaphore(), second = Below(2) == 0 ? first : DmaSemaphore();
    Put(at_, {Copy(Array::kX, 0, Array::kShared, 0, first), Copy(Array::kX, 1, Array::kShared, 1, second)});
    if (Below(2) == 0) {
      Put(at_, {Wait(first), Load(0)});
      Put(next_, {Wait(second), Load(1, AnyPart())});
    } else {
      Put(next_, {Wait(second), Wait(first), Load(0), Load(1)});
    }
  }

  void SendBack() {
    const int row = Row(), semaphore = DmaSemaphore();
    Put(at_, {Store(row), Copy(Array::kShared, row, Array::kM, Row(), semaphore)});
    Put(Below(2) == 0 ? next_ : at_, {Wait(semaphore)});
    if (Below(2) == 0) Put(next_, {Store(row)});
  }

  void OutAndIn() {
    const int row = Row(), there = Row(), semaphore = DmaSemaphore(), other = DmaSemaphore();
    Put(at_, {Store(row), Copy(Array::kShared, row, Array::kM, there, semaphore), Wait(semaphore)});
    Put(next_, {Copy(Array::kM, there, Array::kShared, Row(), other), Wait(other)});
    Put(next_, {Load((*next_)[next_->size() - 2].to, AnyPart())});
  }

  // Halves of a row, which are awaited together or one by one.
  void Parts() {
    const int row = Row(), there = Row(), semaphore = DmaSemaphore();
    for (const Part part : {Part::kLow, Part::kHigh}) {
      Op op = Copy(Array::kX, there, Array::kShared, row, semaphore);
      op.part = part;
      Put(at_, {op});
    }
    if (Below(2) == 0) {
      Put(at_, {Wait(semaphore), Load(row, AnyPart())});
    } else {
      Put(at_, {Wait(semaphore, Part::kLow)});
      if (Below(2) == 0) Put(at_, {Load(row, Part::kLow)});
      Put(next_, {Wait(semaphore, Part::kHigh), Load(row)});
    }
  }

  // A semaphore that counts copies.
  void Counted() {
    const int semaphore = Semaphore(), copies = 1 + Below(2);
    for (int i = 0; i < copies; ++i) {
      Op op = Copy(Array::kX, Row(), Array::kShared, i, semaphore);
      op.flag = true;
      Put(at_, {op});
    }
    Put(at_, {Await(semaphore, copies), Load(Below(copies), AnyPart())});
  }

  // What one program leaves in scratch the next one finds.
  void Carried() {
    const int row = Row();
    Put(at_, {Store(row)});
    if (Below(2) == 0) Put(at_, {{.what = What::kIf, .body = {Store(row)}, .otherwise = {Load(row)}}});
    Put(next_, {Load(row, AnyPart()), Store(row)});
  }

  void BetweenDevices() {
    const int row = Row(), there = Row(), received = DmaSemaphore(), sent = DmaSemaphore();
    const Array to = Below(3) == 0 ? Array::kM : Array::kShared;
    const bool ready = Below(2) == 0, again = Below(3) == 0;
    const int semaphore = ready || again ? Semaphore() : 0;
    if (Below(3) == 0) Put(peer_, {Store(there)});
    if (ready) Put(peer_, {SignalBack(semaphore)});
    Put(at_, {Store(row)});
    if (ready) Put(at_, {Await(semaphore)});
    Put(at_, {Send(row, to, there, received, sent)});
    Put(Below(2) == 0 ? next_ : at_, {Wait(sent)});
    Put(peer_, {Wait(received)});
    if (to == Array::kShared) Put(peer_, {Load(there, AnyPart())});
    if (!again) return;  // the slot again, once it is free
    Put(peer_, {SignalBack(semaphore), Wait(received), Load(there)});
    Put(at_, {Await(semaphore), Store(row), Send(row, to, there, received, sent), Wait(sent)});
  }

  Op SignalBack(int semaphore) { return Signal(semaphore, true); }

  // Cores hand over what is in HBM, devices what they know.
  void SignalWithCopies() {
    const int row = Row(), there = Row(), semaphore = Semaphore(), first = DmaSemaphore(), second = DmaSemaphore();
    Put(at_, {Store(row), Copy(Array::kShared, row, Array::kM, there, first), Wait(first), Signal(semaphore, true)});
    Put(peer_, {Await(semaphore), Copy(Array::kM, there, Array::kShared, row, second), Wait(second), Load(row)});
    if (Below(3) == 0) Put(peer_, {SignalBack(semaphore)});
    if (Below(3) == 0) Put(at_, {Await(semaphore), Store(row), Copy(Array::kShared, row, Array::kM, there, first)});
    if (at_->back().what == What::kDma) Put(at_, {Wait(first)});
  }

  // Of the mistakes, those that TPUs alone have.
  void Change(int kind, Op* op) {
    const bool regular = op->what == What::kSignal || op->what == What::kSemWait || op->flag;
    switch (kind) {
      case 0:
        op->row = Row();
        return;
      case 1:
        op->to = Row();
        return;
      case 2:
        if (!regular && op->what != What::kSemRead) op->object = Below(kernel_.dmas);
        return;
      default:
        if (op->what == What::kDma || op->what == What::kDmaWait) op->part = CopiedPart();
    }
  }

  // m by the name of the input whose memory it has.
  void Dress(std::vector<Op>* ops) {
    for (Op& op : *ops) {
      Dress(&op.body);
      Dress(&op.otherwise);
      op.alias = Below(6) == 0;
    }
  }

  scheduler::Random random_;
  HuntKernel kernel_;
  std::vector<Op>*at_ = nullptr, *next_ = nullptr, *peer_ = nullptr;
  int numbers_ = 0;
};

}  // namespace

HuntKernel RandomTpuKernel(std::uint64_t seed) { return TpuGenerator(seed).Make(/*pipelined=*/false); }

HuntKernel RandomPipeline(std::uint64_t seed) { return TpuGenerator(seed).Make(/*pipelined=*/true); }

}  // namespace palladion::hunt
