#include "emu/launch/scheduled_launch.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "emu/agents/launch_state.h"
#include "emu/agents/program_agents.h"
#include "emu/launch/thread_launch.h"
#include "emu/machines/chip.h"
#include "scheduler/policies/portfolio.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {
namespace {

constexpr std::size_t kFrameBytes = std::size_t{1} << 30;

LoopOptions Fitting(LoopOptions loop, const Program& program, const RunOptions& run) {
  loop.control = run.control;
  const std::size_t each = std::max<std::size_t>(1, program.arena_bytes + program.scratch_bytes);
  loop.resident = std::clamp<std::size_t>(kFrameBytes / each, 2, std::max<std::size_t>(2, loop.resident));
  return loop;
}

// One launch and its programs as agents; what a search explores.
class ScheduledLaunch final : public Explorable {
 public:
  ScheduledLaunch(const PreparedKernelState& kernel, const LaunchOptions& options)
      : options_(options), plain_(WithoutHooks(options)), state_(kernel, plain_) {}

  absl::Status Bind(absl::Span<const ConstArray> inputs, absl::Span<const MutableArray> outputs, bool search) {
    PALLADION_RETURN_IF_ERROR(state_.Bind(inputs, outputs));
    state_.memory().NeverLend();
    shared_.emplace(state_);
    if (search) {
      recorder_.emplace(state_.memory(), *shared_);
      state_.memory().Observe(&*recorder_);
    }
    if (!state_.program().loops.empty()) state_.memory().Observe(&spins_.emplace(state_.memory()));
    if (options_.run.control != nullptr) options_.run.control->BeginLaunch(state_.walk().programs());
    agents_.emplace(state_, *shared_,
                    ProgramAgent::Watching{.watcher = options_.hooks,
                                           .recorder = recorder_.has_value() ? &*recorder_ : nullptr,
                                           .spins = spins_.has_value() ? &*spins_ : nullptr});
    return absl::OkStatus();
  }

  AgentSource& agents() override { return *agents_; }
  absl::StatusOr<std::shared_ptr<const void>> Save() const override {
    return std::shared_ptr<const void>(state_.memory().Save());
  }
  void Restore(const void* saved) override { state_.memory().Restore(*static_cast<const Memory::Saved*>(saved)); }

  const std::vector<Finding>& FoundSoFar() const { return state_.memory().findings(); }

  // `fair`: nobody is left out for ever, so programs that do not come to an end are a livelock.
  ScheduledResult Result(LoopResult run, bool fair) {
    const std::int64_t checks = run.outcome == Outcome::kFinished ? state_.Finish() : 0;
    ScheduledResult result{.launch = {.programs = state_.walk().programs(),
                                      .accesses = state_.memory().accesses(),
                                      .definedness_checks = checks,
                                      .findings = state_.memory().findings(),
                                      .printed = state_.memory().printed()},
                           .run = std::move(run)};
    if (result.run.outcome == Outcome::kDeadlock) result.launch.findings.push_back(DeadlockFinding(result.run));
    if (result.run.outcome == Outcome::kBudget && fair) result.launch.findings.push_back(LivelockFinding(result.run));
    return result;
  }

 private:
  // Frames get the agents' own hooks.
  static LaunchOptions WithoutHooks(LaunchOptions options) {
    options.hooks = nullptr;
    return options;
  }

  Finding DeadlockFinding(const LoopResult& run) const {
    const Wait& wait = FirstToTell(run.deadlock);
    Finding finding{.code = FindingCode::kDeadlock,
                    .severity = RowOf(FindingCode::kDeadlock).severity,
                    .message = Cat(run.deadlock.partial ? "some programs can never go on: " : "no program can go on: ",
                                   Describe(run.deadlock)),
                    .loc = wait.loc,
                    .text_line = wait.text_line,
                    .fix = std::string(kSpinFix)};
    if (agents_->not_begun() > 0) {
      Append(&finding.message, "; ", agents_->not_begun(),
             " programs have not begun, for there is room for as many as are there");
      finding.fix = "launch no more programs than fit at once, or let none wait for one that begins later";
    }
    return finding;
  }

  Finding LivelockFinding(const LoopResult& run) const {
    constexpr std::size_t kShown = 4;
    const std::vector<const ProgramAgent*> running = agents_->Unfinished();
    std::string where;
    for (std::size_t i = 0; i < std::min(kShown, running.size()); ++i) {
      const Step& step = StepOf(*running[i]);
      Append(&where, i == 0 ? ": " : ", ", running[i]->Name(), " at ",
             PlaceText(state_.module(), step.loc, step.text_line));
    }
    if (running.size() > kShown) Append(&where, ", ...");
    Finding finding{
        .code = FindingCode::kLivelock,
        .severity = RowOf(FindingCode::kLivelock).severity,
        .message = Cat("after ", run.steps, " operations on shared memory ", running.size(), " programs have not ended",
                       where, "; their loops change something for ever, or the budget is too small: raise ",
                       options_.run.budget_name),
        .fix = "bound the loop, or let somebody write what it looks for",
        .confidence = Confidence::kPredicted};
    if (!running.empty()) {
      finding.loc = StepOf(*running[0]).loc;
      finding.text_line = StepOf(*running[0]).text_line;
    }
    return finding;
  }

  const Step& StepOf(const ProgramAgent& agent) const {
    const std::vector<Step>& steps = agent.frame().program().steps;
    return steps[std::min(agent.frame().pc, steps.size() - 1)];
  }

  const LaunchOptions& options_;
  const LaunchOptions plain_;
  mutable LaunchState state_;  // Save marks freed memory as kept
  std::optional<SharedMemory> shared_;
  std::optional<TouchRecorder> recorder_;
  std::optional<SpinWatch> spins_;
  std::optional<ProgramAgents> agents_;
};

}  // namespace

absl::StatusOr<ScheduledResult> RunScheduled(const PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                                             absl::Span<const MutableArray> outputs, const ScheduledOptions& options,
                                             Policy& policy) {
  ScheduledLaunch launch(kernel, options.launch);
  PALLADION_RETURN_IF_ERROR(launch.Bind(inputs, outputs, /*search=*/false));
  const LoopOptions fitting = Fitting(options.loop, kernel.program(), options.launch.run);
  RunLoop loop(launch.agents(), fitting);
  absl::StatusOr<LoopResult> run = loop.Run(policy);
  if (!run.ok()) {
    if (options.launch.found_before_error != nullptr) *options.launch.found_before_error = launch.FoundSoFar();
    return run.status();
  }
  ScheduledResult result = launch.Result(*std::move(run), /*fair=*/true);
  result.all_fit = static_cast<std::size_t>(result.launch.programs) <= fitting.resident;
  return result;
}

std::size_t ProgramsAtOnce(const Program& program) {
  constexpr std::size_t kBlocksOfSm = 32;  // CUDA C++ Programming Guide, "Compute Capabilities": 9.0 and 10.0
  const Chip* chip = FindChip(program.target.chip);
  if (program.loops.empty() || chip == nullptr || chip->is_tpu) return LoopOptions().resident;
  return static_cast<std::size_t>(chip->cores) * kBlocksOfSm;
}

absl::StatusOr<std::optional<Finding>> StartOrderNote(const PreparedKernelState& kernel,
                                                      absl::Span<const ConstArray> inputs,
                                                      absl::Span<const MutableArray> outputs,
                                                      const ScheduledOptions& options) {
  ScheduledOptions backwards = options;
  backwards.launch.order = WalkOrder::kReverse;
  const std::unique_ptr<Policy> policy = MakePolicy(PolicyKind::kProgramOrder, 0, {});
  ScheduledResult result;
  if (NeedsThreads(kernel.program())) {
    PALLADION_ASSIGN_OR_RETURN(
        result, RunThreads(kernel, inputs, outputs, {.scheduled = backwards, .begin_backwards = true}, *policy));
  } else {
    PALLADION_ASSIGN_OR_RETURN(result, RunScheduled(kernel, inputs, outputs, backwards, *policy));
  }
  const std::vector<Finding>& findings = result.launch.findings;
  const auto hang = std::find_if(findings.begin(), findings.end(),
                                 [](const Finding& finding) { return finding.code == FindingCode::kDeadlock; });
  if (result.run.outcome != Outcome::kDeadlock || hang == findings.end()) return std::optional<Finding>();
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

absl::StatusOr<Explored> RunExhaustive(const PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                                       absl::Span<const MutableArray> outputs, const ExhaustiveOptions& options,
                                       const std::function<absl::StatusOr<bool>(const ScheduledResult&)>& visit) {
  if (NeedsThreads(kernel.program())) {
    return ExploreThreads(kernel, inputs, outputs, {.scheduled = options.scheduled}, options.max_schedules, visit);
  }
  const LaunchOptions& launch_options = options.scheduled.launch;
  const bool copyable = launch_options.observers.empty() && launch_options.hooks == nullptr &&
                        !launch_options.definedness && launch_options.contracts == nullptr;
  const auto make = [&]() -> absl::StatusOr<std::unique_ptr<Explorable>> {
    auto launch = std::make_unique<ScheduledLaunch>(kernel, launch_options);
    PALLADION_RETURN_IF_ERROR(launch->Bind(inputs, outputs, /*search=*/true));
    return launch;
  };
  const auto seen = [&](Explorable& system, const LoopResult& run) -> absl::StatusOr<bool> {
    return visit(static_cast<ScheduledLaunch&>(system).Result(run, /*fair=*/false));
  };
  return Explore(make,
                 {.sleep_sets = options.sleep_sets,
                  .snapshots = options.snapshots && copyable,
                  .max_schedules = options.max_schedules,
                  .loop = Fitting(options.scheduled.loop, kernel.program(), launch_options.run)},
                 seen);
}

}  // namespace palladion
