#include "emu/tools/debug/instruction_log.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/launch/launch.h"
#include "emu/run/watch/access_text.h"
#include "emu/run/watch/agent_states.h"
#include "emu/run/watch/observed.h"
#include "emu/run/watch/value_hash.h"
#include "semantics/base/cat.h"
#include "semantics/base/printable.h"
#include "semantics/base/status.h"

namespace palladion::debug {
namespace {

// Tabs and line ends divide fields and records, so no name may hold one.
std::string Field(std::string text) {
  for (char& c : text) {
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  }
  return text.empty() ? "-" : text;
}

class LogWriter final : public run::Watcher {
 public:
  LogWriter(const kernel::PreparedKernelState& state, std::ostream& out)
      : state_(state),
        kernel_(state.text()),
        out_(out),
        agents_({.walk = {}, .hashes = std::vector<KnownHash>(kernel_.values.size()), .accesses = {}}) {}

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kStep, memory_model::EventKind::kAccess};
  }
  void Bound(memory_model::Memory& memory, absl::Span<const BufferId>) override { memory_ = &memory; }

  void Header(absl::Span<const Tensor> inputs) {
    out_ << "palladion-log 2\nkernel " << kernel_.name << "\ntarget " << ToString(state_.program().target) << "\n";
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& tensor = inputs[i];
      out_ << "in " << state_.inputs()[i].name << ":" << TypeString(tensor.dtype(), tensor.shape()) << "="
           << watch::HashText(
                  watch::HashValue(tensor.dtype(), tensor.bytes(), static_cast<std::size_t>(tensor.num_elements())))
           << "\n";
    }
    for (const OperandDescription& output : state_.outputs())
      out_ << "out " << output.name << ":" << TypeString(output.dtype, output.shape) << "\n";
  }

  // What was found, as comments, and the mark without which a log is known to be cut off.
  void End(const Report& report) {
    for (const ReportedFinding& finding : report.findings)
      out_ << "# " << Name(finding.severity) << " " << Code(finding.code) << ": " << Printable(Field(finding.message))
           << "\n";
    out_ << "end " << records_ << "\n";
  }

  void Before(const Step&, Frame& frame) override { agents_.Before(frame); }

  void After(const Step& step, Frame& frame) override {
    agents_.After(step, frame, [&](const Mark& mark, Agent& agent) {
      switch (mark.kind) {
        case Mark::Kind::kBegin:
          agent.accesses.emplace_back();
          return;
        case Mark::Kind::kEnter:
          for (const MarkedValue& param : mark.in) agent.hashes[param.value.index()].known = false;
          return;
        case Mark::Kind::kLeave:
          return;
        case Mark::Kind::kFinish:
          Record(mark, agent, frame);
          agent.accesses.pop_back();
          return;
      }
    });
  }

  // Between an instruction's marks an access of the agent is the instruction's; one of an operation is not.
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach&,
           const std::byte* value) override {
    std::vector<std::string>* accesses = InFlight(who);
    if (accesses == nullptr) return;
    std::string text = Cat(Name(kind), " ", memory_->NameOf(access.buffer), watch::BoxText(access));
    if (kind == AccessKind::kWrite && value != nullptr) {
      const DType dtype = memory_->DTypeOf(access.buffer);
      std::size_t words = memory_->ElementSizeOf(access.buffer).size() / StorageBytes(dtype);
      for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d)
        words *= static_cast<std::size_t>(access.count[d]);
      Append(&text, "=", watch::HashText(watch::HashValue(dtype, value, words)));
    }
    accesses->push_back(std::move(text));
  }

  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte*) override {
    std::vector<std::string>* accesses = InFlight(who);
    if (accesses == nullptr) return;
    const auto* offsets = reinterpret_cast<const std::byte*>(access.offset.data());
    accesses->push_back(Cat(Name(kind), " ", memory_->NameOf(access.buffer), "{", access.offset.size(),
                            "}=", watch::HashText(watch::HashValue(DType::kI64, offsets, access.offset.size()))));
  }

 private:
  struct KnownHash {
    bool known = false;
    std::uint64_t hash = 0;
  };
  struct Agent {
    watch::MarkWalk walk;
    std::vector<KnownHash> hashes;                   // by ValueId
    std::vector<std::vector<std::string>> accesses;  // of each current instruction
  };

  // Those of the innermost instruction; nullptr: none.
  std::vector<std::string>* InFlight(const Who& who) {
    Agent* const agent = who.of_operation() ? nullptr : agents_.current();
    return agent == nullptr || agent->accesses.empty() ? nullptr : &agent->accesses.back();
  }

  static std::string HashOf(const MarkedValue& operand, const Type& type, Agent& agent, Frame& frame) {
    const auto compute = [&] {
      return watch::HashValue(type.dtype, frame.slot(operand.slot), ByteSize(type) / StorageBytes(type.dtype));
    };
    if (!operand.value.valid()) return watch::HashText(compute());
    KnownHash& known = agent.hashes[operand.value.index()];
    if (!known.known) known = {true, compute()};
    return watch::HashText(known.hash);
  }

  std::string Named(const MarkedValue& value) const {
    return value.value.valid() ? Cat("%", kernel_.values[value.value.index()].name) : "_";
  }

  void Record(const Mark& mark, Agent& agent, Frame& frame) {
    const Instr& instr = *mark.instr;
    std::vector<std::string> results, operands;
    for (const MarkedValue& result : mark.out) {
      if (!result.slot.valid()) continue;
      const Type& type = kernel_.values[result.value.index()].type;
      agent.hashes[result.value.index()].known = false;
      results.push_back(Cat(Named(result), ":", ToString(type), "=", HashOf(result, type, agent, frame)));
    }
    for (std::size_t i = 0; i < mark.in.size(); ++i) {
      if (!mark.in[i].slot.valid()) continue;
      operands.push_back(
          Cat(Named(mark.in[i]), "=", HashOf(mark.in[i], watch::OperandType(kernel_, mark, i), agent, frame)));
    }
    ++records_;
    std::string program = absl::StrJoin(frame.grid_index(), ",");
    if (frame.warp().has_value()) Append(&program, "/", frame.warp()->number);
    out_ << Field(std::move(program)) << '\t' << Field(agent.walk.Iterations()) << '\t' << instr.text_line << '\t'
         << watch::OpName(instr) << '\t' << Field(absl::StrJoin(results, " ")) << '\t'
         << Field(absl::StrJoin(operands, " ")) << '\t' << Field(absl::StrJoin(agent.accesses.back(), "; ")) << '\t'
         << Field(watch::SourceText(state_.module(), instr.loc)) << '\n';
  }

  const kernel::PreparedKernelState& state_;
  const Kernel& kernel_;
  std::ostream& out_;
  memory_model::Memory* memory_ = nullptr;
  watch::AgentStates<Agent> agents_;
  std::int64_t records_ = 0;
};

}  // namespace

absl::StatusOr<RunResult> WriteLog(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                   const agents::LaunchOptions& options, std::ostream& out,
                                   const check::ReplayedRun* replayed) {
  LogWriter writer(kernel.state(), out);
  agents::LaunchOptions launch = options;
  launch.observers.push_back(&writer);
  writer.Header(inputs);
  PALLADION_ASSIGN_OR_RETURN(RunResult result, check::RunOrReplay(kernel, inputs, launch, replayed));
  writer.End(result.report);
  return result;
}

}  // namespace palladion::debug
