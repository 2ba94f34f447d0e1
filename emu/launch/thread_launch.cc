#include "emu/launch/thread_launch.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "emu/agents/launch_state.h"
#include "emu/gpu/gpu_machine.h"
#include "emu/gpu/thread_agents.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/agent_naming.h"

namespace palladion {
namespace {

const Kernel& KernelOf(const PreparedKernelState& state) {
  const std::vector<Kernel>& kernels = state.module().kernels;
  return *std::find_if(kernels.begin(), kernels.end(),
                       [&](const Kernel& kernel) { return kernel.name == state.program().kernel_name; });
}

// Is it one that begins before the kernel before it has ended?
bool MayOverlap(const Region& region) {
  return std::any_of(region.body.begin(), region.body.end(), [](const Instr& op) {
    return op.name == "griddepcontrol_wait" || std::any_of(op.regions.begin(), op.regions.end(), MayOverlap);
  });
}

class ThreadLaunch final : public Explorable {
 public:
  ThreadLaunch(const PreparedKernelState& kernel, const ThreadOptions& options)
      : kernel_(KernelOf(kernel)),
        options_(options),
        plain_(WithoutHooks(options.scheduled.launch)),
        state_(kernel, plain_) {}

  // `all`: every block is there from the start, whatever the chip holds.
  absl::Status Bind(absl::Span<const ConstArray> inputs, absl::Span<const MutableArray> outputs, bool all) {
    LaunchOptions& launch = plain_;
    const auto bound = launch.bound;
    launch.bound = [this, bound](Memory& memory, absl::Span<const BufferId> arrays) {
      machine_.emplace(state_.program(), memory, state_.frame().grid_size,
                       GpuOptions{.policy = options_.scheduled.fences,
                                  .races = options_.races,
                                  .definedness = state_.tracks_definedness(),
                                  .places = [&module = state_.module()](const CodeSite& site) {
                                    return PlaceText(module, site.loc, site.text_line);
                                  }});
      if (options_.one_value != nullptr) writes_.emplace(memory, *machine_);
      std::vector<BufferId> adopted;
      for (std::size_t i = 0; i < arrays.size(); ++i) {
        const OperandInfo& info = state_.program().operand_infos[i];
        const bool is_input = info.role == Role::kIn || info.role == Role::kPrefetch;
        const bool before = is_input && options_.races && MayOverlap(kernel_.bodies[0].region);
        // What nobody writes has no races. An output may be an input's memory.
        if (!arrays[i].valid() || (info.role != Role::kOut && !info.written && !before)) continue;
        if (writes_.has_value() && (info.role == Role::kOut || info.written)) writes_->Watch(arrays[i]);
        if (std::find(adopted.begin(), adopted.end(), arrays[i]) != adopted.end()) continue;
        adopted.push_back(arrays[i]);
        machine_->Adopt(arrays[i]);
        if (before) machine_->WrittenBefore(arrays[i]);
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
    Residency residency{.clusters = std::numeric_limits<std::int64_t>::max()};
    const bool at_once = options_.together && !BlocksInteract(state_.program(), kernel_);
    if (!all && !at_once) residency = ResidencyOf(state_.program(), kernel_, state_.frame().grid_size);
    if (residency.Limits(state_.walk().programs()) && !options_.begin_backwards) state_.WalkInOrder();
    if (plain_.run.control != nullptr) plain_.run.control->BeginLaunch(state_.walk().programs());
    agents_.emplace(state_, *machine_, options_.scheduled.launch.hooks, kernel_, std::move(residency));
    return absl::OkStatus();
  }

  AgentSource& agents() override { return *agents_; }

  std::vector<Finding> FoundSoFar() {
    std::vector<Finding> findings = state_.memory().findings();
    const std::vector<Finding>& model = machine_->model().findings();
    findings.insert(findings.end(), model.begin(), model.end());
    return findings;
  }

  ScheduledResult Result(LoopResult run, bool fair) {
    const bool finished = run.outcome == Outcome::kFinished;
    const std::int64_t checks = finished ? state_.Finish() : 0;
    if (finished && options_.at_end) options_.at_end(*machine_);
    if (finished) machine_->End({});
    if (writes_.has_value()) *options_.one_value = writes_->OfOneValue();
    ScheduledResult result{.launch = {.programs = state_.walk().programs(),
                                      .accesses = state_.memory().accesses(),
                                      .definedness_checks = checks,
                                      .findings = FoundSoFar(),
                                      .printed = state_.memory().printed()},
                           .run = std::move(run),
                           .all_fit = agents_->all_fit(),
                           .arrivals_race = machine_->model().ArrivalsRace(),
                           .engines = agents_->engines()};
    std::vector<Finding>& findings = result.launch.findings;
    if (result.run.outcome == Outcome::kDeadlock) findings.push_back(DeadlockFinding(result.run));
    if (result.run.outcome == Outcome::kBudget && fair) findings.push_back(LivelockFinding(result.run));
    return result;
  }

 private:
  static LaunchOptions WithoutHooks(LaunchOptions options) {
    options.hooks = nullptr;
    return options;
  }

  std::string_view Kind() const { return NamingOf(state_.program()).many_threads ? "thread" : "block"; }

  Finding DeadlockFinding(const LoopResult& run) const {
    const Wait& wait = FirstToTell(run.deadlock);
    const bool partial = run.deadlock.partial;
    Finding finding{.code = FindingCode::kDeadlock,
                    .severity = RowOf(FindingCode::kDeadlock).severity,
                    .message = Cat(partial ? "some " : "no ", Kind(),
                                   partial ? "s can never go on: " : " can go on: ", Describe(run.deadlock)),
                    .loc = wait.loc,
                    .text_line = wait.text_line};
    const std::vector<Wait>& waits = run.deadlock.waits;
    if (std::any_of(waits.begin(), waits.end(), [](const Wait& w) { return w.holder.has_value(); }))
      finding.fix = kSpinFix;
    else
      finding.fix = run.deadlock.cycle.size() > 1 ? "let one of them arrive or signal before it waits"
                                                  : "arrive or signal once for each wait, or wait once less";
    if (const std::string why = agents_->WhyNotBegun(); !why.empty()) {
      Append(&finding.message, "; ", why);
      finding.fix = "launch no more blocks than fit at once, or let none wait for one that begins later";
    }
    return finding;
  }

  Finding LivelockFinding(const LoopResult& run) const {
    Finding finding{
        .code = FindingCode::kLivelock,
        .severity = RowOf(FindingCode::kLivelock).severity,
        .message = Cat("after ", run.steps, " visible operations ", agents_->Unfinished().size(), " ", Kind(),
                       "s have not ended; their loops change something for ever, or the budget is "
                       "too small: raise ",
                       options_.scheduled.launch.run.budget_name),
        .fix = "bound the loop, or let somebody write what it looks for",
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

  const Kernel& kernel_;
  const ThreadOptions& options_;
  LaunchOptions plain_;
  LaunchState state_;
  std::optional<GpuMachine> machine_;
  std::optional<ThreadAccesses> accesses_;
  std::optional<ThreadWrites> writes_;
  std::optional<ThreadAgents> agents_;
};

LoopOptions Unbounded(LoopOptions loop, const RunOptions& run) {
  loop.control = run.control;
  loop.resident = std::numeric_limits<std::size_t>::max();  // ThreadAgents decides
  return loop;
}

}  // namespace

bool NeedsThreads(const Program& program) { return program.uses_port || program.mesh.has_value(); }

absl::StatusOr<ScheduledResult> RunThreads(const PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                                           absl::Span<const MutableArray> outputs, const ThreadOptions& options,
                                           Policy& policy) {
  ThreadLaunch launch(kernel, options);
  PALLADION_RETURN_IF_ERROR(launch.Bind(inputs, outputs, /*all=*/false));
  RunLoop loop(launch.agents(), Unbounded(options.scheduled.loop, options.scheduled.launch.run));
  absl::StatusOr<LoopResult> run = loop.Run(policy);
  if (!run.ok()) {
    std::vector<Finding>* found = options.scheduled.launch.found_before_error;
    if (found != nullptr) *found = launch.FoundSoFar();
    return run.status();
  }
  return launch.Result(*std::move(run), /*fair=*/true);
}

absl::StatusOr<Explored> ExploreThreads(const PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                                        absl::Span<const MutableArray> outputs, const ThreadOptions& options,
                                        std::int64_t max_schedules,
                                        const std::function<absl::StatusOr<bool>(const ScheduledResult&)>& visit) {
  const auto make = [&]() -> absl::StatusOr<std::unique_ptr<Explorable>> {
    auto launch = std::make_unique<ThreadLaunch>(kernel, options);
    PALLADION_RETURN_IF_ERROR(launch->Bind(inputs, outputs, /*all=*/true));
    return launch;
  };
  const auto seen = [&](Explorable& system, const LoopResult& run) -> absl::StatusOr<bool> {
    return visit(static_cast<ThreadLaunch&>(system).Result(run, /*fair=*/false));
  };
  const LoopOptions loop = Unbounded(options.scheduled.loop, options.scheduled.launch.run);
  return Explore(make, {.snapshots = false, .max_schedules = max_schedules, .loop = loop}, seen);
}

}  // namespace palladion
