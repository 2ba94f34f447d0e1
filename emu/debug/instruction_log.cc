#include "emu/debug/instruction_log.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "emu/checks/access_text.h"
#include "emu/checks/mark_walk.h"
#include "emu/debug/observed.h"
#include "emu/debug/value_hash.h"
#include "emu/prepared_kernel.h"
#include "semantics/base/cat.h"

namespace palladion {
namespace {

// Tabs and line ends divide fields and records, so no name may hold one.
std::string Field(std::string text) {
  for (char& c : text) {
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  }
  return text.empty() ? "-" : text;
}

class LogWriter final : public StepHooks, public AccessObserver {
 public:
  LogWriter(const PreparedKernelState& state, std::ostream& out)
      : state_(state), kernel_(KernelOf(state)), out_(out), hashes_(kernel_.values.size()) {}

  void Watch(Memory& memory) { memory_ = &memory; }

  void Header(absl::Span<const Tensor> inputs) {
    out_ << "palladion-log 1\nkernel " << kernel_.name << "\ntarget " << ToString(state_.program().target) << "\n";
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& tensor = inputs[i];
      out_ << "in " << state_.inputs()[i].name << ":" << TypeString(tensor.dtype(), tensor.shape()) << "="
           << HashText(HashValue(tensor.dtype(), tensor.bytes(), static_cast<std::size_t>(tensor.num_elements())))
           << "\n";
    }
    for (const OperandDescription& output : state_.outputs())
      out_ << "out " << output.name << ":" << TypeString(output.dtype, output.shape) << "\n";
  }

  void After(const Step& step, Frame& frame) override {
    const Mark* mark = MarkOf(step);
    if (mark == nullptr) return;
    walk_.Pass(*mark);
    switch (mark->kind) {
      case Mark::Kind::kBegin:
        accesses_.emplace_back();
        return;
      case Mark::Kind::kEnter:
        if (mark->instr == nullptr) accesses_.clear();
        for (const MarkedValue& param : mark->in) hashes_[param.value.index()].known = false;
        return;
      case Mark::Kind::kLeave:
        return;
      case Mark::Kind::kFinish:
        Record(*mark, frame);
        accesses_.pop_back();
        return;
    }
  }

  // Between an instruction's marks an access is the instruction's; copies of blocks are nobody's.
  void Box(AccessKind kind, const BoxAccess& access, const BoxReach&, const std::byte* value) override {
    if (accesses_.empty()) return;
    std::string text = Cat(Name(kind), " ", memory_->NameOf(access.buffer), BoxText(access));
    if (kind == AccessKind::kWrite && value != nullptr) {
      const DType dtype = memory_->DTypeOf(access.buffer);
      std::size_t words = memory_->ElementBytesOf(access.buffer) / StorageBytes(dtype);
      for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d)
        words *= static_cast<std::size_t>(access.count[d]);
      Append(&text, "=", HashText(HashValue(dtype, value, words)));
    }
    accesses_.back().push_back(std::move(text));
  }

  void Points(AccessKind kind, const PointAccess& access, const std::byte*) override {
    if (accesses_.empty()) return;
    const auto* offsets = reinterpret_cast<const std::byte*>(access.offset.data());
    accesses_.back().push_back(Cat(Name(kind), " ", memory_->NameOf(access.buffer), "{", access.offset.size(),
                                   "}=", HashText(HashValue(DType::kI64, offsets, access.offset.size()))));
  }

 private:
  struct KnownHash {
    bool known = false;
    std::uint64_t hash = 0;
  };

  std::string HashOf(const MarkedValue& operand, const Type& type, Frame& frame) {
    const auto compute = [&] {
      return HashValue(type.dtype, frame.slot(operand.slot), ByteSize(type) / StorageBytes(type.dtype));
    };
    if (!operand.value.valid()) return HashText(compute());
    KnownHash& known = hashes_[operand.value.index()];
    if (!known.known) known = {true, compute()};
    return HashText(known.hash);
  }

  std::string Named(const MarkedValue& value) const {
    return value.value.valid() ? Cat("%", kernel_.values[value.value.index()].name) : "_";
  }

  void Record(const Mark& mark, Frame& frame) {
    const Instr& instr = *mark.instr;
    std::vector<std::string> results, operands;
    for (const MarkedValue& result : mark.out) {
      if (!result.slot.valid()) continue;
      const Type& type = kernel_.values[result.value.index()].type;
      hashes_[result.value.index()].known = false;
      results.push_back(Cat(Named(result), ":", ToString(type), "=", HashOf(result, type, frame)));
    }
    for (std::size_t i = 0; i < mark.in.size(); ++i) {
      if (!mark.in[i].slot.valid()) continue;
      operands.push_back(Cat(Named(mark.in[i]), "=", HashOf(mark.in[i], OperandType(kernel_, mark, i), frame)));
    }
    out_ << Field(absl::StrJoin(frame.grid_index, ",")) << '\t' << Field(walk_.Iterations()) << '\t' << instr.text_line
         << '\t' << OpName(instr) << '\t' << Field(absl::StrJoin(results, " ")) << '\t'
         << Field(absl::StrJoin(operands, " ")) << '\t' << Field(absl::StrJoin(accesses_.back(), "; ")) << '\t'
         << Field(SourceText(state_.module(), instr.loc)) << '\n';
  }

  const PreparedKernelState& state_;
  const Kernel& kernel_;
  std::ostream& out_;
  Memory* memory_ = nullptr;
  MarkWalk walk_;
  std::vector<KnownHash> hashes_;                   // by ValueId
  std::vector<std::vector<std::string>> accesses_;  // of each instruction under way
};

}  // namespace

absl::StatusOr<RunResult> WriteLog(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                   const LaunchOptions& options, std::ostream& out) {
  LogWriter writer(kernel.state(), out);
  LaunchOptions launch = options;
  launch.hooks = &writer;
  launch.observers.push_back(&writer);
  launch.bound = [&](Memory& memory, absl::Span<const BufferId> arrays) {
    writer.Watch(memory);
    if (options.bound) options.bound(memory, arrays);
  };
  writer.Header(inputs);
  return RunWatched(kernel, inputs, launch);
}

}  // namespace palladion
