#include "emu/scheduled_launch.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "emu/gpu/thread_launch.h"
#include "emu/launch_state.h"
#include "emu/program_agents.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {
namespace {

constexpr std::size_t kFrameBytes = std::size_t{1} << 30;

LoopOptions Fitting(LoopOptions loop, const Program& program) {
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
    agents_.emplace(state_, *shared_, options_.hooks, recorder_.has_value() ? &*recorder_ : nullptr);
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

  static Finding DeadlockFinding(const LoopResult& run) {
    const Wait& wait = run.deadlock.waits.front();
    return {.code = FindingCode::kDeadlock,
            .severity = RowOf(FindingCode::kDeadlock).severity,
            .message = Cat(run.deadlock.partial ? "some programs can never go on: " : "no program can go on: ",
                           Describe(run.deadlock)),
            .loc = wait.loc,
            .text_line = wait.text_line};
  }

  Finding LivelockFinding(const LoopResult& run) const {
    constexpr std::size_t kShown = 4;
    const std::vector<const ProgramAgent*> running = agents_->Unfinished();
    std::string where;
    for (std::size_t i = 0; i < std::min(kShown, running.size()); ++i) {
      const Step& step = StepOf(*running[i]);
      Append(&where, i == 0 ? ": " : ", ", running[i]->Name(), " at line ", step.text_line, " of the kernel text");
    }
    if (running.size() > kShown) Append(&where, ", ...");
    Finding finding{
        .code = FindingCode::kLivelock,
        .severity = RowOf(FindingCode::kLivelock).severity,
        .message = Cat("after ", run.steps, " operations on shared memory ", running.size(), " programs have not ended",
                       where, "; they wait for each other in loops, or the budget is too small"),
        .fix = "check that what a loop waits for is written by a program that is under way at the same time",
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
  std::optional<ProgramAgents> agents_;
};

}  // namespace

absl::StatusOr<ScheduledResult> RunScheduled(const PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                                             absl::Span<const MutableArray> outputs, const ScheduledOptions& options,
                                             Policy& policy) {
  ScheduledLaunch launch(kernel, options.launch);
  PALLADION_RETURN_IF_ERROR(launch.Bind(inputs, outputs, /*search=*/false));
  RunLoop loop(launch.agents(), Fitting(options.loop, kernel.program()));
  absl::StatusOr<LoopResult> run = loop.Run(policy);
  if (!run.ok()) {
    if (options.launch.found_before_error != nullptr) *options.launch.found_before_error = launch.FoundSoFar();
    return run.status();
  }
  return launch.Result(*std::move(run), /*fair=*/true);
}

absl::StatusOr<Explored> RunExhaustive(const PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                                       absl::Span<const MutableArray> outputs, const ExhaustiveOptions& options,
                                       const std::function<absl::StatusOr<bool>(const ScheduledResult&)>& visit) {
  if (NeedsThreads(kernel.program())) {
    return ExploreThreads(kernel, inputs, outputs, {.scheduled = options.scheduled}, options.max_schedules, visit);
  }
  const LaunchOptions& launch_options = options.scheduled.launch;
  const bool copyable =
      launch_options.observers.empty() && launch_options.hooks == nullptr && !launch_options.definedness;
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
                  .loop = Fitting(options.scheduled.loop, kernel.program())},
                 seen);
}

}  // namespace palladion
