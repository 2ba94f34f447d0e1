#include "emu/front/cpp/function_launch.h"

#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emu/front/cpp/function_agents.h"
#include "emu/front/cpp/function_machine.h"
#include "emu/run/launch/agents_of_launch.h"
#include "emu/run/launch/driven_launch.h"
#include "emu/run/launch/launch_findings.h"

namespace palladion {
namespace {

class FunctionsOfLaunch final : public launch::AgentsOfLaunch {
 public:
  explicit FunctionsOfLaunch(FunctionMachine& machine) : machine_(machine), agents_(machine) {}

  void Make(bool /*search*/) override {}  // they are made as they begin
  scheduler::AgentSource& source() override { return agents_; }
  scheduler::LoopOptions Fitting(scheduler::LoopOptions loop) const override {
    loop.resident = std::numeric_limits<std::size_t>::max();  // FunctionAgents decides
    return loop;
  }
  void Complete(agents::Ran& result, const scheduler::LoopOptions&) const override {
    result.engines = agents_.engines();
  }

  std::string_view kind() const override { return machine_.threads() > 1 ? "thread" : "block"; }
  std::string_view counted() const override { return "requests"; }
  std::string FixOf(const scheduler::Deadlock& deadlock) const override { return launch::FixOfWaits(deadlock); }
  std::string WhyNotBegun() const override { return ""; }
  std::string_view begin_fix() const override { return ""; }
  std::string_view why_endless() const override {
    return "they wait for a value that no thread writes, or change something for ever";
  }
  Unfinished unfinished(std::size_t) const override {
    const FunctionThread* const thread = agents_.FirstUnfinished();
    Unfinished running{.count = agents_.unfinished(), .first = {}};
    if (thread != nullptr) running.first.push_back({.words = "", .loc = thread->last_place()});
    return running;
  }

 private:
  const FunctionMachine& machine_;
  FunctionAgents agents_;
};

class FunctionLaunch final : public launch::DrivenLaunch {
 public:
  FunctionLaunch(const FunctionCall& call, CodePlaces& places)
      : options_(call.options), machine_(call.kernel, call.options, places), who_(machine_) {
    machine_.Bind(call.inputs, call.outputs);
  }

  launch::AgentsOfLaunch& who() override { return who_; }
  scheduler::LoopOptions Loop() const override {
    scheduler::LoopOptions loop = options_.loop;
    loop.control = options_.run.control;
    return who_.Fitting(loop);
  }
  std::string_view budget_name() const override { return "CheckOptions::step_budget"; }
  std::vector<Finding> FoundSoFar() override { return machine_.Findings(); }
  agents::Ran Ended(bool finished) override {
    if (finished) machine_.Finish();
    return {
        .programs = machine_.threads_in_all(),
        .accesses = machine_.memory().accesses(),
        .definedness_checks = machine_.definedness_checks() + (options_.definedness ? machine_.memory().accesses() : 0),
        .undefined_arrived = machine_.memory().undefined_arrived(),
        .findings = FoundSoFar(),
        .printed = machine_.memory().printed(),
        .left = {}};
  }

 private:
  const agents::LaunchOptions& options_;
  FunctionMachine machine_;
  FunctionsOfLaunch who_;
};

}  // namespace

FunctionRun RunFunctions(const FunctionCall& call, CodePlaces& places, scheduler::Policy& policy) {
  FunctionLaunch launch(call, places);
  absl::StatusOr<agents::Ran> ran = launch::Drive(launch, policy);
  FunctionRun run{.trouble = ran.status()};
  run.result = ran.ok() ? *std::move(ran) : launch.Ended(/*finished=*/false);
  return run;
}

}  // namespace palladion
