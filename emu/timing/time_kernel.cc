#include "emu/timing/time_kernel.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "emu/check/contracts.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/timing/gpu_timing.h"
#include "emu/timing/tpu_timing.h"
#include "emu/timing/triton_timing.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::timing {

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
        Cat("a timeline of device ", device, " is asked for; kernel @", call.kernel.name(), " runs on ",
            devices == 1 ? "one device, number 0" : "devices 0 to ", devices == 1 ? "" : std::to_string(devices - 1)));
  if (call.timeline->unit >= 0 && call.timeline->unit < cores) return absl::OkStatus();
  const std::string_view what = call.machine.family() == machines::Family::kTpu ? "core" : "SM";
  return absl::InvalidArgumentError(Cat("a timeline of ", what, " ", call.timeline->unit, " is asked for; ",
                                        call.machine.name(), " has ", what, cores == 1 ? " 0 alone" : "s 0 to ",
                                        cores == 1 ? "" : std::to_string(cores - 1)));
}

}  // namespace

absl::StatusOr<Timed> TimeKernel(const TimedCall& call) {
  PALLADION_RETURN_IF_ERROR(CheckDrawn(call));
  PALLADION_RETURN_IF_ERROR(CheckCompiles(call.kernel));
  const bool triton = call.kernel.state().program().target.backend == TargetBackend::kTriton;
  switch (call.machine.family()) {
    case machines::Family::kHopper:
    case machines::Family::kBlackwell:
      return triton ? TimeTriton(call) : TimeOnGpu(call);
    case machines::Family::kTpu:
      return TimeOnTpu(call);
  }
  return absl::InternalError(Cat(call.machine.name(), " is of a family without a model of time"));
}

}  // namespace palladion::timing
