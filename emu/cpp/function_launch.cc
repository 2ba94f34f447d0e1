#include "emu/cpp/function_launch.h"

#include <limits>
#include <utility>

#include "emu/cpp/function_agents.h"
#include "emu/cpp/function_machine.h"
#include "scheduler/wait_graph.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {
namespace {

std::string_view Kind(const FunctionMachine& machine) { return machine.threads() > 1 ? "thread" : "block"; }

Finding DeadlockFinding(const FunctionMachine& machine, const scheduler::Deadlock& deadlock) {
  const scheduler::Wait& wait = scheduler::FirstToTell(deadlock);
  return {.code = FindingCode::kDeadlock,
          .severity = RowOf(FindingCode::kDeadlock).severity,
          .message = Cat(deadlock.partial ? "some " : "no ", Kind(machine),
                         deadlock.partial ? "s can never go on: " : " can go on: ", Describe(deadlock)),
          .loc = wait.loc,
          .fix = deadlock.cycle.size() > 1 ? "let one of them arrive or signal before it waits"
                                           : "arrive or signal once for each wait, or wait once less"};
}

Finding LivelockFinding(const FunctionMachine& machine, const FunctionAgents& agents,
                        const scheduler::LoopResult& run) {
  const FunctionThread* const thread = agents.FirstUnfinished();
  return {.code = FindingCode::kLivelock,
          .severity = RowOf(FindingCode::kLivelock).severity,
          .message = Cat("after ", run.steps, " requests ", agents.unfinished(), " ", Kind(machine),
                         "s have not ended; they look for what nobody writes or change something for ever, or the "
                         "budget is too small: raise CheckOptions::step_budget"),
          .loc = thread == nullptr ? LocId{} : thread->last_place(),
          .fix = "bound the loop, or let somebody write what it looks for",
          .confidence = Confidence::kPredicted};
}

absl::StatusOr<scheduler::LoopResult> RunAll(FunctionAgents& agents, const FunctionMachine& machine,
                                             const FunctionOptions& options, scheduler::Policy& policy) {
  scheduler::RunLoop loop(agents, {.resident = std::numeric_limits<std::size_t>::max(),  // FunctionAgents decides
                                   .budget = options.step_budget,
                                   .control = options.run.control});
  try {
    return loop.Run(policy);
  } catch (const FunctionFailed&) {
    return machine.failed();
  }
}

}  // namespace

absl::StatusOr<FunctionRun> RunFunctions(const FunctionKernel& kernel, absl::Span<const Tensor> inputs,
                                         const FunctionOptions& options, CodePlaces& places,
                                         scheduler::Policy& policy) {
  FunctionRun result;
  for (const KernelOutput& output : kernel.outputs) {
    PALLADION_ASSIGN_OR_RETURN(Tensor tensor, Tensor::CreateUninitialized(output.dtype, output.shape));
    result.outputs.push_back(std::move(tensor));
  }
  FunctionMachine machine(kernel, options, places);
  machine.Bind(inputs, result.outputs);
  FunctionAgents agents(machine);
  absl::StatusOr<scheduler::LoopResult> run = RunAll(agents, machine, options, policy);
  if (run.ok() && run->outcome == scheduler::Outcome::kFinished) machine.Finish();
  result.findings = machine.Findings();
  result.printed = machine.memory().printed();
  result.accesses = machine.memory().accesses();
  result.raced = machine.raced_accesses();
  result.definedness = machine.definedness_checks();
  result.engines = agents.engines();
  if (!run.ok()) {
    result.trouble = run.status();
    return result;
  }
  result.run = *std::move(run);
  if (result.run.outcome == scheduler::Outcome::kDeadlock)
    result.findings.push_back(DeadlockFinding(machine, result.run.deadlock));
  if (result.run.outcome == scheduler::Outcome::kBudget)
    result.findings.push_back(LivelockFinding(machine, agents, result.run));
  return result;
}

}  // namespace palladion
