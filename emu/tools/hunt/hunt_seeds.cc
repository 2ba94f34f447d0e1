#include "emu/tools/hunt/hunt_seeds.h"

#include <algorithm>
#include <set>
#include <vector>

#include "emu/check.h"
#include "emu/check/trial_runner.h"
#include "emu/kernel/arrays.h"
#include "emu/tools/hunt/hunt_oracle.h"
#include "emu/tools/hunt/reference_explore.h"
#include "emu/tools/hunt/reference_machine.h"
#include "scheduler/policies/portfolio.h"
#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

constexpr std::int64_t kMaxStates = 100'000;
constexpr std::uint64_t kEvery = 40;  // of the kernels that do not deadlock, and for races

bool IsRace(const Finding& finding) {
  return finding.code == FindingCode::kRaceWriteWrite || finding.code == FindingCode::kRaceReadWrite ||
         finding.code == FindingCode::kRaceAsync;
}

}  // namespace

std::string SeedsNeeded(std::uint64_t number, Kernels which, std::int64_t seeds) {
  const HuntKernel kernel = RandomKernel(number, which);
  const Written written = Write(kernel);
  const Reached reached = ExploreFrom(ReferenceMachine(kernel, written), kMaxStates);
  const bool deadlocks = reached.complete && reached.outcomes.size() > 1 && reached.outcomes.count("deadlock") > 0;
  const absl::StatusOr<PreparedKernel> prepared =
      PrepareText(written.text, {.kernel = "", .target = kernel.target, .path = ""});
  if (!prepared.ok()) return "";
  const std::vector<Tensor> inputs = InputsOf(kernel);
  const std::vector<ConstArray> arrays = kernel::ArraysOf(inputs);
  const CheckOptions options{.contracts = false, .threads = 1};
  const check::TrialRunner runner = check::TrialRunner::Create(*prepared, arrays, options);
  scheduler::RunLengths lengths;
  // A digit: 0, 1: a deadlock, 2: a race, 3: both.
  const auto run = [&](scheduler::PolicyKind policy, std::uint64_t seed) -> int {
    const check::Watch watch = deadlocks && number % kEvery != 0 ? check::Watch::kOutputs : check::Watch::kEverything;
    const absl::StatusOr<check::Trial> trial =
        runner.Run({.policy = policy, .seed = seed, .moves = {}}, watch, lengths);
    if (!trial.ok()) return 0;
    if (lengths.operations.empty())
      lengths = {.steps = std::max<std::int64_t>(1, trial->run.steps), .operations = trial->run.operations};
    const bool stuck = trial->run.outcome == scheduler::Outcome::kDeadlock;
    return (stuck ? 1 : 0) + (std::any_of(trial->findings.begin(), trial->findings.end(), IsRace) ? 2 : 0);
  };
  if (!deadlocks && number % kEvery != 0) return "";
  std::string line = Cat(number, "\t", deadlocks ? "deadlock" : "none");
  run(scheduler::PolicyKind::kProgramOrder, 0);
  for (const scheduler::PolicyRow& row : scheduler::AllPolicies()) {
    Append(&line, "\t");
    for (std::int64_t seed = 0; seed < seeds; ++seed) Append(&line, run(row.kind, static_cast<std::uint64_t>(seed)));
  }
  return Cat(line, "\n");
}

}  // namespace palladion::hunt
