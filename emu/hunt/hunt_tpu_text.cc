// The text of a TPU kernel of the hunt. Each agent, and each of its programs, has lines of its own.
#include <string>
#include <utility>
#include <vector>

#include "emu/hunt/hunt_tpu.h"
#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

class TpuWriter {
 public:
  explicit TpuWriter(const HuntKernel& kernel) : kernel_(kernel), shares_(kernel.cores != Cores::kDevices) {}

  Written Take() {
    out_.code.resize(static_cast<std::size_t>(kernel_.blocks));
    Head();
    Number();
    Line("cond(%at) {");
    for (std::size_t i = 0; i < kernel_.agents.size(); ++i) {
      if (i > 0) Line("} {");
      agent_ = static_cast<int>(i) / kernel_.steps;
      code_ = &out_.code[static_cast<std::size_t>(agent_)];
      sum_ = "0:i32";
      const int step = static_cast<int>(i) % kernel_.steps;
      for (const Instr& instr : PipelineBefore(kernel_, step)) code_->push_back(instr);
      Ops(kernel_.agents[i]);
      Result(static_cast<int>(i));
      for (const Instr& instr : PipelineAfter(kernel_, step)) code_->push_back(instr);
      Line("return;");
    }
    Line("};");
    Line("return;");
    Line("}");
    Line("}");
    return std::move(out_);
  }

 private:
  void Line(const std::string& text) {
    Append(&out_.text, text, "\n");
    ++line_;
  }
  std::string Fresh() { return Cat("%v", ++values_); }
  void Record(What what, const Op* op) { code_->push_back({op, what, line_}); }

  void Head() {
    const std::string matrix = Cat("i32[", kernel_.rows, ",", kRowElements, "]");
    const int agents = static_cast<int>(kernel_.agents.size());
    const std::string sums = shares_ ? Cat("i32[", agents, ",1]") : Cat("i32[", kernel_.steps, "]");
    const bool devices = !shares_ && kernel_.blocks > 1, tasks = kernel_.cores == Cores::kTasks;
    Line("pkir 1;");
    Line("kernel @k {");
    Line("backend mosaic_tpu;");
    if (tasks) Line("params {dimension_semantics=[\"parallel\"]};");
    if (devices) Line(Cat("devices {d=", kernel_.blocks, "};"));
    const bool grid = tasks || kernel_.steps > 1;
    if (grid) Line(Cat("grid [", agents / (tasks ? 1 : kernel_.blocks), "];"));
    if (!grid && kernel_.cores != Cores::kOfChip) Line("grid [];");
    std::string refs;
    const auto operand = [&](const std::string& head, const std::string& name, const std::string& type,
                             const std::string& tail) {
      const bool scratch = head == "scratch";
      const auto comma = type.find(',');
      const std::string space = type.substr(4, comma - 4), array = type.substr(comma + 1, type.size() - comma - 2);
      Line(scratch ? Cat("scratch %", name, ": ", type, ";")
                   : Cat(head, " %", name, ": ", array, " space ", space, tail, ";"));
      Append(&refs, refs.empty() ? "" : ", ", "%", name, "r: ", type, " as \"", name, "\"");
    };
    const auto blocked = [&](const std::string& head, const std::string& name, const std::string& map) {
      Line(Cat(head, " %", name, ": ", matrix, map, ";"));
      Append(&refs, ", %", name, "r: ref<default,i32[1,", kRowElements, "]> as \"", name, "\"");
    };
    operand("in", "x", Cat("ref<any,", matrix, ">"), "");
    if (!kernel_.in_block.on) operand("in", "c", Cat("ref<any,", matrix, ">"), "");
    if (kernel_.in_block.on) blocked("in", "c", Map(kernel_.in_block));
    operand("out", "o", Cat("ref<", shares_ ? "any" : "smem", ",", sums, ">"), "");
    if (!kernel_.out_block.on) operand("out", "m", Cat("ref<any,", matrix, ">"), " alias %c");
    if (kernel_.out_block.on) blocked("out", "m", Cat(Map(kernel_.out_block), " alias %c"));
    if (kernel_.cores == Cores::kOfChip) Line(Cat("mesh tensorcore {axes=[\"d\"], sizes=[", kernel_.blocks, "]};"));
    operand("scratch", "s", Cat("ref<vmem,", matrix, ">"), "");
    if (shares_) operand("scratch", "t", "ref<smem,i32[1]>", "");
    if (shares_) operand("scratch", "u", "ref<semaphore,dma_sem[]>", "");
    for (int i = 0; i < kernel_.dmas; ++i) operand("scratch", Cat("q", i), "ref<semaphore,dma_sem[]>", "");
    for (int i = 0; i < kernel_.semaphores; ++i) operand("scratch", Cat("g", i), "ref<semaphore,sem[]>", "");
    Line(Cat("body @k (", refs, ") {"));
  }

  std::string Map(const Blocked& blocked) const {
    return Cat(" block (1,", kRowElements, ") map (%i: i32[]) { %a = mul(%i, ", blocked.factor,
               ":i32) : i32[]; %b = add(%a, ", blocked.start, ":i32) : i32[]; %r = rem(%b, ", kernel_.rows,
               ":i32) : i32[]; return %r, 0:i32; }", blocked.single ? " buffered {buffer_count=1}" : "");
  }

  // The number of the agent's program.
  void Number() {
    if (kernel_.cores == Cores::kTasks) return Line("%at = program_id{axis=0}() : i32[];");
    const bool steps = kernel_.steps > 1, devices = kernel_.blocks > 1;
    if (!devices && !steps) return Line("%at = add(0:i32, 0:i32) : i32[];");
    if (!devices) return Line("%at = program_id{axis=0}() : i32[];");
    if (!steps) return Line("%at = axis_index{axis=\"d\"}() : i32[];");
    Line("%me = axis_index{axis=\"d\"}() : i32[];");
    Line(Cat("%first = mul(%me, ", kernel_.steps, ":i32) : i32[];"));
    Line("%step = program_id{axis=0}() : i32[];");
    Line("%at = add(%first, %step) : i32[];");
  }

  void Result(int program) {
    Record(What::kResult, nullptr);
    code_->back().place = program;
    if (!shares_) return Line(Cat("_ = swap(%or.at[", program % kernel_.steps, "], ", sum_, ") : i32[];"));
    Line(Cat("_ = swap(%tr.at[0], ", sum_, ") : i32[];"));
    const std::string refs = Cat("src=%tr, dst=%or.at[", program, ", *], dst_sem=%ur, src_sem=none, device_id=none");
    Line(Cat("dma_start{device_id_type=logical, priority=0, add=false}(", refs, ");"));
    Line(Cat("dma_wait{device_id_type=logical, insert_dummy_device=false}(", refs, ");"));
  }

  void Ops(const std::vector<Op>& ops) {
    for (const Op& op : ops) {
      if (op.what == What::kIf) {
        If(op);
      } else {
        Record(op.what, &op);
        One(op);
      }
    }
  }

  void If(const Op& op) {
    const std::string bit = Fresh(), result = Fresh(), before = sum_;
    Line(Cat(bit, " = and(", sum_, ", 1:i32) : i32[];"));
    const std::size_t branch = code_->size();
    Record(What::kIf, &op);
    Line(Cat(result, " = cond(", bit, ") {"));
    const std::vector<Instr> head = std::exchange(*code_, {});
    Ops(op.otherwise);
    Line(Cat("return ", sum_, ";"));
    const std::vector<Instr> otherwise = std::exchange(*code_, {});
    sum_ = before;
    Line("} {");
    Ops(op.body);
    Line(Cat("return ", sum_, ";"));
    const std::vector<Instr> body = std::exchange(*code_, head);
    Line("} : i32[];");
    (*code_)[branch].skip = static_cast<int>(body.size()) + 1;
    code_->insert(code_->end(), body.begin(), body.end());
    code_->push_back({nullptr, What::kJump, 0, false, static_cast<int>(otherwise.size())});
    code_->insert(code_->end(), otherwise.begin(), otherwise.end());
    sum_ = result;
  }

  static std::string Columns(Part part) {
    static constexpr const char* kText[] = {"0", "64", "0 +: 64", "64 +: 64", "*"};
    return kText[static_cast<int>(part)];
  }
  static bool IsPoint(Part part) { return part == Part::kFirst || part == Part::kMiddle; }
  static std::string TypeOf(Part part) { return IsPoint(part) ? "i32[]" : part == Part::kRow ? "i32[128]" : "i32[64]"; }
  std::string View(const Op& op, Array array, int row) const {
    const bool block = array == Array::kBlockIn || array == Array::kBlockOut;
    if (block) return Cat(array == Array::kBlockIn ? "%cr" : "%mr", ".at[0, ", Columns(op.part), "]");
    const bool alias = kernel_.pipelined() ? kernel_.out_block.on : op.alias;
    const char* const ref = array == Array::kX ? "%xr" : array == Array::kShared ? "%sr" : alias ? "%cr" : "%mr";
    return Cat(ref, ".at[", row, ", ", Columns(op.part), "]");
  }

  // sum = 3 * sum + term
  void Add(const std::string& term) {
    const std::string tripled = Fresh(), sum = Fresh();
    Line(Cat(tripled, " = mul(", sum_, ", 3:i32) : i32[];"));
    Line(Cat(sum, " = add(", tripled, ", ", term, ") : i32[];"));
    sum_ = sum;
  }

  void Load(const Op& op) {
    const std::string value = Fresh();
    Line(Cat(value, " = get(", View(op, op.array, op.row), ") : ", TypeOf(op.part), ";"));
    if (IsPoint(op.part)) return Add(value);
    const std::string term = Fresh();
    Line(Cat(term, " = reduce_sum{axes=[0]}(", value, ") : i32[];"));
    Add(term);
  }

  void Store(const Op& op) {
    std::string value = op.amount == 0 ? sum_ : Cat(op.amount, ":i32");
    if (!IsPoint(op.part)) {
      const std::string wide = Fresh(), shape = op.part == Part::kRow ? "128" : "64";
      Line(Cat(wide, " = broadcast_in_dim{shape=[", shape, "], dims=[]}(", value, ") : i32[", shape, "];"));
      value = wide;
    }
    code_->back().line = line_;
    Line(Cat("_ = swap(", View(op, op.array, op.row), ", ", value, ") : ", TypeOf(op.part), ";"));
  }

  void Spin(const Op& op) {
    const std::string result = Fresh(), seen = Fresh(), more = Fresh(), again = Fresh(), value = Fresh();
    Line(Cat(result, " = while(init=-1:i32) (", seen, ": i32[]) {"));
    Line(Cat(more, " = lt(", seen, ", ", op.amount, ":i32) : bool[];"));
    Line(Cat("return ", more, ";"));
    Line(Cat("} (", again, ": i32[]) {"));
    code_->back().line = line_;
    Line(Cat(value, " = semaphore_read(ref=%g", op.object, "r) : i32[];"));
    Line(Cat("return ", value, ";"));
    Line("} : i32[];");
    Add(result);
  }

  int Peer() const { return (agent_ + 1) % kernel_.blocks; }

  void Dma(const Op& op) {
    const std::string device = op.peer ? Cat(Peer(), ":i32") : "none",
                      sent = op.peer ? Cat("%q", op.other, "r") : "none";
    Line(Cat("dma_start{device_id_type=logical, priority=0, add=false}(src=", View(op, op.array, op.row),
             ", dst=", View(op, op.there, op.to), ", dst_sem=%", op.flag ? "g" : "q", op.object, "r, src_sem=", sent,
             ", device_id=", device, ");"));
  }

  void One(const Op& op) {
    switch (op.what) {
      case What::kLoad:
        return Load(op);
      case What::kStore:
        return Store(op);
      case What::kDma:
        return Dma(op);
      case What::kDmaWait: {
        const std::string of = Cat("%sr.at[0, ", Columns(op.part), "]");
        return Line(Cat("dma_wait{device_id_type=logical, insert_dummy_device=false}(src=", of, ", dst=", of,
                        ", dst_sem=%q", op.object, "r, src_sem=none, device_id=none);"));
      }
      case What::kSignal: {
        const bool core = op.peer && kernel_.cores == Cores::kOfChip, device = op.peer && !core;
        return Line(Cat("semaphore_signal{device_id_type=logical}(ref=%g", op.object, "r, inc=", op.amount,
                        ":i32, device_id=", device ? Cat(Peer(), ":i32") : "none",
                        ", core_index=", core ? Cat(Peer(), ":i32") : "none", ");"));
      }
      case What::kSpin:
        return Spin(op);
      case What::kSemWait:
        return Line(Cat("semaphore_wait(ref=%g", op.object, "r, value=", op.amount, ":i32, decrement=true);"));
      default: {
        const std::string count = Fresh();
        Line(Cat(count, " = semaphore_read(ref=%", op.flag ? "q" : "g", op.object, "r) : i32[];"));
        return Add(count);
      }
    }
  }

  const HuntKernel& kernel_;
  const bool shares_;
  Written out_;
  std::vector<Instr>* code_ = nullptr;
  std::string sum_;
  int agent_ = 0, line_ = 1, values_ = 0;
};

}  // namespace

Written WriteTpu(const HuntKernel& kernel) { return TpuWriter(kernel).Take(); }

}  // namespace palladion::hunt
