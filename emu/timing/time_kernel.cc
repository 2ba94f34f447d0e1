#include "emu/timing/time_kernel.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emu/check/contracts.h"
#include "emu/check/replay_origin.h"
#include "emu/kernel/arrays.h"
#include "emu/kernel/operand_check.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/timing/mosaic_gpu/timing.h"
#include "emu/timing/tpu/timing.h"
#include "emu/timing/triton/timing.h"
#include "scheduler/policies/schedule.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::timing {

using base::Timed;
using base::TimedCall;

absl::StatusOr<machines::Machine> MachineOf(const PreparedKernel& kernel, absl::Span<const std::string> changes) {
  const std::string target = kernel.target();
  const std::size_t slash = target.find('/');
  if (slash == std::string::npos)
    return absl::InvalidArgumentError(
        Cat("kernel @", kernel.name(), ": its target is ", target, ", which is no chip; say which one: h100, v5e"));
  PALLADION_ASSIGN_OR_RETURN(const machines::Machine* found, machines::FindMachine(target.substr(slash + 1)));
  machines::Machine machine = *found;
  PALLADION_RETURN_IF_ERROR(machine.Set(changes));
  return machine;
}

namespace {

// What its compiler refuses has no time.
absl::Status CheckCompiles(const PreparedKernel& kernel) {
  for (const Finding& finding : check::StaticFindings(kernel.state())) {
    if (finding.severity != Severity::kDefect) continue;
    return absl::InvalidArgumentError(Cat("kernel @", kernel.name(), " cannot be compiled for ", kernel.target(), ": ",
                                          PlaceText(kernel.state().module(), finding.loc, finding.text_line), ": ",
                                          finding.message, finding.fix.empty() ? "" : "; ", finding.fix));
  }
  return absl::OkStatus();
}

absl::Status CheckDrawn(const TimedCall& call) {
  if (!call.timeline.has_value()) return absl::OkStatus();
  const auto found = call.machine.Find(machines::Key<machines::Count>("chip.cores"));
  const auto cores = static_cast<std::int64_t>(found.has_value() ? found->value() : 1);
  const std::int64_t devices = call.kernel.state().program().devices, device = call.timeline->device;
  if (device < 0 || device >= devices)
    return absl::InvalidArgumentError(
        Cat("a timeline of device ", device, " is requested; kernel @", call.kernel.name(), " runs on ",
            devices == 1 ? "one device, number 0" : "devices 0 to ", devices == 1 ? "" : std::to_string(devices - 1)));
  if (call.timeline->unit >= 0 && call.timeline->unit < cores) return absl::OkStatus();
  const std::string_view what = call.machine.family() == machines::Family::kTpu ? "core" : "SM";
  return absl::InvalidArgumentError(Cat("a timeline of ", what, " ", call.timeline->unit, " is requested; ",
                                        call.machine.name(), " has ", what, cores == 1 ? " 0 alone" : "s 0 to ",
                                        cores == 1 ? "" : std::to_string(cores - 1)));
}

absl::StatusOr<Timed> TimeOnChip(const TimedCall& call) {
  const bool triton = call.kernel.state().program().target.backend == TargetBackend::kTriton;
  switch (call.machine.family()) {
    case machines::Family::kHopper:
    case machines::Family::kBlackwell:
      return triton ? triton::TimeTriton(call) : mosaic_gpu::TimeOnGpu(call);
    case machines::Family::kTpu:
      return tpu::TimeOnTpu(call);
  }
  return absl::InternalError(Cat(call.machine.name(), " is of a family without a model of time"));
}

// The number from 1 of the first move in which they differ; of the same moves 0.
std::size_t FirstDifference(absl::Span<const scheduler::Move> a, absl::Span<const scheduler::Move> b) {
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  return i == a.size() && i == b.size() ? 0 : i + 1;
}

constexpr const char* kInstead = "; a check and a picture of a schedule replay it without a clock";

// A run in time goes on with the thread that comes next by the times of the chip, and shared units take requests in the
// order of time. Under another order times would be those of no chip.
absl::Status ExpectOrderOfTime(const scheduler::Schedule& requested, const std::string& timed) {
  PALLADION_ASSIGN_OR_RETURN(const scheduler::Schedule own, scheduler::ParseSchedule(timed));
  std::string other;
  if (!requested.moves.has_value()) {
    other = ": it is no list of moves";
  } else if (requested.at_once != own.at_once) {
    other = Cat(": it has ", requested.at_once == 0 ? "all" : Cat(requested.at_once),
                " clusters of blocks at once, not ", own.at_once);
  } else if (const std::size_t difference = FirstDifference(*requested.moves, *own.moves); difference > 0) {
    other = Cat(" from its move ", difference, " on");
  } else {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      Cat("the chip's times decide what comes next in a timed run, and this schedule is another", other, kInstead));
}

absl::StatusOr<Timed> TimeReplayed(const TimedCall& call) {
  PALLADION_ASSIGN_OR_RETURN(const scheduler::Schedule requested, scheduler::ParseSchedule(call.replay));
  const std::vector<ConstArray> inputs = kernel::ArraysOf(call.inputs);
  PALLADION_RETURN_IF_ERROR(kernel::CheckInputs(call.kernel, inputs));
  PALLADION_RETURN_IF_ERROR(
      scheduler::ExpectMadeFor(requested, check::OriginOf(call.kernel.state(), inputs, CheckOptions{})));
  const bool triton = call.kernel.state().program().target.backend == TargetBackend::kTriton;
  if (triton || call.machine.family() == machines::Family::kTpu)
    return absl::InvalidArgumentError(
        Cat("only the model of a GPU's threads has a schedule that can be replayed in time; ",
            triton ? "blocks of Triton kernels queue for more memory than a check lets them choose at"
                   : "here programs are timed in the order of the text",
            kInstead));
  TimedCall scheduled = call;
  scheduled.schedule = true;
  PALLADION_ASSIGN_OR_RETURN(Timed timed, TimeOnChip(scheduled));
  PALLADION_RETURN_IF_ERROR(ExpectOrderOfTime(requested, *timed.schedule));
  return timed;
}

}  // namespace

absl::StatusOr<Timed> TimeKernel(const TimedCall& call) {
  PALLADION_RETURN_IF_ERROR(CheckDrawn(call));
  PALLADION_RETURN_IF_ERROR(CheckCompiles(call.kernel));
  return call.replay.empty() ? TimeOnChip(call) : TimeReplayed(call);
}

}  // namespace palladion::timing
