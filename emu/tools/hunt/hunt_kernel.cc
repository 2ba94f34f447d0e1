#include "emu/tools/hunt/hunt_kernel.h"

#include <algorithm>
#include <utility>

#include "emu/tools/hunt/hunt_text.h"
#include "emu/tools/hunt/hunt_tpu.h"
#include "emu/tools/hunt/hunt_writer.h"
#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

// Writes the text line by line and, with it, what each line is for the reference machine.
class Writer final : public TextWriter {
 public:
  using TextWriter::TextWriter;

  Written Take() {
    out_.code.resize(kernel_.agents.size() * (HasWarps(kernel_) ? 1 + kWarpsOfThread : 1));
    sums_.assign(kernel_.agents.size(), "0:i32");
    Head();
    Scope();
    if (kernel_.later.empty()) {
      Branches(kernel_.agents, /*last=*/true);
    } else {
      InScope("s", /*last=*/false);
      InScope("t", /*last=*/true);
    }
    Line("return;");
    if (scoped_) {
      Line("};");
      Line("return;");
    }
    Line("}");
    Line("}");
    return std::move(out_);
  }

 private:
  void Head() {
    const bool gpu = kernel_.family != Family::kPrograms;
    const std::string matrix = MatrixType(kernel_), sums = Cat("i32[", kernel_.agents.size(), "]");
    const std::string space = gpu ? " space gmem" : "", ref = gpu ? "ref<gmem," : "ref<default,";
    const std::size_t agents = kernel_.agents.size();
    Line("pkir 1;");
    Line("kernel @k {");
    if (gpu) Line("backend mosaic_gpu;");
    if (!gpu) Line(Cat("grid [", agents, "];"));
    Line(Cat("in %x: ", matrix, space, ";"));
    Line(Cat("in %c: ", matrix, space, WindowText(kernel_), ";"));
    Line(Cat("out %o: ", sums, space, ";"));
    Line(Cat("out %m: ", matrix, space, WindowText(kernel_), " alias %c;"));
    if (gpu) Line(MeshText(kernel_));
    const std::string window = kernel_.window < 0 ? matrix : Cat("i32[1,", kRowElements, "]");
    Line(Cat("body @k (%xr: ", ref, matrix, "> as \"x\", %cr: ", ref, window, "> as \"c\", %or: ", ref, sums,
             "> as \"o\", %mr: ", ref, window, "> as \"m\") {"));
  }

  // The number of the agent.
  void Me() {
    const int blocks = kernel_.blocks, threads = static_cast<int>(kernel_.agents.size()) / blocks;
    if (kernel_.family == Family::kBlocks) return Line("%me = axis_index{axis=\"b\"}() : i32[];");
    if (blocks == 1) return Line("%me = axis_index{axis=\"wg\"}() : i32[];");
    Line("%block = axis_index{axis=\"b\"}() : i32[];");
    Line(Cat("%first = mul(%block, ", threads, ":i32) : i32[];"));
    Line("%thread = axis_index{axis=\"wg\"}() : i32[];");
    Line("%me = add(%first, %thread) : i32[];");
  }

  void Scope() {
    if (kernel_.family == Family::kPrograms) return Line("%me = program_id{axis=0}() : i32[];");
    const std::vector<std::string> refs = ScopeRefs(kernel_);
    scoped_ = !refs.empty();
    std::string list;
    for (const std::string& ref : refs) Append(&list, list.empty() ? "" : ", ", ref);
    if (scoped_) Line(Cat("run_scoped{collective_axes=", Axes(), "}() (", list, ") {"));
    for (int i = 0; i < kernel_.semaphores; ++i)
      Line(Cat("%g", i, " = get_global{what=\"g", i, "\"}() : ref<gmem,sem[]>;"));
    Me();
  }

  const char* Axes() const { return kernel_.family == Family::kThreads ? "[\"wg\"]" : "[]"; }

  // One of two scopes after each other.
  void InScope(const std::string& name, bool last) {
    const std::string result = Fresh();
    shared_ = Cat("%", name);
    for (std::vector<Instr>& code : out_.code) {
      if (!last) continue;
      code.push_back({nullptr, What::kMeet, line_, true});
      code.push_back({nullptr, What::kEnter, line_, true});
    }
    Line(Cat(last ? "" : Cat(result, " = "), "run_scoped{collective_axes=", Axes(), "}() (", shared_, ": ref<smem,",
             MatrixType(kernel_), "> as \"", name, "\") {"));
    later_ = last;
    const std::string sum = Branches(last ? kernel_.later : kernel_.agents, last);
    Line(last ? "return;" : Cat("return ", sum, ";"));
    Line(last ? "};" : "} : i32[];");
    sums_.assign(sums_.size(), result);
  }

  // What each agent does; the last branches write the results, others give the sum.
  std::string Branches(const std::vector<std::vector<Op>>& agents, bool last) {
    const std::string result = Fresh();
    for (std::size_t i = 0; i < agents.size(); ++i) {
      Line(i > 0 ? "} {" : last ? "cond(%me) {" : Cat(result, " = cond(%me) {"));
      code_ = &out_.code[i];
      agent_ = static_cast<int>(i);
      sum_ = sums_[i];
      Ops(agents[i]);
      if (last) {
        Record(What::kResult, nullptr);
        code_->back().place = static_cast<int>(i);
        Line(Cat("_ = swap(%or.at[", i, "], ", sum_, ") : i32[];"));
      }
      Line(last ? "return;" : Cat("return ", sum_, ";"));
    }
    Line(last ? "};" : "} : i32[];");
    return result;
  }

  void Write(const Op& op) override {
    if (op.what == What::kLoop) return Loop(op);
    if (op.what == What::kWarps) return Warps(op);
    Record(op.what == What::kNamedSync ? What::kNamedArrive : op.what, &op);
    if (op.what == What::kNamedSync) Record(What::kNamedWait, &op);
    One(op);
  }

  void Warps(const Op& op) {
    const std::string warp = Fresh(), before = sum_;
    std::vector<Instr>* const thread = code_;
    Record(What::kFork, &op);
    Line("core_map{mesh=warp, axes=[\"warp\"], sizes=[4]}() () {");
    Line(Cat(warp, " = axis_index{axis=\"warp\"}() : i32[];"));
    Line(Cat("cond(", warp, ") {"));
    for (int w = 0; w < kWarpsOfThread; ++w) {
      code_ = &out_.code[kernel_.agents.size() + static_cast<std::size_t>(kWarpsOfThread * agent_ + w)];
      Ops(w == 0 ? op.body : op.otherwise);
      Line("return;");
      Line("} {");
      sum_ = before;
    }
    for (const char* const line : {"return;", "};", "return;", "};"}) Line(line);
    code_ = thread;
    Record(What::kJoin, &op);
  }

  void Loop(const Op& op) {
    const std::string result = Fresh(), carry = Fresh();
    Line(Cat(result, " = scan{length=2, reverse=false}(init=", sum_, ") (", carry, ": i32[]) {"));
    const std::vector<Instr> head = std::exchange(*code_, {});
    sum_ = carry;
    Ops(op.body);
    Line(Cat("return ", sum_, ";"));
    Line("} : i32[];");
    const std::vector<Instr> body = std::exchange(*code_, head);
    for (int i = 0; i < 2; ++i) code_->insert(code_->end(), body.begin(), body.end());
    sum_ = result;
  }

  // The view of an access, and the type of its value.
  std::string ViewAt(const Op& op, const std::string& row, const std::string& columns) const {
    if (op.array == Array::kUnion) {
      const int elements = op.part == Part::kLow || op.part == Part::kHigh ? 64 : 128;
      return Cat("%u.alias{dtype=i32, shape=[", elements,
                 "], offset=", 256 * op.row + (op.part == Part::kHigh ? 256 : 0), "}",
                 op.part == Part::kFirst    ? ".at[0]"
                 : op.part == Part::kMiddle ? ".at[64]"
                                            : "");
    }
    const int blocks = kernel_.blocks, block = agent_ / (static_cast<int>(kernel_.agents.size()) / blocks);
    const std::string peer = Cat(shared_, ".cluster{dims=[\"b\"], idxs=[", (block + 1) % blocks, "]}");
    const std::string ref = op.array == Array::kM          ? (op.alias ? "%cr" : "%mr")
                            : op.array == Array::kX        ? "%xr"
                            : op.array == Array::kPeer     ? peer
                            : op.array == Array::kTensor   ? "%tm"
                            : op.array == Array::kOperands ? "%p"
                                                           : shared_;
    return Cat(ref, ".at[", row, ", ", columns, "]");
  }

  // What stands before the operation: values for its row and its columns.
  std::string View(const Op& op) {
    std::string row = Cat(op.array == Array::kM && kernel_.window >= 0 ? 0 : op.row), columns = Columns(op.part);
    if (op.array != Array::kUnion && op.dynamic) {
      const std::string bit = Fresh(), sum = Fresh();
      row = Fresh();
      Line(Cat(bit, " = and(", sum_, ", 1:i32) : i32[];"));
      Line(Cat(sum, " = add(", bit, ", ", op.row, ":i32) : i32[];"));
      Line(Cat(row, " = rem(", sum, ", ", kernel_.rows, ":i32) : i32[];"));
    } else if (op.array != Array::kUnion && op.style == 1) {
      const std::string number = row;
      row = Fresh();
      Line(Cat(row, " = add(%me, ", std::stoi(number) - agent_, ":i32) : i32[];"));
    }
    if (Half(op.part) && op.style == 2) columns = Columns(Part::kRow);
    if (Half(op.part) && op.style == 3) columns = Lanes(64, op.part == Part::kHigh ? 64 : 0);
    return ViewAt(op, row, columns);
  }

  static bool Half(Part part) { return part == Part::kLow || part == Part::kHigh; }

  // start, start + 1, ...
  std::string Lanes(int n, int start) {
    const std::string lane = Fresh(), shifted = Fresh();
    Line(Cat(lane, " = iota{dim=0}() : i32[", n, "];"));
    Line(Cat(shifted, " = add(", lane, ", ", start, ":i32) : i32[", n, "];"));
    return shifted;
  }
  std::string MaskOf(Part part) {
    const std::string lanes = Lanes(128, 0), mask = Fresh();
    Line(Cat(mask, " = ", part == Part::kLow ? "lt" : "ge", "(", lanes, ", 64:i32) : bool[128];"));
    return mask;
  }
  void AddElements(const std::string& value, Part part) {
    if (IsPoint(part)) return Add(value);
    const std::string term = Fresh();
    Line(Cat(term, " = reduce_sum{axes=[0]}(", value, ") : i32[];"));
    Add(term);
  }

  // `before` and `after` stand around the value, whose line is the operation's own.
  void WithValue(const Op& op, const std::string& before, const std::string& after) {
    const char* const type = op.array == Array::kOperands ? "i8" : "i32";
    std::string value = op.amount == 0 ? sum_ : Cat(op.amount, ":", type);
    if (!IsPoint(op.part)) {
      const std::string wide = Fresh(), shape = op.part == Part::kRow || op.style == 2 ? "128" : "64";
      Line(Cat(wide, " = broadcast_in_dim{shape=[", shape, "], dims=[]}(", value, ") : ", type, "[", shape, "];"));
      value = wide;
    }
    code_->back().line = line_;
    Line(Cat(before, value, after));
  }

  // A half by a mask over the row.
  void Masked(const Op& op) {
    const std::string view = View(op), mask = MaskOf(op.part);
    if (op.what == What::kStore)
      return WithValue(op, Cat("_ = masked_swap(", view, ", "), Cat(", mask=", mask, ") : i32[128];"));
    const std::string zeros = Fresh(), value = Fresh();
    Line(Cat(zeros, " = broadcast_in_dim{shape=[128], dims=[]}(0:i32) : i32[128];"));
    code_->back().line = line_;
    Line(Cat(value, " = masked_load(", view, ", mask=", mask, ", other=", zeros, ") : i32[128];"));
    AddElements(value, op.part);
  }

  void MemoryOp(const Op& op) {
    // The model knows agents, and not their lanes.
    if (kernel_.target == "triton/h100") Line("debug_barrier();");
    if (Half(op.part) && op.style == 2) return Masked(op);
    const std::string view = View(op), type = TypeOf(op.part);
    switch (op.what) {
      case What::kLoad:
      case What::kTensorLoad: {
        const std::string value = Fresh(), load = op.what == What::kLoad ? "get(" : "async_load_tmem(src=";
        code_->back().line = line_;
        Line(Cat(value, " = ", load, view, ") : ", type, ";"));
        return AddElements(value, op.part);
      }
      case What::kTensorStore:
        return WithValue(op, Cat("async_store_tmem(ref=", view, ", value="), ");");
      case What::kStore:
        return WithValue(op, Cat("_ = swap(", view, ", "),
                         Cat(") : ", op.array == Array::kOperands ? Cat("i8", type.substr(3)) : type, ";"));
      case What::kAtomicAdd:
        if (kernel_.family == Family::kPrograms)
          return WithValue(op, Cat("_ = atomic_rmw{op=add}(", view, ", "), Cat(") : ", type, ";"));
        return WithValue(op, Cat("atomic_store{atomic_type=add}(ref=", view, ", value="), ");");
      default: {
        const std::string value = Fresh(), kind = op.what == What::kExchange ? "xchg" : "add";
        WithValue(op, Cat(value, " = atomic_rmw{op=", kind, "}(", view, ", "), Cat(") : ", type, ";"));
        return AddElements(value, op.part);
      }
    }
  }

  void SyncOp(const Op& op) {
    const std::string barrier = Cat("%b", op.object), semaphore = Cat("%g", op.object);
    switch (op.what) {
      case What::kArrive:
        return Line(Cat("barrier_arrive(barrier=", barrier, ");"));
      case What::kWait:
        return Line(Cat("barrier_wait(barrier=", barrier, ");"));
      case What::kTest: {
        const std::string can = Fresh(), number = Fresh();
        Line(Cat(can, " = barrier_test(barrier=", barrier, ") : bool[];"));
        Line(Cat(number, " = convert_element_type{to=i32}(", can, ") : i32[];"));
        return Add(number);
      }
      case What::kSignal:
        return Line(
            Cat("semaphore_signal(ref=", semaphore, ", inc=", op.amount, ":i32, device_id=none, core_index=none);"));
      case What::kSemWait:
        return Line(Cat("semaphore_wait(ref=", semaphore, ", value=", op.amount,
                        ":i32, decrement=", op.flag ? "false" : "true", ");"));
      default: {
        const std::string count = Fresh();
        Line(Cat(count, " = semaphore_read(ref=", semaphore, ") : i32[];"));
        return Add(count);
      }
    }
  }

  // A loop that looks again until it has seen what it waits for.
  void Spin(const Op& op) {
    const bool atomic = kernel_.family == Family::kPrograms;
    const std::string result = Fresh(), seen = Fresh(), more = Fresh(), again = Fresh(), value = Fresh();
    if (atomic && kernel_.target == "triton/h100") Line("debug_barrier();");
    const std::string view = atomic ? View(op) : "";
    Line(Cat(result, " = while(init=-1:i32) (", seen, ": i32[]) {"));
    Line(Cat(more, " = ", atomic ? "ne" : "lt", "(", seen, ", ", op.amount, ":i32) : bool[];"));
    Line(Cat("return ", more, ";"));
    Line(Cat("} (", again, ": i32[]) {"));
    code_->back().line = line_;
    Line(atomic ? Cat(value, " = atomic_rmw{op=add}(", view, ", 0:i32) : i32[];")
                : Cat(value, " = semaphore_read(ref=%g", op.object, ") : i32[];"));
    Line(Cat("return ", value, ";"));
    Line("} : i32[];");
    Add(result);
  }

  void One(const Op& op) {
    switch (op.what) {
      case What::kSpin:
        return Spin(op);
      case What::kFence:
        return Line("commit_smem();");
      case What::kCopyIn:
        return Line(Cat("copy_gmem_to_smem{collective_axes=none, leader_tracked=none, oob_mode=zeros}(src=%xr.at[",
                        op.row, ", *], dst=", shared_, ".at[", op.to, ", *], barrier=%b", op.object, ");"));
      case What::kMulticast:
        return Line(Cat("copy_gmem_to_smem{collective_axes=[\"b\"], leader_tracked=none, oob_mode=zeros}(src=%xr.at[",
                        op.row, ", *], dst=", shared_, ".at[", op.to, ", *], barrier=%b", op.object, ");"));
      case What::kCopyOut:
        return Line(Cat("copy_smem_to_gmem{has_user_predicate=false, commit_group=true, reduction_op=none}(src=",
                        shared_, ".at[", op.row, ", *], dst=%mr.at[", op.to, ", *]);"));
      case What::kAwait:
        return Line(Cat("wait_smem_to_gmem{wait_read_only=", op.flag ? "true" : "false", "}(", op.amount, ":~i32);"));
      case What::kLoad:
      case What::kStore:
      case What::kAtomicAdd:
      case What::kAtomicSee:
      case What::kExchange:
      case What::kTensorLoad:
      case What::kTensorStore:
        return MemoryOp(op);
      default:
        if (const std::string text = TensorText(op, shared_, kernel_); !text.empty()) return Line(text);
        return SyncOp(op);
    }
  }

  std::vector<std::string> sums_;  // of each agent, where its branch begins
  std::string shared_ = "%s";
  bool scoped_ = false;
};

}  // namespace

bool HasWarps(const HuntKernel& kernel) {
  for (const std::vector<Op>& ops : kernel.agents) {
    if (std::any_of(ops.begin(), ops.end(), [](const Op& op) { return op.what == What::kWarps; })) return true;
  }
  return false;
}

Written Write(const HuntKernel& kernel) {
  return kernel.family == Family::kTpu ? WriteTpu(kernel) : Writer(kernel).Take();
}

}  // namespace palladion::hunt
