#include "emu/run/launch/run.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "emu/chip/machines/chip.h"
#include "emu/run/agents/launch_state.h"
#include "emu/run/launch/agents_of_launch.h"
#include "emu/run/launch/driven_launch.h"
#include "emu/run/launch/execution_mode.h"
#include "emu/run/launch/launch_in_order.h"
#include "scheduler/policies/portfolio.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::launch {
namespace {

// One launch and its agents; what a search explores.
class AgentsLaunch final : public scheduler::Explorable, public DrivenLaunch {
 public:
  // Both outlive it.
  AgentsLaunch(const kernel::PreparedKernelState& kernel, const agents::LaunchOptions& options)
      : options_(options),
        machine_first_(
            [this](memory_model::Memory& memory, absl::Span<const BufferId> arrays) { who_->Bound(memory, arrays); }),
        watched_(WithMachine(options)),
        state_(kernel, watched_),
        who_(ExecutionModeOf(kernel.program(), {.purpose = Purpose::kMoves}) == ExecutionMode::kThreads
                 ? ThreadsOfLaunch(state_, options)
                 : ProgramsOfLaunch(state_, options)) {}

  absl::Status Bind(absl::Span<const ConstArray> inputs, absl::Span<const MutableArray> outputs, bool search) {
    PALLADION_RETURN_IF_ERROR(state_.Bind(inputs, outputs));
    state_.memory().NeverBorrow();
    who_->Make(search);
    if (options_.run.control != nullptr) options_.run.control->BeginLaunch(state_.walk().programs());
    return absl::OkStatus();
  }

  scheduler::AgentSource& agents() override { return who_->source(); }
  AgentsOfLaunch& who() override { return *who_; }
  bool copyable() const { return who_->copyable(); }
  std::optional<scheduler::Touches> TakeTouched() override { return who_->TakeTouched(); }
  std::string_view budget_name() const override { return options_.run.budget_name; }
  scheduler::LoopOptions Loop() const override {
    scheduler::LoopOptions loop = options_.loop;
    loop.control = options_.run.control;
    return who_->Fitting(loop);
  }

  absl::StatusOr<std::shared_ptr<const void>> Save() const override {
    return std::shared_ptr<const void>(state_.memory().Save());
  }
  void Restore(const void* saved) override {
    state_.memory().Restore(*static_cast<const memory_model::Memory::Saved*>(saved));
  }

  std::vector<Finding> FoundSoFar() override {
    std::vector<Finding> findings = state_.memory().findings();
    for (Finding& finding : who_->Found()) findings.push_back(std::move(finding));
    return findings;
  }

  agents::Ran Ended(bool finished) override {
    const std::int64_t checks = finished ? state_.Finish() : 0;
    if (finished) who_->End();
    return {.programs = state_.walk().programs(),
            .accesses = state_.memory().accesses(),
            .definedness_checks = checks,
            .undefined_arrived = state_.memory().undefined_arrived(),
            .findings = FoundSoFar(),
            .printed = state_.memory().printed()};
  }

 private:
  // Observers find the machine of the agents there.
  agents::LaunchOptions WithMachine(agents::LaunchOptions options) {
    options.observers.insert(options.observers.begin(), &machine_first_);
    return options;
  }

  const agents::LaunchOptions& options_;
  run::BoundAndFinished machine_first_;
  const agents::LaunchOptions watched_;
  mutable agents::LaunchState state_;  // Save marks freed memory as kept
  std::unique_ptr<AgentsOfLaunch> who_;
};

// Agents under a policy, and nothing is judged but what the options ask for.
absl::StatusOr<agents::Ran> RunUnderPolicy(const agents::LaunchCall& call, const agents::LaunchOptions& options,
                                           scheduler::Policy& policy) {
  const Program& program = call.kernel.program();
  if (options.only_program.has_value()) {
    return absl::UnimplementedError(
        Cat("kernel @", program.kernel_name,
            ": --program: threads wait for each other, so none runs alone; leave it out and look at the lines of "
            "that thread, which the log begins with its index"));
  }
  AgentsLaunch launch(call.kernel, options);
  PALLADION_RETURN_IF_ERROR(launch.Bind(call.inputs, call.outputs, /*search=*/false));
  absl::StatusOr<agents::Ran> ran = Drive(launch, policy);
  if (!ran.ok() && options.found_before_error != nullptr) *options.found_before_error = launch.FoundSoFar();
  return ran;
}

}  // namespace

absl::StatusOr<agents::Ran> Run(const agents::LaunchCall& call, const agents::LaunchOptions& options,
                                scheduler::Policy& policy) {
  const Program& program = call.kernel.program();
  ModeQuery query{.one_program = options.only_program.has_value(),
                  .watched = !options.observers.empty() || options.contracts != nullptr};
  if (options.mode.value_or(ExecutionModeOf(program, query)) != ExecutionMode::kInOrder)
    return RunUnderPolicy(call, options, policy);
  PALLADION_ASSIGN_OR_RETURN(agents::Ran ran, RunInOrder(call, options));
  query.stuck = ran.stuck();
  // What was chosen by the caller is run again by the caller, whose observers have seen this run.
  if (!query.stuck || options.mode.has_value() || ExecutionModeOf(program, query) == ExecutionMode::kInOrder)
    return ran;
  return RunUnderPolicy(call, options, policy);
}

absl::StatusOr<agents::Ran> Run(const agents::LaunchCall& call, const agents::LaunchOptions& options) {
  agents::LaunchOptions plain = options;
  plain.loop.resident = ProgramsAtOnce(call.kernel.program());
  const std::int64_t budget = options.run.loop_budget;  // one that the user gave is of operations too
  if (budget != RunOptions().loop_budget && budget > 0) plain.loop.budget = budget;
  const bool late = options.run.engines_late;
  const scheduler::PolicyKind kind = late ? scheduler::PolicyKind::kEnginesLate : scheduler::PolicyKind::kProgramOrder;
  return Run(call, plain, *scheduler::MakePolicy(kind, late ? 1 : 0, {}));
}

std::size_t ProgramsAtOnce(const Program& program) {
  constexpr std::size_t kBlocksOfSm = 32;  // CUDA C++ Programming Guide, "Compute Capabilities": 9.0 and 10.0
  const machines::Chip* chip = machines::FindChip(program.target.chip);
  if (program.loops.empty() || chip == nullptr || chip->is_tpu) return scheduler::LoopOptions().resident;
  return static_cast<std::size_t>(chip->cores) * kBlocksOfSm;
}

absl::StatusOr<std::optional<Finding>> StartOrderNote(const agents::LaunchCall& call,
                                                      const agents::LaunchOptions& options) {
  agents::LaunchOptions backwards = options;
  backwards.mode = ExecutionModeOf(call.kernel.program(), {.purpose = Purpose::kMoves});
  backwards.order = WalkOrder::kReverse;
  backwards.begin_backwards = true;
  const std::unique_ptr<scheduler::Policy> policy = scheduler::MakePolicy(scheduler::PolicyKind::kProgramOrder, 0, {});
  PALLADION_ASSIGN_OR_RETURN(const agents::Ran result, Run(call, backwards, *policy));
  const std::vector<Finding>& findings = result.findings;
  const auto hang = std::find_if(findings.begin(), findings.end(),
                                 [](const Finding& finding) { return finding.code == FindingCode::kDeadlock; });
  if (result.run.outcome != scheduler::Outcome::kDeadlock || hang == findings.end()) return std::optional<Finding>();
  return std::optional<Finding>(
      Finding{.code = FindingCode::kStartOrder,
              .severity = RowOf(FindingCode::kStartOrder).severity,
              .message = Cat("not all blocks fit at once, and the kernel ends only because they begin in order, the "
                             "lowest first; if the last began first: ",
                             hang->message),
              .loc = hang->loc,
              .text_line = hang->text_line,
              .fix = "let each block draw its number from a counter with an atomic, and wait only for lower numbers: "
                     "those have begun",
              .confidence = Confidence::kPolicyDependent});
}

absl::StatusOr<scheduler::Explored> RunExhaustive(
    const agents::LaunchCall& call, const agents::LaunchOptions& options, const SearchOptions& search,
    const std::function<absl::StatusOr<bool>(const agents::Ran&)>& visit) {
  agents::LaunchOptions each = options;
  each.loop.budget = std::min(options.loop.budget, search.budget);
  const auto make = [&]() -> absl::StatusOr<std::unique_ptr<scheduler::Explorable>> {
    auto launch = std::make_unique<AgentsLaunch>(call.kernel, each);
    PALLADION_RETURN_IF_ERROR(launch->Bind(call.inputs, call.outputs, /*search=*/true));
    return launch;
  };
  const auto seen = [&](scheduler::Explorable& system, const scheduler::LoopResult& run) -> absl::StatusOr<bool> {
    return visit(static_cast<AgentsLaunch&>(system).Result(run, /*fair=*/false));
  };
  const AgentsLaunch shape(call.kernel, each);
  return scheduler::Explore(make,
                            {.reduce = search.reduce,
                             .snapshots = search.snapshots && shape.copyable(),
                             .max_schedules = search.max_schedules,
                             .loop = shape.Loop()},
                            seen);
}

}  // namespace palladion::launch
