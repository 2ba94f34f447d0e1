#include "emu/gpu/thread_launch.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "emu/gpu/gpu_machine.h"
#include "emu/gpu/thread_agents.h"
#include "emu/launch_state.h"
#include "emu/machines/chip.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {
namespace {

// Clusters that see each other's effects while they run must all be there; of others one at a time is enough, because
// what orders their accesses is no schedule.
std::int64_t ResidentClusters(const Program& program) {
  const Chip* chip = FindChip(program.target.chip);
  return chip == nullptr ? 1 : chip->cores;
}

class ThreadLaunch final : public Explorable {
 public:
  ThreadLaunch(const PreparedKernelState& kernel, const ThreadOptions& options)
      : options_(options), plain_(WithoutHooks(options.scheduled.launch)), state_(kernel, plain_) {}

  absl::Status Bind(absl::Span<const ConstArray> inputs, absl::Span<const MutableArray> outputs,
                    std::int64_t clusters) {
    LaunchOptions& launch = plain_;
    const auto bound = launch.bound;
    launch.bound = [this, bound](Memory& memory, absl::Span<const BufferId> arrays) {
      machine_.emplace(state_.program(), memory, state_.frame().grid_size,
                       GpuOptions{.policy = options_.scheduled.fences,
                                  .races = options_.races,
                                  .definedness = options_.scheduled.launch.definedness});
      if (options_.one_value != nullptr) writes_.emplace(memory, *machine_);
      for (std::size_t i = 0; i < arrays.size(); ++i) {
        const OperandInfo& info = state_.program().operand_infos[i];
        // What nobody writes has no races.
        if (!arrays[i].valid() || (info.role != Role::kOut && !info.written)) continue;
        machine_->Adopt(arrays[i]);
        if (writes_.has_value()) writes_->Watch(arrays[i]);
      }
      if (bound) bound(memory, arrays);
    };
    PALLADION_RETURN_IF_ERROR(state_.Bind(inputs, outputs));
    state_.memory().NeverLend();
    if (options_.races) {
      accesses_.emplace(state_.memory(), *machine_);
      state_.memory().Observe(&*accesses_);
    }
    if (writes_.has_value()) state_.memory().Observe(&*writes_);
    agents_.emplace(state_, *machine_, options_.scheduled.launch.hooks, clusters);
    return absl::OkStatus();
  }

  AgentSource& agents() override { return *agents_; }

  ScheduledResult Result(LoopResult run, bool fair) {
    const bool finished = run.outcome == Outcome::kFinished;
    const std::int64_t checks = finished ? state_.Finish() : 0;
    if (finished) machine_->End({});
    if (writes_.has_value()) *options_.one_value = writes_->OfOneValue();
    ScheduledResult result{.launch = {.programs = state_.walk().programs(),
                                      .accesses = state_.memory().accesses(),
                                      .definedness_checks = checks,
                                      .findings = state_.memory().findings(),
                                      .printed = state_.memory().printed()},
                           .run = std::move(run),
                           .arrivals_race = machine_->model().ArrivalsRace()};
    std::vector<Finding>& findings = result.launch.findings;
    const std::vector<Finding>& model = machine_->model().findings();
    findings.insert(findings.end(), model.begin(), model.end());
    if (result.run.outcome == Outcome::kDeadlock) findings.push_back(DeadlockFinding(result.run));
    if (result.run.outcome == Outcome::kBudget && fair) findings.push_back(LivelockFinding(result.run));
    return result;
  }

 private:
  static LaunchOptions WithoutHooks(LaunchOptions options) {
    options.hooks = nullptr;
    return options;
  }

  static Finding DeadlockFinding(const LoopResult& run) {
    const Wait& wait = run.deadlock.waits.front();
    return {.code = FindingCode::kDeadlock,
            .severity = RowOf(FindingCode::kDeadlock).severity,
            .message = Cat(run.deadlock.partial ? "some threads can never go on: " : "no thread can go on: ",
                           Describe(run.deadlock)),
            .loc = wait.loc,
            .text_line = wait.text_line};
  }

  Finding LivelockFinding(const LoopResult& run) const {
    Finding finding{.code = FindingCode::kLivelock,
                    .severity = RowOf(FindingCode::kLivelock).severity,
                    .message = Cat("after ", run.steps, " visible operations ", agents_->Unfinished().size(),
                                   " threads have not ended; they wait for each other in loops, or the budget is too "
                                   "small"),
                    .fix = "check that what a loop waits for is written by a thread that is under way at the same time",
                    .confidence = Confidence::kPredicted};
    for (const ThreadAgent* agent : agents_->Unfinished()) {
      const std::vector<Step>& steps = agent->frame().program().steps;
      const Step& step = steps[std::min(agent->frame().pc, steps.size() - 1)];
      finding.loc = step.loc;
      finding.text_line = step.text_line;
      break;
    }
    return finding;
  }

  const ThreadOptions& options_;
  LaunchOptions plain_;
  LaunchState state_;
  std::optional<GpuMachine> machine_;
  std::optional<ThreadAccesses> accesses_;
  std::optional<ThreadWrites> writes_;
  std::optional<ThreadAgents> agents_;
};

LoopOptions Unbounded(LoopOptions loop) {
  loop.resident = std::numeric_limits<std::size_t>::max();  // ThreadAgents decides
  return loop;
}

}  // namespace

bool NeedsThreads(const Program& program) { return program.uses_port || program.mesh.has_value(); }

absl::StatusOr<ScheduledResult> RunThreads(const PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                                           absl::Span<const MutableArray> outputs, const ThreadOptions& options,
                                           Policy& policy) {
  ThreadLaunch launch(kernel, options);
  PALLADION_RETURN_IF_ERROR(launch.Bind(inputs, outputs, ResidentClusters(kernel.program())));
  RunLoop loop(launch.agents(), Unbounded(options.scheduled.loop));
  PALLADION_ASSIGN_OR_RETURN(LoopResult run, loop.Run(policy));
  return launch.Result(std::move(run), /*fair=*/true);
}

absl::StatusOr<Explored> ExploreThreads(const PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                                        absl::Span<const MutableArray> outputs, const ThreadOptions& options,
                                        std::int64_t max_schedules,
                                        const std::function<absl::StatusOr<bool>(const ScheduledResult&)>& visit) {
  const auto make = [&]() -> absl::StatusOr<std::unique_ptr<Explorable>> {
    auto launch = std::make_unique<ThreadLaunch>(kernel, options);
    PALLADION_RETURN_IF_ERROR(launch->Bind(inputs, outputs, std::numeric_limits<std::int64_t>::max()));
    return launch;
  };
  const auto seen = [&](Explorable& system, const LoopResult& run) -> absl::StatusOr<bool> {
    return visit(static_cast<ThreadLaunch&>(system).Result(run, /*fair=*/false));
  };
  return Explore(make, {.snapshots = false, .max_schedules = max_schedules, .loop = Unbounded(options.scheduled.loop)},
                 seen);
}

}  // namespace palladion
