#include "emu/tools/hunt/lane_steps.h"

#include <utility>

#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

using What = LaneOp::What;
using From = LaneOp::From;
using Kind = LaneIndex::Kind;

// A slice is an iota with a start. Of a single number from memory nothing is known.
std::string SpreadOf(const LaneOp& op, bool in_loop) {
  const LaneIndex& index = op.index;
  if (op.elements == 1) return "one";
  const int turn = in_loop ? index.turn : 0;
  const auto affine = [&](int start, int step, const char* loaded) {
    return Cat("from ", start, loaded, " by ", step, " of ", op.elements, " turn ", turn);
  };
  switch (index.kind) {
    case Kind::kSlice:
      return affine(index.start, 1, "");
    case Kind::kIota:
      return affine(index.start, index.by, "");
    case Kind::kReversed:
      return affine(index.start + op.elements - 1, -1, "");
    case Kind::kFrom:
      return affine(index.start, 1, " loaded");
    default:
      return Cat(static_cast<int>(index.kind), ".", index.by, affine(index.start, 1, ""));
  }
}

class Unroller {
 public:
  Unroller(const LaneKernel& kernel, const LaneText& text)
      : kernel_(kernel), lines_(text.lines.begin(), text.lines.end()) {}
  void Ops(const std::vector<LaneOp>& ops, bool in_loop, int turn) {
    for (const LaneOp& op : ops) {
      if (op.what == What::kBarrier) ++phase_;
      if (op.what == What::kLoop) {
        const auto before = last_;
        for (int t = 0; t < 2; ++t) last_.clear(), Ops(op.body, true, t);
        last_ = before;
      }
      if (op.what == What::kBarrier || op.what == What::kLoop) continue;
      LaneStep step{&op, lines_.at(&op), turn, phase_, -1, PartOf(kernel_), false, ""};
      const auto last = last_.find(op.from == From::kLastSingle ? 1 : op.elements);
      const bool takes = op.what != What::kLoad && op.from != From::kNothing && last != last_.end();
      if (takes) step.value_of = last->second;
      step.slopes = op.elements > 1 && !(kernel_.thread && step.value_of >= 0);
      step.spread = kernel_.thread ? LayoutOf(step) : SpreadOf(op, in_loop);
      const bool gives = op.what == What::kLoad || (IsAtomic(op) && op.keep == 0);
      if (gives) last_[op.elements] = static_cast<int>(steps.size());
      steps.push_back(std::move(step));
    }
  }
  std::vector<LaneStep> steps;

 private:
  // Of a thread: what is loaded has the layout of arrays of its size, and so has what is made of it; the layout of what
  // is made of nothing is the compiler's to choose.
  static std::string LayoutOf(const LaneStep& step) {
    const int n = step.op->elements;
    const bool known = step.op->what == What::kLoad || step.value_of >= 0;
    return n == 1 ? "one" : known ? Cat("strided ", n) : Cat("at line ", step.line);
  }

  const LaneKernel& kernel_;
  const std::map<const LaneOp*, int> lines_;
  std::map<int, int> last_;  // by the number of elements
  int phase_ = 0;
};

std::int64_t Wrapped(std::int64_t value) { return static_cast<std::int32_t>(value); }
}  // namespace

int CellOf(const LaneStep& step, int i) {
  const LaneIndex& index = step.op->index;
  int at = index.start + index.turn * step.turn;
  switch (index.kind) {
    case Kind::kSlice:
      at += i;
      break;
    case Kind::kIota:
      at += index.by * i;
      break;
    case Kind::kReversed:
      at += step.op->elements - 1 - i;
      break;
    case Kind::kXor:
      at += i ^ index.by;
      break;
    case Kind::kModulo:
      at += i & (index.by - 1);
      break;
    case Kind::kLoaded:
      at += InputOfP(index.by + i);
      break;
    case Kind::kFrom:
      at += InputOfP(index.by) + i;
      break;
  }
  return step.op->array * step.part + at;
}

std::int64_t ValueOf(const LaneStep& step, int i, std::int64_t taken) {
  const LaneOp& op = *step.op;
  return Wrapped((step.slopes ? op.slope * i : 0) + op.amount + taken);
}

std::int64_t Act(const LaneOp& op, std::int64_t value, std::int64_t* cell) {
  const std::int64_t before = *cell;
  if (op.what == LaneOp::What::kLoad) return before;
  *cell = op.what == LaneOp::What::kAdd ? Wrapped(before + value) : value;
  return IsAtomic(op) ? before : value;
}

std::vector<LaneStep> StepsOf(const LaneKernel& kernel, const LaneText& text) {
  Unroller unroller(kernel, text);
  unroller.Ops(kernel.ops, false, 0);
  return std::move(unroller.steps);
}

LaneMemory LanesBefore(const LaneKernel& kernel, int program) {
  LaneMemory memory;
  for (int array = 0; array < kernel.arrays; ++array) {
    for (int i = 0; i < PartOf(kernel); ++i) memory.push_back(InputOfLanes(array, program * PartOf(kernel) + i));
  }
  return memory;
}

LaneMemory LanesInOrder(const LaneKernel& kernel, const std::vector<LaneStep>& steps, int program,
                        std::vector<std::vector<std::int64_t>>* values) {
  LaneMemory memory = LanesBefore(kernel, program);
  for (const LaneStep& step : steps) {
    std::vector<std::int64_t> now(static_cast<std::size_t>(step.op->elements), 0);
    for (int i = 0; i < step.op->elements; ++i) {
      if (!TakesPart(*step.op, i)) continue;
      std::int64_t taken = 0;
      if (step.value_of >= 0) {
        const std::vector<std::int64_t>& from = (*values)[static_cast<std::size_t>(step.value_of)];
        taken = from[from.size() == 1 ? 0 : static_cast<std::size_t>(i)];
      }
      now[static_cast<std::size_t>(i)] =
          Act(*step.op, ValueOf(step, i, taken), &memory[static_cast<std::size_t>(CellOf(step, i))]);
    }
    values->push_back(std::move(now));
  }
  return memory;
}

std::map<LaneLines, LaneClash> LaneClashes(const LaneKernel& kernel, const std::vector<LaneStep>& steps, int program,
                                           Mutation mutation) {
  std::vector<std::vector<std::int64_t>> values;
  LanesInOrder(kernel, steps, program, &values);
  std::map<LaneLines, LaneClash> clashes;
  const auto meet = [&](std::size_t a, int i, std::size_t b, int j) {
    const LaneOp &first = *steps[a].op, &second = *steps[b].op;
    if (!TakesPart(first, i) || !TakesPart(second, j) || CellOf(steps[a], i) != CellOf(steps[b], j)) return;
    const bool writes = first.what != LaneOp::What::kLoad && second.what != LaneOp::What::kLoad;
    const bool stores = first.what == LaneOp::What::kStore && second.what == LaneOp::What::kStore;
    const bool equal = stores && values[a][static_cast<std::size_t>(i)] == values[b][static_cast<std::size_t>(j)];
    LaneClash& clash = clashes[{writes ? "RACE_WW" : "RACE_RW", steps[a].line, steps[b].line}];
    (equal ? clash.equal : clash.differ) = true;
  };
  for (std::size_t b = 0; b < steps.size(); ++b) {
    for (std::size_t a = 0; a <= b; ++a) {
      const LaneOp &first = *steps[a].op, &second = *steps[b].op;
      const bool apart = steps[a].phase != steps[b].phase && mutation != Mutation::kNoBarrierEdges;
      const bool reads = first.what == LaneOp::What::kLoad && second.what == LaneOp::What::kLoad;
      if (apart || reads || (IsAtomic(first) && IsAtomic(second))) continue;
      for (int i = 0; i < first.elements; ++i) {
        for (int j = 0; j < second.elements; ++j) {
          if (first.elements == second.elements && (i == j || (a == b && i > j))) continue;
          meet(a, i, b, j);
        }
      }
    }
  }
  return clashes;
}

}  // namespace palladion::hunt
