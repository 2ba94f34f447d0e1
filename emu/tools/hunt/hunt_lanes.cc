#include "emu/tools/hunt/hunt_lanes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "scheduler/policies/random.h"
#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

using What = LaneOp::What;
using From = LaneOp::From;
using Kind = LaneIndex::Kind;

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed * 0xd1342543de82ef95 + 11) {}

  LaneKernel Make() {
    if (Below(5) == 0) return MakeThread();
    kernel_.programs = 1 + (Below(4) == 0);
    Ops(&kernel_.ops, 2 + Below(3), 0);
    for (int n = Below(3); n > 0; --n) Damage(&kernel_.ops);
    return kernel_;
  }

 private:
  int Below(int n) { return static_cast<int>(random_.Below(static_cast<std::uint64_t>(n))); }

  int Elements() {
    static constexpr int kSizes[] = {1, 4, 16, 32, 32, 32, 64};
    return kSizes[Below(7)];
  }

  LaneKernel MakeThread() {
    kernel_.thread = true;
    std::vector<LaneOp>& ops = kernel_.ops;
    for (int n = 2 + Below(3); n > 0; --n) {
      const LaneOp load = Slice(What::kLoad);
      LaneOp store = Below(2) == 0 ? load : Slice(What::kStore);
      store.what = What::kStore, store.amount = Below(9), store.slope = Below(2);
      if (Below(4) > 0) store.from = From::kLast;
      ops.push_back(load);
      if (Below(2) == 0) Keep(&ops);
      if (Below(3) == 0) ops.push_back({.what = What::kBarrier});
      ops.push_back(store);
      if (Below(3) > 0) ops.push_back({.what = What::kBarrier});
    }
    if (Below(3) == 0) Damage(&ops);
    return kernel_;
  }

  LaneOp Slice(What what) {
    static constexpr int kSizes[] = {1, 128, 128, 128, 256};
    LaneOp op{.what = what, .elements = kSizes[Below(5)]};
    if (op.elements == 128) op.index.start = 64 * Below(3);
    if (op.elements == 1) op.index.start = 32 * Below(4);
    return op;
  }

  LaneIndex Index(int elements, bool in_loop) {
    if (kernel_.thread) return {.start = elements == 128 ? 64 * Below(3) : 0};
    LaneIndex index;
    if (elements == 1) {
      index.start = Below(6);
      if (Below(4) == 0) index.kind = Kind::kFrom, index.by = 8 * Below(16);
      return index;
    }
    if (elements == PartOf(kernel_)) return index;
    static constexpr Kind kKinds[] = {Kind::kSlice,    Kind::kSlice, Kind::kSlice,  Kind::kIota,   Kind::kIota,
                                      Kind::kReversed, Kind::kXor,   Kind::kModulo, Kind::kLoaded, Kind::kFrom};
    index.kind = kKinds[Below(10)];
    index.start = Below(3) == 0 ? 4 * Below(3) : 0;
    if (index.kind == Kind::kIota && Below(4) == 0) index.by = 2;
    if (index.kind == Kind::kXor) index.by = 1 << Below(elements == 4 ? 2 : 4);
    if (index.kind == Kind::kModulo) index.by = elements >> Below(3);
    if (index.kind == Kind::kLoaded) index.by = 32 * Below(4);
    if (index.kind == Kind::kFrom) index.by = 8 * Below(16);
    if (in_loop && Below(2) == 0) index.turn = 4 * (1 + Below(4));
    // The last element is in the array.
    const int reach = index.kind == Kind::kFrom     ? 31 + elements
                      : index.kind == Kind::kLoaded ? 32
                                                    : elements * index.by;
    const bool by = index.kind == Kind::kIota || index.kind == Kind::kFrom || index.kind == Kind::kLoaded;
    if (index.start + index.turn + (by ? reach : elements) > PartOf(kernel_)) index = {};
    return index;
  }

  // Does it name an element several times?
  static bool Repeats(const LaneIndex& index) {
    return index.kind == Kind::kModulo || (index.kind == Kind::kLoaded && index.by == 96);
  }

  // The same elements, which Triton may spread over lanes in another way.
  LaneIndex InOtherWords(const LaneOp& op) {
    const LaneIndex& index = op.index;
    const bool slice = index.kind == Kind::kSlice || (index.kind == Kind::kIota && index.by == 1);
    if (!slice || op.elements == 1 || op.elements == PartOf(kernel_)) return index;
    if (Below(2) == 0) return {.kind = Kind::kLoaded, .start = index.start, .by = 32, .turn = index.turn};
    return {.kind = Kind::kFrom, .start = index.start, .by = 8 * (3 + Below(2)), .turn = index.turn};
  }

  LaneOp Access(What what, bool in_loop) {
    LaneOp op{.what = what, .array = 0, .elements = Elements()};
    op.index = Index(op.elements, in_loop);
    if (what == What::kStore && Repeats(op.index) && Below(8) > 0) op.index = {.turn = op.index.turn};
    if (op.elements > 1 && Below(6) == 0) op.keep = op.elements / 2 + Below(2);
    if (what != What::kLoad) op.slope = Below(3), op.amount = 1 + Below(40);
    return op;
  }

  // What is loaded goes to an array of its own.
  void Keep(std::vector<LaneOp>* ops) {
    LaneOp op = ops->back();
    if (op.what != What::kLoad) op.keep = 0;
    op.what = What::kStore;
    op.array = kernel_.arrays++;
    op.from = From::kLast;
    op.slope = 0, op.amount = Below(2);
    if (Repeats(op.index) ? Below(8) > 0 : Below(2) == 0) op.index = {.turn = op.index.turn}, op.keep = 0;
    ops->push_back(op);
  }

  void Ops(std::vector<LaneOp>* ops, int count, int depth) {
    for (; count > 0; --count) {
      const int kind = Below(16);
      if (kind == 0 && depth == 0) {
        LaneOp loop{.what = What::kLoop};
        Ops(&loop.body, 2, 1);
        ops->push_back(std::move(loop));
      } else if (kind < 3) {
        ops->push_back({.what = What::kBarrier});
      } else {
        if (Below(4) > 0) ops->push_back({.what = What::kBarrier});
        Round(ops, depth > 0);
      }
      if (kernel_.arrays > 6) return;
    }
  }

  // A store and a load of the same elements, mostly by the same expression; or an atomic update.
  void Round(std::vector<LaneOp>* ops, bool in_loop) {
    const int kind = Below(8);
    if (kind < 2) {
      ops->push_back(Access(kind == 0 ? What::kAdd : What::kExchange, in_loop));
      LaneOp& update = ops->back();
      if (Below(2) == 0) update.keep = 0, Keep(ops);
    } else if (kind < 6) {
      LaneOp store = Access(What::kStore, in_loop), load = store;
      load.what = What::kLoad;
      const bool other = Below(3) == 0;
      if (other) load = Access(What::kLoad, in_loop);
      if (!other && Below(4) == 0) load.index = InOtherWords(load);
      if (Below(3) == 0) std::swap(store.what, load.what);
      ops->push_back(store);
      if (store.what == What::kLoad) Keep(ops);
      if (Below(8) < (other ? 7 : 2)) ops->push_back({.what = What::kBarrier});
      ops->push_back(load);
      if (load.what == What::kLoad) Keep(ops);
    } else {
      ops->push_back(Access(What::kLoad, in_loop));
      if (Below(2) == 0) Keep(ops);
      LaneOp back = Access(What::kStore, in_loop);
      if (Below(3) > 0) {
        back = ops->back();
        back.what = What::kStore, back.array = 0;
      } else if (Below(4) > 0) {
        ops->push_back({.what = What::kBarrier});
      }
      back.from = Below(4) == 0 ? From::kLastSingle : From::kLast;
      back.amount = 1 + Below(9);
      ops->push_back(back);
    }
  }

  void Damage(std::vector<LaneOp>* ops) {
    if (ops->empty()) return;
    const int at = Below(static_cast<int>(ops->size()));
    LaneOp& op = (*ops)[static_cast<std::size_t>(at)];
    if (op.what == What::kLoop && Below(2) == 0) return Damage(&op.body);
    switch (Below(4)) {
      case 0:
        if (op.what == What::kBarrier || op.what == What::kStore) ops->erase(ops->begin() + at);
        return;
      case 1:
        if (op.what != What::kBarrier && op.what != What::kLoop) op.index = Index(op.elements, false);
        return;
      case 2:
        ops->insert(ops->begin() + at, {.what = What::kBarrier});
        return;
      default:
        if (at > 0) std::swap(op, (*ops)[static_cast<std::size_t>(at - 1)]);
    }
  }

  scheduler::Random random_;
  LaneKernel kernel_;
};

class Writer {
 public:
  explicit Writer(const LaneKernel& kernel) : kernel_(kernel) {}

  LaneText Take() {
    const std::string array = Cat("i32[", kernel_.programs * PartOf(kernel_), "]");
    Line("pkir 1;");
    Line("kernel @k {");
    const bool thread = kernel_.thread;
    const std::string space = thread ? " space gmem" : "", memory = thread ? "gmem" : "default";
    Line(thread ? "backend mosaic_gpu;" : "backend triton;");
    Line(thread ? "params {unsafe_no_auto_barriers=true};" : "params {num_warps=1};");
    for (int i = 0; i < kernel_.arrays; ++i) Line(Cat("in %c", i, ": ", array, space, ";"));
    Line(Cat("in %p: i32[128]", space, ";"));
    for (int i = 0; i < kernel_.arrays; ++i) Line(Cat("out %m", i, ": ", array, space, " alias %c", i, ";"));
    const char* const mesh =
        "mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=none, thread_name=none};";
    Line(thread ? mesh : kernel_.programs > 1 ? Cat("grid [", kernel_.programs, "];") : "grid [];");
    std::string refs;
    const auto ref = [&](const std::string& name, const std::string& type) {
      Append(&refs, refs.empty() ? "" : ", ", "%", name, "r: ref<", memory, ",", type, "> as \"", name, "\"");
    };
    for (int i = 0; i < kernel_.arrays; ++i) ref(Cat("c", i), array);
    ref("p", "i32[128]");
    for (int i = 0; i < kernel_.arrays; ++i) ref(Cat("m", i), array);
    Line(Cat("body @k (", refs, ") {"));
    if (kernel_.programs > 1) {
      Line("%g = program_id{axis=0}() : i32[];");
      Line(Cat("%q = mul(%g, ", PartOf(kernel_), ":i32) : i32[];"));
    }
    Ops(kernel_.ops);
    for (const char* const line : {"return;", "}", "}"}) Line(line);
    return std::move(out_);
  }

 private:
  void Line(const std::string& text) {
    Append(&out_.text, text, "\n");
    ++line_;
  }
  std::string Make(const std::string& what, const std::string& type) {
    std::string name = Cat("%v", ++values_);
    Line(Cat(name, " = ", what, " : ", type, ";"));
    return name;
  }
  static std::string TypeOf(int elements) { return elements == 1 ? "i32[]" : Cat("i32[", elements, "]"); }

  // The sum of a number and what the program and the turn add to it.
  std::string Start(int start, int turn) {
    std::string at = Cat(start, ":i32");
    if (turn != 0 && !turn_.empty())
      at = Make(Cat("add(", Make(Cat("mul(", turn_, ", ", turn, ":i32)"), "i32[]"), ", ", at, ")"), "i32[]");
    return kernel_.programs > 1 ? Make(Cat("add(%q, ", at, ")"), "i32[]") : at;
  }

  std::string View(const LaneOp& op) {
    const LaneIndex& index = op.index;
    const int n = op.elements;
    const std::string type = TypeOf(n), ref = Cat("%m", op.array, "r.at[");
    const int first = index.kind == Kind::kReversed ? index.start + n - 1 : index.start;
    std::string start = Start(first, index.turn);
    if (index.kind == Kind::kFrom)
      start = Make(Cat("add(", Make(Cat("get(%pr.at[", index.by, "])"), "i32[]"), ", ", start, ")"), "i32[]");
    const std::string number = start.substr(0, start.find(':'));  // a literal of an index has no type
    if (n == 1) return Cat(ref, number, "]");
    if (index.kind == Kind::kSlice || index.kind == Kind::kFrom) return Cat(ref, number, " +: ", n, "]");
    std::string places = index.kind == Kind::kLoaded ? Make(Cat("get(%pr.at[", index.by, " +: ", n, "])"), type)
                                                     : Make("iota{dim=0}()", type);
    if (index.kind == Kind::kReversed) return Cat(ref, Make(Cat("sub(", start, ", ", places, ")"), type), "]");
    if (index.kind == Kind::kIota && index.by > 1) places = Make(Cat("mul(", places, ", ", index.by, ":i32)"), type);
    if (index.kind == Kind::kXor) places = Make(Cat("xor(", places, ", ", index.by, ":i32)"), type);
    if (index.kind == Kind::kModulo) places = Make(Cat("and(", places, ", ", index.by - 1, ":i32)"), type);
    return Cat(ref, Make(Cat("add(", places, ", ", start, ")"), type), "]");
  }

  std::string Value(const LaneOp& op) {
    const std::string type = TypeOf(op.elements);
    std::string value = Cat(op.amount, ":i32");
    const auto last = last_.find(op.from == From::kLastSingle ? 1 : op.elements);
    const bool takes = op.from != From::kNothing && last != last_.end();
    if (op.elements > 1 && !(kernel_.thread && takes))
      value = Make(
          Cat("add(", Make(Cat("mul(", Make("iota{dim=0}()", type), ", ", op.slope, ":i32)"), type), ", ", value, ")"),
          type);
    if (!takes) return value;
    return Make(Cat("add(", last->second, ", ", value, ")"), type);
  }

  void Ops(const std::vector<LaneOp>& ops) {
    for (const LaneOp& op : ops) {
      if (op.what == What::kBarrier) {
        Line(kernel_.thread ? "commit_smem();" : "debug_barrier();");
      } else if (op.what == What::kLoop) {
        Loop(op);
      } else {
        Access(op);
      }
    }
  }

  void Access(const LaneOp& op) {
    const std::string type = TypeOf(op.elements), value = op.what == What::kLoad ? "" : Value(op), view = View(op);
    std::string mask, result;
    if (op.keep > 0)
      mask = Cat(", mask=",
                 Make(Cat("lt(", Make("iota{dim=0}()", type), ", ", op.keep, ":i32)"), Cat("bool[", op.elements, "]")));
    const char* const masked = mask.empty() ? "" : "masked_";
    const char* const other = ", other=0:i32";
    out_.lines.emplace_back(&op, line_);
    switch (op.what) {
      case What::kLoad:
        result =
            mask.empty() ? Make(Cat("get(", view, ")"), type) : Make(Cat("masked_load(", view, mask, other, ")"), type);
        break;
      case What::kStore:
        return Line(Cat("_ = ", masked, "swap(", view, ", ", value, mask, ") : ", type, ";"));
      default:
        result = Make(Cat("atomic_rmw{op=", op.what == What::kAdd ? "add" : "xchg", "}(", view, ", ", value, mask, ")"),
                      type);
        if (!mask.empty()) return;  // the others' result is undefined
    }
    last_[op.elements] = result;
  }

  // What is loaded in it stays in it.
  void Loop(const LaneOp& op) {
    const auto before = std::exchange(last_, {});
    turn_ = Cat("%v", ++values_);
    Line(Cat("_ = scan{length=2, reverse=false}(init=0:i32) (", turn_, ": i32[]) {"));
    Ops(op.body);
    const std::string next = Make(Cat("add(", turn_, ", 1:i32)"), "i32[]");
    Line(Cat("return ", next, ";"));
    Line("} : i32[];");
    turn_.clear();
    last_ = before;
  }

  const LaneKernel& kernel_;
  LaneText out_;
  int line_ = 1, values_ = 0;
  std::string turn_;                 // the loop's counter
  std::map<int, std::string> last_;  // what was loaded, by the number of elements
};

}  // namespace

std::int64_t InputOfLanes(int array, int element) { return array == 0 ? 500 + 3 * element : 0; }

int InputOfP(int at) {
  const int i = at % 32;
  return at < 32 ? (i + 8) % 32 : at < 64 ? i : at < 96 ? (i ^ 1) : i & 7;
}

LaneKernel RandomLanes(std::uint64_t seed) { return Generator(seed).Make(); }

LaneText WriteLanes(const LaneKernel& kernel) { return Writer(kernel).Take(); }

}  // namespace palladion::hunt
