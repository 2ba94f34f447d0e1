#include "emu/run/launch/launch_in_order.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "emu/run/agents/launch_state.h"
#include "emu/run/agents/solo_spin.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::launch {
namespace {

// Runs programs one after another. Where a kernel has loops that may wait, `solo` is there.
absl::Status RunPrograms(agents::LaunchState& state, Frame& frame, agents::AgentPrograms programs,
                         agents::SoloSpin* solo) {
  frame.BeginPrograms(programs.first, programs.last);
  const absl::Status status = solo == nullptr ? frame.Run() : solo->Run(frame);
  return status.ok() ? status : state.AtStep(status, frame);
}

// In program order at most one agent runs, so they share a frame: each program is one, or the whole walk is. A
// second core has its own, since its blocks and its scratch are.
absl::Status RunInProgramOrder(agents::LaunchState& state, agents::SoloSpin* solo) {
  const std::int64_t programs = state.walk().programs();
  const std::int64_t each = state.program().grid_in_agent ? state.FirstCorePrograms() : 1;
  RunControl* const control = state.frame().control();
  if (control != nullptr) control->BeginLaunch(programs);
  for (std::int64_t next = 0; next < programs; next += each) {
    if (Interrupted(control)) return InterruptedStatus();
    constexpr std::int64_t kTogether = 64;  // are reported at once
    if (control != nullptr && each == 1 && next % kTogether == 0 && next > 0) control->EndPrograms(kTogether);
    if (!state.program().grid_in_agent || next == 0) {
      PALLADION_RETURN_IF_ERROR(RunPrograms(state, state.frame(), {next, next + each}, solo));
    } else {
      PALLADION_ASSIGN_OR_RETURN(const std::unique_ptr<Frame> core, state.NewFrame());
      state.PutOnCore(/*device=*/0, next, *core);
      return RunPrograms(state, *core, {next, programs}, solo);
    }
    if (solo != nullptr && solo->stuck().has_value()) break;
  }
  return absl::OkStatus();
}

// Of the walk, which is row-major.
absl::StatusOr<std::int64_t> NumberOf(absl::Span<const std::int64_t> index, agents::LaunchState& state) {
  const std::vector<std::int64_t>& size = state.frame().grid_size();
  std::int64_t number = 0;
  bool inside = index.size() == size.size();
  for (std::size_t d = 0; inside && d < size.size(); ++d) {
    inside = index[d] >= 0 && index[d] < size[d];
    number = number * size[d] + index[d];
  }
  if (inside) return number;
  return absl::InvalidArgumentError(Cat("kernel @", state.program().kernel_name, " has no program (",
                                        absl::StrJoin(index, ", "), "); its grid is [", absl::StrJoin(size, ", "),
                                        "]"));
}

}  // namespace

absl::StatusOr<agents::Ran> RunInOrder(const agents::LaunchCall& call, const agents::LaunchOptions& options) {
  const bool may_wait = !call.kernel.program().loops.empty();
  agents::LaunchState state(call.kernel, options);
  PALLADION_RETURN_IF_ERROR(state.Bind(call.inputs, call.outputs));
  std::optional<agents::SoloSpin> solo;
  if (may_wait) solo.emplace(state, state.watchers());
  agents::SoloSpin* const spin = may_wait ? &*solo : nullptr;
  std::int64_t programs = state.walk().programs();
  absl::Status status;
  if (options.only_program.has_value()) {
    PALLADION_ASSIGN_OR_RETURN(const std::int64_t only, NumberOf(*options.only_program, state));
    status = RunPrograms(state, state.frame(), {only, only + 1}, spin);
    programs = 1;
  } else {
    status = RunInProgramOrder(state, spin);
  }
  if (!status.ok()) {
    if (options.found_before_error != nullptr) *options.found_before_error = state.memory().findings();
    return status;
  }
  const bool stuck = spin != nullptr && spin->stuck().has_value();
  const std::int64_t checks = stuck ? 0 : state.Finish();
  agents::Ran ran{.programs = programs,
                  .accesses = state.memory().accesses(),
                  .definedness_checks = checks,
                  .undefined_arrived = state.memory().undefined_arrived(),
                  .findings = state.memory().findings(),
                  .printed = state.memory().printed()};
  if (!stuck) return ran;
  ran.run.outcome = scheduler::Outcome::kDeadlock;
  ran.findings.push_back(*spin->stuck());
  return ran;
}

}  // namespace palladion::launch
