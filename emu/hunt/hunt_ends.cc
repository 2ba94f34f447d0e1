#include "emu/hunt/hunt_ends.h"

#include <chrono>
#include <vector>

#include "emu/arrays.h"
#include "emu/emulate.h"
#include "emu/hunt/reference_machine.h"
#include "emu/launch/scheduled_launch.h"
#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

Tensor Rows(int rows, std::int64_t (*value)(int)) {
  Tensor tensor(DType::kI32, {rows, kRowElements});
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

}  // namespace

std::vector<Tensor> InputsOf(const HuntKernel& kernel) {
  return {Rows(kernel.rows, InputOfX), Rows(kernel.rows, InputOfM)};
}

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
  const auto visit = [&](const launch::ScheduledResult& result) -> absl::StatusOr<bool> {
    const bool deadlock = result.run.outcome == scheduler::Outcome::kDeadlock;
    ends.found.insert(deadlock ? "deadlock" : OutcomeOf(*outputs));
    return seconds() < options.seconds;
  };
  const std::vector<ConstArray> in = ArraysOf(inputs);
  const std::vector<MutableArray> out = MutableArraysOf(*outputs);
  const launch::ExhaustiveOptions search{.max_schedules = options.max_schedules, .snapshots = options.snapshots};
  const absl::StatusOr<scheduler::Explored> explored =
      launch::RunExhaustive({prepared->state(), in, out, search}, visit);
  ends.seconds = seconds();
  if (!explored.ok()) {
    ends.error = explored.status().ToString();
    return ends;
  }
  ends.ended = explored->complete;
  ends.schedules = explored->schedules;
  ends.pruned = explored->pruned;
  const auto promised = [&](const char* nothing) { return reached.outcomes.count(nothing) == 0; };
  if (ends.ended && promised("broken") && promised("stale") && promised("undefined")) ends.expected = reached.outcomes;
  return ends;
}

}  // namespace palladion::hunt
