#include "emu/check/compare.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_join.h"
#include "emu/check/ring_check.h"
#include "emu/kernel/arrays.h"
#include "emu/run/launch/grid_checks.h"
#include "emu/run/watch/last_writer.h"
#include "emu/values.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/agent_naming.h"
#include "semantics/tensor/element_index.h"

namespace palladion::check {
namespace {

absl::StatusOr<std::optional<FindingAccess>> WriterOf(const TrialRunner& runner, const Trial& trial,
                                                      const OutputDifference& difference,
                                                      const scheduler::RunLengths& lengths) {
  const Program& program = runner.kernel().state().program();
  std::size_t operand = 0, output = 0;
  const std::vector<OperandInfo>& infos = program.operand_infos;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].role == Role::kOut && output++ == difference.output) operand = i;
  }
  // A PRNG key of the caller's is several elements.
  const Type& type = infos[operand].type;
  const std::int64_t of_device = NumElements(type.shape) * static_cast<std::int64_t>(WordsPerElement(type));
  return LastWriterIn(runner, trial.schedule, lengths,
                      {operand, difference.element / of_device, difference.element % of_device}, NamingOf(program));
}

// A difference in rounding order is a note; one that the ring shows too, or cannot decide, stays a defect.
void TakeRingVerdict(const RingVerdict& verdict, Finding& finding) {
  switch (verdict.answer) {
    case RingAnswer::kRounding:
      finding.severity = Severity::kNote;
      Append(&finding.why,
             "; with floats replaced by integers modulo 2^64 the outputs are equal: it is rounding order");
      return;
    case RingAnswer::kDefect:
      Append(&finding.why,
             "; with floats replaced by integers modulo 2^64 they differ too, so it is not the order of additions");
      return;
    case RingAnswer::kUndecided:
      Append(&finding.why, "; whether it is only rounding order is open: ", verdict.why);
      return;
  }
}

// The agents that the finding calls unordered are those that the run had. On `generic` nothing says in which order
// programs run.
std::string UnorderedAgents(const TrialRunner& runner, bool engines) {
  const Program& program = runner.kernel().state().program();
  if (program.target.backend == TargetBackend::kGeneric)
    return "no backend is named, so no order of the programs is promised";
  if (!runner.threads()) {
    return program.target.backend == TargetBackend::kTriton
               ? "programs of a GPU grid run in any order, and at the same time"
               : "programs along a parallel dimension of the grid run in any order";
  }
  const std::vector<memory_model::TaskDim> dims = launch::GridDims(program, runner.inputs());
  const bool several_threads = program.mesh.has_value() && program.mesh->thread_dim && dims.back().size > 1;
  std::int64_t blocks = 1;
  for (const memory_model::TaskDim& dim : dims) blocks *= dim.size;
  if (several_threads) blocks /= dims.back().size;
  std::vector<std::string> who;
  if (blocks > 1) who.emplace_back("blocks of a grid");
  if (several_threads) who.emplace_back("threads of a block");
  if (engines) who.emplace_back("asynchronous operations");
  if (who.empty()) who.emplace_back("warps of a thread");
  const std::string last = who.back();
  who.pop_back();
  return Cat(absl::StrJoin(who, ", "), who.empty() ? "" : " and ", last,
             " run in any order that barriers and semaphores leave");
}

// Who wrote the element last, where the two schedules do not agree on that.
std::string LastWriters(const Finding& finding, const ComparedTrials& two) {
  if (!finding.first.has_value() || !finding.second.has_value()) return "";
  if (finding.first->agent == finding.second->agent) return "";
  return Cat("; ", finding.first->agent, " writes it last in ", InWords(two.a.schedule), ", ", finding.second->agent,
             " in ", InWords(two.b.schedule));
}

// The report also has accesses without an order: those of this output are the cause, those of other memory may be.
void PointTo(const Finding& cause, const std::string& output, Finding& finding) {
  const std::string object = cause.second.has_value() ? cause.second->object : "";
  const std::string words = Cat(Code(cause.code), object.empty() ? "" : Cat(" of '", object, "'"));
  Append(&finding.why, object == output ? "; it follows from the " : "; it can follow from the ", words);
  finding.fix = Cat("resolve the ", words, " first");
}

// The array by the name that its ref has in the kernel, as in every other finding.
std::string NameOf(const Program& program, std::size_t output) {
  for (const OperandInfo& info : program.operand_infos) {
    if (info.role == Role::kOut && output-- == 0) return program.refs[info.ref.index()].name;
  }
  return "";  // cannot happen
}

}  // namespace

std::optional<OutputDifference> FirstDifference(absl::Span<const Tensor> a, absl::Span<const Tensor> b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].BitwiseEquals(b[i])) continue;
    const std::size_t bytes = StorageBytes(a[i].dtype());
    OutputDifference found{.output = i};
    for (std::int64_t e = a[i].num_elements(); e-- > 0;) {
      const std::size_t at = static_cast<std::size_t>(e) * bytes;
      if (std::memcmp(a[i].bytes() + at, b[i].bytes() + at, bytes) == 0) continue;
      found.element = e;
      ++found.count;
    }
    return found;
  }
  return std::nullopt;
}

Finding DifferenceFinding(const NamedOutput& output, const OutputDifference& difference, const Trial& a,
                          const Trial& b) {
  const auto in = [&](const Trial& trial) {
    return Cat(ElementText(trial.outputs[difference.output], difference.element), " in ", InWords(trial.schedule));
  };
  return {.code = FindingCode::kNondeterministic,
          .severity = RowOf(FindingCode::kNondeterministic).severity,
          .message = Cat("output '", output.name, "'", IndexText(output.shape, difference.element), " is ", in(a),
                         " and ", in(b), "; ", difference.count, " of its elements differ")};
}

absl::StatusOr<std::optional<FindingAccess>> LastWriterIn(const Trials& runner, const scheduler::Schedule& schedule,
                                                          const scheduler::RunLengths& lengths,
                                                          const WatchedElement& watched, const AgentNaming& naming) {
  watch::LastWriter writer(ElementCount(watched.element), naming);
  std::int64_t device = 0;
  run::BoundAndFinished watch([&](memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
    if (device++ != watched.device) return;
    memory.Observe(&writer);
    writer.Watch(memory, arrays[watched.operand]);
  });
  const agents::LaunchOptions extra{.observers = {&watch}};
  PALLADION_RETURN_IF_ERROR(runner.Run(schedule, Watch::kOutputs, lengths, &extra).status());
  return writer.writer();
}

std::size_t OutputBytes(const Program& program) {
  std::size_t bytes = 0;
  for (const OperandInfo& info : program.operand_infos) bytes += info.role == Role::kOut ? ByteSize(info.type) : 0;
  return bytes * static_cast<std::size_t>(program.devices);
}

absl::StatusOr<std::vector<Finding>> GridOrderNotes(const TrialRunner& runner, const scheduler::RunLengths& lengths) {
  if (runner.kernel().state().program().target.backend != TargetBackend::kGeneric) return std::vector<Finding>();
  PALLADION_ASSIGN_OR_RETURN(Trial forward, runner.Run(runner.ScheduleOfSeed(0), Watch::kEverything, lengths));
  const auto other = [](const Finding& finding) { return finding.code != FindingCode::kGridOrder; };
  forward.findings.erase(std::remove_if(forward.findings.begin(), forward.findings.end(), other),
                         forward.findings.end());
  return std::move(forward.findings);
}

bool SameOutputs(const Trial& a, const Trial& b) { return !FirstDifference(a.outputs, b.outputs).has_value(); }

absl::StatusOr<std::optional<Finding>> CompareOutputs(const TrialRunner& runner, const ComparedTrials& two) {
  const std::optional<OutputDifference> difference = FirstDifference(two.a.outputs, two.b.outputs);
  if (!difference.has_value()) return std::optional<Finding>();
  const PreparedKernel& kernel = runner.kernel();
  const Program& program = kernel.state().program();
  const std::string name = NameOf(program, difference->output);
  const std::vector<std::int64_t>& shape = kernel.outputs()[difference->output].shape;
  Finding finding = DifferenceFinding({name, shape}, *difference, two.a, two.b);
  finding.why = UnorderedAgents(runner, two.a.engines || two.b.engines);
  // Separate runs find the writers of the element; a writer that they cannot identify is left out.
  if (auto writer = WriterOf(runner, two.a, *difference, two.lengths); writer.ok()) finding.first = *writer;
  if (auto writer = WriterOf(runner, two.b, *difference, two.lengths); writer.ok()) finding.second = *writer;
  finding.why += LastWriters(finding, two);
  if (two.cause != nullptr) {
    PointTo(*two.cause, name, finding);
  } else {
    TakeRingVerdict(JudgeInRing(kernel, runner.inputs(),
                                [&](const PreparedKernel& ring, absl::Span<const Tensor> words, bool second) {
                                  const scheduler::Schedule& schedule = second ? two.b.schedule : two.a.schedule;
                                  return runner.RunOn(ring, kernel::ArraysOf(words), schedule, two.lengths);
                                }),
                    finding);
  }
  // On `generic` nothing says in which order programs run. How sums are rounded is a note on every target.
  const bool rounding = two.cause == nullptr && finding.severity == Severity::kNote;
  if (program.target.backend == TargetBackend::kGeneric && !rounding) {
    finding.code = FindingCode::kGridOrder;
    finding.severity = RowOf(finding.code).severity;
  }
  if (finding.second.has_value()) {
    finding.loc = finding.second->loc;
    finding.text_line = finding.second->text_line;
  }
  return std::optional<Finding>(std::move(finding));
}

}  // namespace palladion::check
