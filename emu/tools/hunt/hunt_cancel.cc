#include "emu/tools/hunt/hunt_cancel.h"

#include <utility>

#include "emu/check.h"
#include "emu/tools/hunt/hunt_random.h"
#include "scheduler/policies/random.h"
#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

using What = CancelOp::What;

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15 + 7) {}

  CancelKernel Make() {
    kernel_.blocks = 2 + Below(3);
    kernel_.names_doer = Below(3) == 0;
    std::vector<CancelOp>& ops = kernel_.ops;
    if (Below(8) > 0) ops.push_back({What::kOwn});
    Round(&ops, 1 + Below(2));
    if (Below(6) == 0) Round(&ops, 1);
    if (Below(8) == 0) ops.push_back({What::kOwn});
    for (int n = Below(3); n > 0; --n) Damage(&ops);
    KeepRequested(&ops, 0);
    return kernel_;
  }

 private:
  int Below(int n) { return static_cast<int>(random_.Below(static_cast<std::uint64_t>(n))); }

  // Asks, and where there is work does it, and asks again.
  void Round(std::vector<CancelOp>* ops, int depth) {
    const int slot = kernel_.slots++;
    ops->push_back({What::kAsk, slot});
    if (Below(4) == 0) ops->push_back({What::kOwn});
    ops->push_back({What::kWait, slot});
    CancelOp query{What::kQuery, slot, {}};
    if (Below(8) > 0) query.body.push_back({What::kTaken, slot});
    if (depth > 1) Round(&query.body, depth - 1);
    ops->push_back(std::move(query));
  }

  void Damage(std::vector<CancelOp>* ops) {
    if (ops->empty()) return;
    const int at = Below(static_cast<int>(ops->size()));
    CancelOp& op = (*ops)[static_cast<std::size_t>(at)];
    if (op.what == What::kQuery && Below(2) == 0) return Damage(&op.body);
    switch (Below(3)) {
      case 0:
        ops->erase(ops->begin() + at);
        return;
      case 1: {
        const CancelOp again = op;
        if (again.what != What::kAsk && again.what != What::kWait) ops->insert(ops->begin() + at, again);
        return;
      }
      default:
        if (at > 0) std::swap(op, (*ops)[static_cast<std::size_t>(at - 1)]);
    }
  }

  // Without what is about a request that has not been made here, and without requests made twice.
  void KeepRequested(std::vector<CancelOp>* ops, unsigned requested) {
    for (std::size_t i = 0; i < ops->size();) {
      CancelOp& op = (*ops)[i];
      const bool has = (requested >> op.slot & 1u) != 0;
      const bool fits = op.what == What::kAsk ? (ever_requested_ >> op.slot & 1u) == 0 : has;
      if (op.what != What::kOwn && !fits) {
        ops->erase(ops->begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      if (op.what == What::kAsk) ever_requested_ |= 1u << op.slot, requested |= 1u << op.slot;
      if (op.what == What::kQuery) KeepRequested(&op.body, requested);
      ++i;
    }
  }

  scheduler::Random random_;
  CancelKernel kernel_;
  unsigned ever_requested_ = 0;  // slots, a bit each
};

class Writer {
 public:
  explicit Writer(const CancelKernel& kernel) : kernel_(kernel) {}

  std::string Take() {
    const std::string array = Cat("i32[", kernel_.blocks, "]"), ref = Cat("ref<gmem,", array, ">");
    Append(&text_, "pkir 1;\nkernel @k {\nbackend mosaic_gpu;\nin %c: ", array, " space gmem;\nout %m: ", array,
           " space gmem alias %c;\nmesh gpu {grid=[", kernel_.blocks,
           "], grid_names=[\"g\"], cluster=[], cluster_names=[], threads=none, thread_name=none};\nbody @k (%cr: ", ref,
           " as \"c\", %mr: ", ref, " as \"m\") {\n");
    std::string refs;
    for (int i = 0; i < kernel_.slots; ++i)
      Append(&refs, i > 0 ? ", " : "", "%r", i, ": ref<smem,i8[16]> as \"r", i, "\", %b", i,
             ": ref<smem,barrier{arrivals=1, orders_tensor_core=false}[1]> as \"b", i, "\"");
    Append(&text_, "run_scoped{collective_axes=[]}() (", refs, ") {\n%g = axis_index{axis=\"g\"}() : i32[];\n");
    Ops(kernel_.ops, "");
    Append(&text_, "return;\n};\nreturn;\n}\n}\n");
    return std::move(text_);
  }

 private:
  std::string Fresh() { return Cat("%v", ++values_); }

  void Work(const std::string& index) {
    std::string value = Fresh();
    Append(&text_, value, " = mul(", index, ", 7:i32) : i32[];\n");
    if (kernel_.names_doer) {
      const std::string doer = Fresh(), sum = Fresh();
      Append(&text_, doer, " = mul(%g, 100:i32) : i32[];\n", sum, " = add(", value, ", ", doer, ") : i32[];\n");
      value = sum;
    }
    Append(&text_, "_ = swap(%mr.at[", index, "], ", value, ") : i32[];\n");
  }

  void Ops(const std::vector<CancelOp>& ops, const std::string& taken) {
    for (const CancelOp& op : ops) {
      switch (op.what) {
        case What::kOwn:
          Work("%g");
          break;
        case What::kAsk:
          Append(&text_, "try_cluster_cancel(result=%r", op.slot, ", barrier=%b", op.slot, ");\n");
          break;
        case What::kWait:
          Append(&text_, "barrier_wait(barrier=%b", op.slot, ");\n");
          break;
        case What::kTaken:
          Work(taken);
          break;
        case What::kQuery: {
          const std::string index = Fresh(), ok = Fresh(), bit = Fresh();
          Append(&text_, index, ", ", ok, " = query_cluster_cancel{grid_names=[\"g\"]}(result=%r", op.slot,
                 ") : i32[], bool[];\n", bit, " = convert_element_type{to=i32}(", ok, ") : i32[];\ncond(", bit,
                 ") {\nreturn;\n} {\n");
          Ops(op.body, index);
          Append(&text_, "return;\n};\n");
        }
      }
    }
  }

  const CancelKernel& kernel_;
  std::string text_;
  int values_ = 0;
};

// The operations in a row; of a query: how many to leave out where there is no work.
struct Step {
  What what = What::kOwn;
  int slot = 0, taken_of = 0, skip = 0;
};
void Flatten(const std::vector<CancelOp>& ops, int taken_of, std::vector<Step>* steps) {
  for (const CancelOp& op : ops) {
    const std::size_t at = steps->size();
    steps->push_back({op.what, op.slot, taken_of});
    Flatten(op.body, op.slot, steps);
    (*steps)[at].skip = static_cast<int>(steps->size() - at);
  }
}

constexpr int kNone = -3, kPending = -2, kRefused = -1;  // else the block whose work it is
struct Block {
  enum : std::uint8_t { kWaits, kRuns, kTakenBy } state = kWaits;
  int pc = 0;
  bool was_refused = false;
  std::vector<int> answers, read;  // by slot; how often
  std::vector<bool> did;           // by slot: its work
};

class Search {
 public:
  Search(const CancelKernel& kernel, Mutation mutation) : kernel_(kernel), mutation_(mutation) {
    Flatten(kernel.ops, 0, &steps_);
    const auto slots = static_cast<std::size_t>(kernel.slots);
    State start;
    start.blocks.resize(static_cast<std::size_t>(kernel.blocks));
    for (Block& block : start.blocks) {
      block.answers.assign(slots, kNone);
      block.read.assign(slots, 0);
      block.did.assign(slots, false);
    }
    for (int i = 0; i < kernel.blocks; ++i) start.written.push_back(InputOfM(i));
    Visit(start);
  }
  CancelReached reached;

 private:
  struct State {
    std::vector<Block> blocks;
    std::vector<std::int64_t> written;
  };

  static std::string KeyOf(const State& state) {
    std::string key;
    for (const Block& block : state.blocks) {
      Append(&key, static_cast<int>(block.state), ".", block.pc, block.was_refused ? "n" : "", ":");
      for (std::size_t s = 0; s < block.answers.size(); ++s)
        Append(&key, block.answers[s], ".", block.read[s], block.did[s] ? "d" : "", ",");
    }
    for (const std::int64_t value : state.written) Append(&key, value, ",");
    return key;
  }

  void Visit(const State& state) {
    if (!seen_.insert(KeyOf(state)).second) return;
    bool goes_on = false;
    const auto go = [&](State next) {
      goes_on = true;
      Visit(next);
    };
    for (std::size_t b = 0; b < state.blocks.size(); ++b) {
      const Block& block = state.blocks[b];
      if (block.state == Block::kWaits) {
        State next = state;
        next.blocks[b].state = Block::kRuns;
        go(std::move(next));
      }
      for (std::size_t s = 0; s < block.answers.size(); ++s) {
        if (block.answers[s] == kPending) Answer(state, b, s, go);
      }
      if (block.state == Block::kRuns && CanGo(block)) {
        State next = state;
        Do(&next, static_cast<int>(b));
        go(std::move(next));
      }
    }
    if (goes_on) return;
    std::string outputs;
    for (const std::int64_t value : state.written) Append(&outputs, value, ",");
    reached.outputs.insert(outputs);
    for (const Block& block : state.blocks) {
      for (std::size_t s = 0; s < block.answers.size(); ++s)
        reached.lost |= block.answers[s] >= 0 && block.read[s] == 0 && mutation_ != Mutation::kNothingLost;
    }
  }

  template <class Go>
  void Answer(const State& state, std::size_t b, std::size_t s, const Go& go) {
    for (int other = kRefused; other < kernel_.blocks; ++other) {
      if (other >= 0 && state.blocks[static_cast<std::size_t>(other)].state != Block::kWaits) continue;
      State next = state;
      next.blocks[b].answers[s] = other;
      if (other >= 0) next.blocks[static_cast<std::size_t>(other)].state = Block::kTakenBy;
      go(std::move(next));
    }
  }

  bool CanGo(const Block& block) const {
    if (block.pc >= static_cast<int>(steps_.size())) return false;
    const Step& step = steps_[static_cast<std::size_t>(block.pc)];
    // One that does not wait reads too early; what comes then is not followed.
    const bool needs = step.what == What::kWait || step.what == What::kQuery;
    return !needs || block.answers[static_cast<std::size_t>(step.slot)] != kPending;
  }

  void Work(State* state, int doer, int index) const {
    state->written[static_cast<std::size_t>(index)] = 7 * index + (kernel_.names_doer ? 100 * doer : 0);
  }

  void Do(State* state, int b) {
    Block& block = state->blocks[static_cast<std::size_t>(b)];
    const Step& step = steps_[static_cast<std::size_t>(block.pc)];
    const auto slot = static_cast<std::size_t>(step.slot), taken = static_cast<std::size_t>(step.taken_of);
    ++block.pc;
    switch (step.what) {
      case What::kOwn:
        return Work(state, b, b);
      case What::kAsk:
        reached.after_no |= block.was_refused;
        block.answers[slot] = kPending;
        return;
      case What::kWait:
        return;
      case What::kQuery:
        ++block.read[slot];
        block.was_refused |= block.answers[slot] == kRefused;
        if (block.answers[slot] == kRefused) block.pc += step.skip - 1;
        return;
      case What::kTaken:
        reached.twice |= block.did[taken] && block.read[taken] > 1;
        block.did[taken] = true;
        return Work(state, b, block.answers[taken]);
    }
  }

  const CancelKernel& kernel_;
  const Mutation mutation_;
  std::vector<Step> steps_;
  std::set<std::string> seen_;
};

// Is there a query that no wait for its answer comes before?
bool ReadsEarly(const std::vector<CancelOp>& ops, unsigned awaited) {
  for (const CancelOp& op : ops) {
    if (op.what == What::kWait) awaited |= 1u << op.slot;
    if (op.what != What::kQuery) continue;
    if ((awaited >> op.slot & 1u) == 0 || ReadsEarly(op.body, awaited)) return true;
  }
  return false;
}

bool Has(const Report& report, FindingCode code) {
  for (const ReportedFinding& finding : report.findings) {
    if (finding.code == code) return true;
  }
  return false;
}

void TakeVerdict(const Report& report, bool lie, HuntResult* result) {
  result->verdict = lie && report.verdict == Verdict::kClean ? "proved" : Name(report.verdict);
  for (const ReportedFinding& finding : report.findings) {
    if (result->codes.find(Code(finding.code)) == std::string::npos)
      Append(&result->codes, result->codes.empty() ? "" : " ", Code(finding.code));
  }
}

void Compare(const CancelReached& reached, const Report& report, bool exhaustive, HuntResult* result) {
  const std::string how = exhaustive ? "exhaustive" : "seeds";
  const auto contradict = [&](bool holds, const char* kind) {
    if (holds) result->Contradict(kind, how);
  };
  const bool control = Has(report, FindingCode::kLaunchControl), race = Has(report, FindingCode::kRaceAsync);
  const bool wrong = reached.lost || reached.twice || reached.after_no, all = exhaustive && result->exhausted;
  const bool proved = report.proved || (!exhaustive && result->verdict == "proved");
  const bool orders = reached.outputs.size() > 1, differ = Has(report, FindingCode::kNondeterministic);
  contradict(proved && (wrong || reached.early), "proved, but an order is wrong");
  contradict(proved && orders, "proved, but orders differ");
  contradict(race != reached.early && (race || all), "one of two has the answer read early");
  if (reached.early || race) return;  // what is read then is not defined
  contradict(control && !wrong, "a defect of launch control that no order has");
  contradict(!control && wrong && all, "a defect of launch control is missed");
  contradict(Has(report, FindingCode::kDeadlock), "a deadlock that no order has");
  contradict(differ && !orders, "outputs differ, but no two orders do");
  contradict(all && report.findings.empty() && orders, "exhaustive, but orders differ");
  result->missed |= !exhaustive && report.findings.empty() && !proved && (wrong || orders);
}

}  // namespace

CancelKernel RandomCancel(std::uint64_t seed) { return Generator(StreamOf(seed)).Make(); }

std::string CancelText(const CancelKernel& kernel) { return Writer(kernel).Take(); }

CancelReached ExploreCancel(const CancelKernel& kernel, Mutation mutation) {
  CancelReached reached = Search(kernel, mutation).reached;
  reached.early = ReadsEarly(kernel.ops, 0);
  return reached;
}

HuntResult JudgeCancel(const CancelKernel& kernel, const HuntOptions& options) {
  HuntResult result;
  result.text = CancelText(kernel);
  const CancelReached reached = ExploreCancel(kernel, options.mutation);
  result.searched = true;
  const absl::StatusOr<PreparedKernel> prepared =
      PrepareText(result.text, {.kernel = "", .target = "mosaic_gpu/b200", .path = ""});
  if (!prepared.ok()) {
    result.Contradict("refused", prepared.status().ToString());
    return result;
  }
  Tensor m(DType::kI32, {kernel.blocks});
  for (int i = 0; i < kernel.blocks; ++i)
    m.span<std::int32_t>()[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(InputOfM(i));
  for (const bool exhaustive : {false, true}) {
    if (exhaustive && options.max_schedules == 0) break;
    CheckOptions check{.seeds = options.seeds, .contracts = false, .threads = 1};
    check.exhaustive = exhaustive;
    std::int64_t polls = 0;
    if (exhaustive) check.interrupted = [&] { return ++polls > options.max_schedules; };
    const absl::StatusOr<Report> report = Check(*prepared, {m}, check);
    if (!report.ok()) {
      result.Contradict("error", report.status().ToString());
      return result;
    }
    if (exhaustive) {
      result.exhausted = !report->interrupted && report->argument.rfind("all schedules were run", 0) == 0;
    } else {
      TakeVerdict(*report, options.lie, &result);
    }
    Compare(reached, *report, exhaustive, &result);
  }
  return result;
}

}  // namespace palladion::hunt
