#include "emu/hunt/hunt_ends.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "emu/arrays.h"
#include "emu/check.h"
#include "emu/checks/check_trial.h"
#include "emu/emulate.h"
#include "emu/hunt/reference_machine.h"
#include "emu/launch/run.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::hunt {
namespace {

Tensor Rows(const HuntKernel& kernel, std::int64_t (*value)(int)) {
  const bool devices = kernel.family == Family::kTpu && kernel.cores == Cores::kDevices && kernel.blocks > 1;
  std::vector<std::int64_t> shape = {kernel.rows, kRowElements};
  if (devices) shape.insert(shape.begin(), kernel.blocks);
  Tensor tensor(DType::kI32, shape);
  const auto numbers = tensor.span<std::int32_t>();
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<std::int32_t>(value(static_cast<int>(static_cast<std::int64_t>(i) / kRowElements)));
  return tensor;
}

// As ReferenceMachine::Outcome has it: o, then the two cells of each half of a row of m.
std::string OutcomeOf(const std::vector<Tensor>& outputs) {
  std::string outcome;
  for (const std::int32_t number : outputs[0].span<std::int32_t>()) Append(&outcome, number, ",");
  const auto elements = outputs[1].span<std::int32_t>();
  for (std::size_t i = 0; i < elements.size(); i += 64) Append(&outcome, elements[i], ",", elements[i + 1], ",");
  return outcome;
}

// What is wrong with the kernel is such that no outcome is promised (hunt_oracle.cc).
bool PromisesNothing(const Finding& finding) {
  return finding.code == FindingCode::kPeerLifetime || finding.code == FindingCode::kBarrierPhaseSkip ||
         finding.code == FindingCode::kBarrierDouble || finding.code == FindingCode::kBarrierBytes ||
         finding.code == FindingCode::kCollectiveMismatch || finding.code == FindingCode::kUseAfterScope;
}

// How a schedule ends, and what is found on the way.
std::string WayOf(const checks::Trial& trial) {
  std::set<std::string> codes;
  for (const Finding& finding : trial.findings) {
    if (finding.code != FindingCode::kStartOrder) codes.emplace(Code(finding.code));  // of an order of beginning
  }
  std::string way = trial.run.outcome == scheduler::Outcome::kDeadlock ? "deadlock" : OutcomeOf(trial.outputs);
  for (const std::string& code : codes) Append(&way, " ", code);
  return way;
}

// Random schedules must end in ways that the search has seen.
void HoldAgainstSeeds(const PreparedKernel& kernel, const std::vector<ConstArray>& inputs, std::int64_t seeds,
                      Ends* ends) {
  const CheckOptions check{.contracts = false, .threads = 1};
  const absl::StatusOr<checks::TrialRunner> runner = checks::TrialRunner::Create(kernel, inputs, check);
  if (!runner.ok()) return;
  absl::StatusOr<std::vector<Tensor>> outputs = NewOutputs(kernel);
  const std::vector<MutableArray> out = MutableArraysOf(*outputs);
  const agents::LaunchOptions options = runner->OptionsOfSearch(kernel.state().program().grid_in_agent ? 2 : 0);
  std::set<std::string> seen;
  const auto visit = [&](const agents::Ran& ran) -> absl::StatusOr<bool> {
    PALLADION_ASSIGN_OR_RETURN(const checks::Trial trial,
                               runner->Run(runner->ScheduleOfSearch(ran, options), checks::Watch::kEverything, {}));
    seen.insert(WayOf(trial));
    return true;
  };
  const auto explored = launch::RunExhaustive({kernel.state(), inputs, out}, options, {}, visit);
  if (!explored.ok() || !explored->complete) return;
  for (std::int64_t seed = 0; seed < seeds; ++seed) {
    scheduler::Schedule schedule = runner->ScheduleOfSeed(seed);
    if (seed % 2 == 1) schedule.policy = scheduler::PolicyKind::kRandomWalk;
    const absl::StatusOr<checks::Trial> trial = runner->Run(schedule, checks::Watch::kEverything, {});
    if (!trial.ok() || trial->run.outcome == scheduler::Outcome::kBudget) continue;
    if (seen.insert(WayOf(*trial)).second) ends->unseen.insert(Cat(WayOf(*trial), " of seed ", seed));
  }
}

}  // namespace

std::vector<Tensor> InputsOf(const HuntKernel& kernel) { return {Rows(kernel, InputOfX), Rows(kernel, InputOfM)}; }

Ends EndsOf(const HuntKernel& kernel, const EndsOptions& options) {
  Ends ends;
  const Written written = Write(kernel);
  const ReferenceMachine machine(kernel, written);
  const Reached reached = ExploreFrom(machine, options.max_states + 1);
  ends.states = reached.states;
  ends.asked = reached.complete && reached.states <= options.max_states;
  if (!ends.asked) return ends;
  const absl::StatusOr<PreparedKernel> prepared =
      PrepareText(written.text, {.kernel = "", .target = kernel.target, .path = ""});
  if (!prepared.ok()) {
    ends.error = prepared.status().ToString();
    return ends;
  }
  const std::vector<Tensor> inputs = InputsOf(kernel);
  absl::StatusOr<std::vector<Tensor>> outputs = NewOutputs(*prepared);
  if (!outputs.ok()) return ends;
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  bool promised = !kernel.pipelined();  // what a hazard of a pipeline does need not show
  const auto visit = [&](const agents::Ran& ran) -> absl::StatusOr<bool> {
    ends.found.insert(ran.stuck() ? "deadlock" : OutcomeOf(*outputs));
    promised &= std::none_of(ran.findings.begin(), ran.findings.end(), PromisesNothing);
    return seconds() < options.seconds;
  };
  const std::vector<ConstArray> in = ArraysOf(inputs);
  const std::vector<MutableArray> out = MutableArraysOf(*outputs);
  const launch::SearchOptions search{.max_schedules = options.max_schedules, .snapshots = options.snapshots};
  const absl::StatusOr<scheduler::Explored> explored =
      launch::RunExhaustive({prepared->state(), in, out}, {}, search, visit);
  ends.seconds = seconds();
  if (!explored.ok()) {
    ends.error = explored.status().ToString();
    return ends;
  }
  ends.ended = explored->complete;
  ends.schedules = explored->schedules;
  ends.pruned = explored->pruned;
  for (const char* const nothing : {"broken", "stale", "undefined"}) promised &= reached.outcomes.count(nothing) == 0;
  if (ends.ended && promised) ends.expected = reached.outcomes;
  if (ends.ended && options.seeds > 0) HoldAgainstSeeds(*prepared, in, options.seeds, &ends);
  return ends;
}

}  // namespace palladion::hunt
