#include "emu/launch/launch.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_join.h"
#include "emu/agents/launch_state.h"
#include "emu/agents/solo_spin.h"
#include "emu/launch/scheduled_launch.h"
#include "emu/launch/way.h"
#include "emu/session.h"
#include "scheduler/policies/portfolio.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::launch {
namespace {

// Runs programs one after another. Where a kernel has loops that may wait, `solo` is there.
absl::Status RunPrograms(agents::LaunchState& state, Frame& frame, agents::AgentPrograms programs,
                         agents::SoloSpin* solo) {
  agents::StartPrograms(frame, programs);
  const absl::Status status = solo == nullptr ? frame.Run() : solo->Run(frame);
  return status.ok() ? status : state.AtStep(status, frame);
}

// In program order at most one agent is under way, so they share a frame: each program is one, or the whole walk is. A
// second core has its own, since its blocks and its scratch are.
absl::Status RunInProgramOrder(agents::LaunchState& state, agents::SoloSpin* solo) {
  const std::int64_t programs = state.walk().programs();
  const std::int64_t each = state.program().grid_in_agent ? state.FirstCorePrograms() : 1;
  RunControl* const control = state.frame().control;
  if (control != nullptr) control->BeginLaunch(programs);
  for (std::int64_t next = 0; next < programs; next += each) {
    if (Interrupted(control)) return InterruptedStatus();
    constexpr std::int64_t kTogether = 64;  // are told at once
    if (control != nullptr && each == 1 && next % kTogether == 0 && next > 0) control->EndPrograms(kTogether);
    if (!state.program().grid_in_agent || next == 0) {
      PALLADION_RETURN_IF_ERROR(RunPrograms(state, state.frame(), {next, next + each}, solo));
    } else {
      PALLADION_ASSIGN_OR_RETURN(const std::unique_ptr<Frame> core, state.NewFrame());
      state.PutOnCore(/*device=*/0, next, *core);
      return RunPrograms(state, *core, {next, programs}, solo);
    }
    if (solo != nullptr && solo->stuck().has_value()) break;
  }
  return absl::OkStatus();
}

// Of the walk, which is row-major.
absl::StatusOr<std::int64_t> NumberOf(absl::Span<const std::int64_t> index, agents::LaunchState& state) {
  const std::vector<std::int64_t>& size = state.frame().grid_size;
  std::int64_t number = 0;
  bool inside = index.size() == size.size();
  for (std::size_t d = 0; inside && d < size.size(); ++d) {
    inside = index[d] >= 0 && index[d] < size[d];
    number = number * size[d] + index[d];
  }
  if (inside) return number;
  return absl::InvalidArgumentError(Cat("kernel @", state.program().kernel_name, " has no program (",
                                        absl::StrJoin(index, ", "), "); its grid is [", absl::StrJoin(size, ", "),
                                        "]"));
}

// A budget that the user gave is of operations too.
scheduler::LoopOptions LoopOf(const RunOptions& run) {
  scheduler::LoopOptions loop;
  if (run.loop_budget != RunOptions().loop_budget && run.loop_budget > 0) loop.budget = run.loop_budget;
  return loop;
}

// Agents that wait for each other: seed 0 of a check, and nothing is judged but what a plain run sees.
absl::StatusOr<agents::LaunchResult> RunTogetherInOrder(const agents::LaunchCall& call) {
  const auto& [kernel, inputs, outputs, options, device] = call;
  if (options.only_program.has_value()) {
    return absl::UnimplementedError(
        Cat("kernel @", kernel.program().kernel_name,
            ": --program: threads wait for each other, so none runs alone; leave it out and look at the lines of "
            "that thread, which the log begins with its index"));
  }
  const scheduler::PolicyKind kind =
      options.run.engines_late ? scheduler::PolicyKind::kEnginesLate : scheduler::PolicyKind::kProgramOrder;
  const std::unique_ptr<scheduler::Policy> policy = scheduler::MakePolicy(kind, options.run.engines_late ? 1 : 0, {});
  ScheduledOptions scheduled{.launch = options, .loop = LoopOf(options.run)};
  scheduled.loop.resident = ProgramsAtOnce(kernel.program());
  PALLADION_ASSIGN_OR_RETURN(ScheduledResult result,
                             RunScheduled({kernel, inputs, outputs, scheduled, device}, *policy));
  return std::move(result.launch);
}

}  // namespace

absl::StatusOr<agents::LaunchResult> RunLaunch(const agents::LaunchCall& call) {
  const agents::PreparedKernelState& kernel = call.kernel;
  const agents::LaunchOptions& options = call.options;
  WayAsked asked{.one_program = options.only_program.has_value(),
                 .watched = !options.observers.empty() || options.contracts != nullptr};
  if (WayOf(kernel.program(), asked) != Way::kInOrder) return RunTogetherInOrder(call);
  const bool may_wait = !kernel.program().loops.empty();
  agents::RunState run(call.device + 1);
  agents::LaunchState state(kernel, options, {.run = &run, .device = call.device});
  PALLADION_RETURN_IF_ERROR(state.Bind(call.inputs, call.outputs));
  std::optional<agents::SoloSpin> solo;
  if (may_wait) solo.emplace(state, state.watchers());
  agents::SoloSpin* const spin = may_wait ? &*solo : nullptr;
  std::int64_t programs = state.walk().programs();
  absl::Status ran;
  if (options.only_program.has_value()) {
    PALLADION_ASSIGN_OR_RETURN(const std::int64_t only, NumberOf(*options.only_program, state));
    ran = RunPrograms(state, state.frame(), {only, only + 1}, spin);
    programs = 1;
  } else {
    ran = RunInProgramOrder(state, spin);
  }
  if (!ran.ok()) {
    if (options.found_before_error != nullptr) *options.found_before_error = state.memory().findings();
    return ran;
  }
  const bool stuck = asked.stuck = spin != nullptr && spin->stuck().has_value();
  const std::int64_t checks = stuck ? 0 : state.Finish();
  if (stuck && WayOf(kernel.program(), asked) != Way::kInOrder) return RunTogetherInOrder(call);
  agents::LaunchResult result{.programs = programs,
                              .accesses = state.memory().accesses(),
                              .definedness_checks = checks,
                              .undefined_arrived = state.memory().undefined_arrived(),
                              .findings = state.memory().findings(),
                              .printed = state.memory().printed(),
                              .stuck = stuck};
  if (stuck) result.findings.push_back(*spin->stuck());
  return result;
}

namespace {

// `copy` nullptr: of the semaphores.
agents::HeldFinding HeldFindingOf(const agents::PreparedKernelState& kernel, const agents::LeftCopy* copy,
                                  const agents::OperandPlace& place) {
  const Program& program = kernel.program();
  const std::string semaphore = Cat("'", program.operand_infos[place.operand].name, "'");
  Finding finding{.code = FindingCode::kSemaphoreLeak,
                  .message = Cat("the semaphore ", semaphore, " of kernel @", program.kernel_name),
                  .fix = "let a later kernel take the semaphore, and wait for all that is signalled"};
  for (const Kernel& text : kernel.module().kernels) {
    if (text.name != program.kernel_name) continue;
    finding.loc = text.operands[place.operand].loc;
    finding.text_line = text.operands[place.operand].text_line;
  }
  if (copy != nullptr) {
    finding = {.code = FindingCode::kNotAwaited,
               .message = Cat("no kernel of the session has waited for ", copy->name, " of kernel @",
                              program.kernel_name, ", which tells its semaphore ", semaphore),
               .loc = copy->site.loc,
               .text_line = copy->site.text_line,
               .fix = "pass the semaphore, and the array that the copy writes, to a kernel that waits for it"};
  }
  finding.severity = RowOf(finding.code).severity;
  return {program.kernel_name, ToString(program.target), Reported(finding, kernel.module())};
}

}  // namespace

absl::Status LeaveTo(Session* session, const agents::SessionState::Launched& launch) {
  return session == nullptr ? absl::OkStatus() : session->state().Take(launch, HeldFindingOf);
}

absl::Status EndOf(const Report& report) {
  if (report.interrupted) return InterruptedStatus();
  if (!report.error.has_value()) return absl::OkStatus();
  const auto code = static_cast<ExitCode>(ExitCodeOf(Report{.error = report.error}));
  const absl::StatusCode status = code == ExitCode::kUnsupported ? absl::StatusCode::kUnimplemented
                                  : code == ExitCode::kBudget    ? absl::StatusCode::kResourceExhausted
                                  : code == ExitCode::kInternal  ? absl::StatusCode::kInternal
                                                                 : absl::StatusCode::kInvalidArgument;
  return absl::Status(status, ToAbsl(report.error->message));
}

}  // namespace palladion::launch
