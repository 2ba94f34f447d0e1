#include "emu/launch/scheduled_launch.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "emu/agents/launch_state.h"
#include "emu/launch/agents_of_launch.h"
#include "emu/launch/driven_launch.h"
#include "emu/launch/run.h"
#include "emu/launch/way.h"
#include "emu/machines/chip.h"
#include "scheduler/policies/portfolio.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::launch {
namespace {

// One launch and its agents; what a search explores.
class AgentsLaunch final : public scheduler::Explorable, public DrivenLaunch {
 public:
  // Both outlive it.
  AgentsLaunch(const agents::PreparedKernelState& kernel, const ScheduledOptions& options,
               const agents::LaunchPlace& at = {})
      : options_(options),
        machine_first_(
            [this](memory_model::Memory& memory, absl::Span<const BufferId> arrays) { who_->Bound(memory, arrays); }),
        watched_(WithMachine(options.launch)),
        state_(kernel, watched_, at),
        who_(WayOf(kernel.program(), {.purpose = Purpose::kMoves}) == Way::kThreads
                 ? ThreadsOfLaunch(state_, options)
                 : ProgramsOfLaunch(state_, options)) {}

  absl::Status Bind(absl::Span<const ConstArray> inputs, absl::Span<const MutableArray> outputs, bool search) {
    PALLADION_RETURN_IF_ERROR(state_.Bind(inputs, outputs));
    state_.memory().NeverLend();
    who_->Make(search);
    if (options_.launch.run.control != nullptr) options_.launch.run.control->BeginLaunch(state_.walk().programs());
    return absl::OkStatus();
  }

  scheduler::AgentSource& agents() override { return who_->source(); }
  AgentsOfLaunch& who() override { return *who_; }
  bool copyable() const { return who_->copyable(); }
  std::optional<scheduler::Touches> TakeTouched() override { return who_->TakeTouched(); }
  std::string_view budget_name() const override { return options_.launch.run.budget_name; }
  scheduler::LoopOptions Loop() const override {
    scheduler::LoopOptions loop = options_.loop;
    loop.control = options_.launch.run.control;
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

  agents::LaunchResult Ended(bool finished) override {
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

  const ScheduledOptions& options_;
  agents::BoundAndFinished machine_first_;
  const agents::LaunchOptions watched_;
  mutable agents::LaunchState state_;  // Save marks freed memory as kept
  std::unique_ptr<AgentsOfLaunch> who_;
};

}  // namespace

absl::StatusOr<ScheduledResult> RunScheduled(const ScheduledCall& call, scheduler::Policy& policy) {
  agents::RunState run(call.device + 1);
  PALLADION_ASSIGN_OR_RETURN(std::vector<ScheduledResult> results, RunLaunches(run, {&call, 1}, policy));
  return std::move(results[0]);
}

namespace {

// The launches of a run that are under way together; their devices are taken until they have ended.
class LaunchesTogether {
 public:
  explicit LaunchesTogether(agents::RunState& run) : run_(run) {}
  ~LaunchesTogether() {
    for (const std::int32_t device : devices_) run_.End(device);
  }
  LaunchesTogether(const LaunchesTogether&) = delete;
  LaunchesTogether& operator=(const LaunchesTogether&) = delete;

  absl::Status Add(const ScheduledCall& call) {
    if (!run_.Begin(call.device)) {
      return absl::InvalidArgumentError(Cat("kernel @", call.kernel.program().kernel_name, ": device ", call.device,
                                            " of a run with ", run_.devices(),
                                            " devices is not there, or has a launch that has not ended; give each "
                                            "launch a device of its own, or let one follow the other"));
    }
    devices_.push_back(call.device);
    calls_.push_back(&call);
    launches_.push_back(std::make_unique<AgentsLaunch>(call.kernel, call.options,
                                                       agents::LaunchPlace{.run = &run_, .device = call.device}));
    return launches_.back()->Bind(call.inputs, call.outputs, /*search=*/false);
  }

  absl::StatusOr<std::vector<ScheduledResult>> Run(scheduler::Policy& policy) {
    std::vector<LaunchOnDevice> driven;
    for (std::size_t i = 0; i < launches_.size(); ++i) driven.push_back({launches_[i].get(), devices_[i]});
    absl::StatusOr<std::vector<ScheduledResult>> results = Drive(driven, policy);
    for (std::size_t i = 0; i < launches_.size() && !results.ok(); ++i) {
      std::vector<Finding>* const before_error = calls_[i]->options.launch.found_before_error;
      if (before_error != nullptr) *before_error = launches_[i]->FoundSoFar();
    }
    return results;
  }

 private:
  agents::RunState& run_;
  std::vector<std::int32_t> devices_;
  std::vector<const ScheduledCall*> calls_;
  std::vector<std::unique_ptr<AgentsLaunch>> launches_;
};

}  // namespace

absl::StatusOr<std::vector<ScheduledResult>> RunLaunches(agents::RunState& run, absl::Span<const ScheduledCall> calls,
                                                         scheduler::Policy& policy) {
  if (calls.empty()) return std::vector<ScheduledResult>();
  LaunchesTogether together(run);
  for (const ScheduledCall& call : calls) PALLADION_RETURN_IF_ERROR(together.Add(call));
  return together.Run(policy);
}

std::size_t ProgramsAtOnce(const Program& program) {
  constexpr std::size_t kBlocksOfSm = 32;  // CUDA C++ Programming Guide, "Compute Capabilities": 9.0 and 10.0
  const machines::Chip* chip = machines::FindChip(program.target.chip);
  if (program.loops.empty() || chip == nullptr || chip->is_tpu) return scheduler::LoopOptions().resident;
  return static_cast<std::size_t>(chip->cores) * kBlocksOfSm;
}

absl::StatusOr<std::optional<Finding>> StartOrderNote(const ScheduledCall& call) {
  ScheduledOptions backwards = call.options;
  backwards.launch.order = WalkOrder::kReverse;
  backwards.begin_backwards = true;
  const std::unique_ptr<scheduler::Policy> policy = scheduler::MakePolicy(scheduler::PolicyKind::kProgramOrder, 0, {});
  PALLADION_ASSIGN_OR_RETURN(const ScheduledResult result,
                             RunScheduled({call.kernel, call.inputs, call.outputs, backwards, call.device}, *policy));
  const std::vector<Finding>& findings = result.launch.findings;
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
    const agents::CallOf<ExhaustiveOptions>& call,
    const std::function<absl::StatusOr<bool>(const ScheduledResult&)>& visit) {
  const ExhaustiveOptions& options = call.options;
  const auto make = [&]() -> absl::StatusOr<std::unique_ptr<scheduler::Explorable>> {
    auto launch = std::make_unique<AgentsLaunch>(call.kernel, options.scheduled);
    PALLADION_RETURN_IF_ERROR(launch->Bind(call.inputs, call.outputs, /*search=*/true));
    return launch;
  };
  const auto seen = [&](scheduler::Explorable& system, const scheduler::LoopResult& run) -> absl::StatusOr<bool> {
    return visit(static_cast<AgentsLaunch&>(system).Result(run, /*fair=*/false));
  };
  const AgentsLaunch shape(call.kernel, options.scheduled);
  return scheduler::Explore(make,
                            {.reduce = options.reduce,
                             .snapshots = options.snapshots && shape.copyable(),
                             .max_schedules = options.max_schedules,
                             .loop = shape.Loop()},
                            seen);
}

}  // namespace palladion::launch
