// The text of a TPU kernel of the hunt. Each agent, and each of its programs, has lines of its own.
#include <string>
#include <utility>
#include <vector>

#include "emu/tools/hunt/hunt_tpu.h"
#include "emu/tools/hunt/hunt_writer.h"
#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

class TpuWriter final : public TextWriter {
 public:
  explicit TpuWriter(const HuntKernel& kernel) : TextWriter(kernel), shares_(kernel.cores != Cores::kDevices) {}

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

  void Write(const Op& op) override {
    Record(op.what, &op);
    One(op);
  }

  std::string View(const Op& op, Array array, int row) const {
    const bool block = array == Array::kBlockIn || array == Array::kBlockOut;
    if (block) return Cat(array == Array::kBlockIn ? "%cr" : "%mr", ".at[0, ", Columns(op.part), "]");
    const bool alias = kernel_.pipelined() ? kernel_.out_block.on : op.alias;
    const char* const ref = array == Array::kX ? "%xr" : array == Array::kShared ? "%sr" : alias ? "%cr" : "%mr";
    return Cat(ref, ".at[", row, ", ", Columns(op.part), "]");
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

  const bool shares_;
};

}  // namespace

Written WriteTpu(const HuntKernel& kernel) { return TpuWriter(kernel).Take(); }

}  // namespace palladion::hunt
