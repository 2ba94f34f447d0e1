// The costs of a chip, from its description (emu/chip/machines).
#ifndef PALLADION_EMU_TIMING_GPU_MACHINE_COSTS_H_
#define PALLADION_EMU_TIMING_GPU_MACHINE_COSTS_H_

#include <variant>

#include "absl/status/statusor.h"
#include "emu/chip/machines/description.h"
#include "emu/timing/gpu/blackwell_costs.h"
#include "emu/timing/gpu/hopper_costs.h"

namespace palladion::timing::gpu {

// InvalidArgument: it is no Hopper. NotFound: it lacks a number, which the error names.
absl::StatusOr<HopperCosts> HopperCostsOf(const machines::Machine& machine);
// InvalidArgument: it is no Blackwell. NotFound: as above; a number that one form of tcgen05.mma lacks is that form's.
absl::StatusOr<BlackwellCosts> BlackwellCostsOf(const machines::Machine& machine);

// Of whichever family. InvalidArgument: it is no GPU.
using ChipCosts = std::variant<HopperCosts, BlackwellCosts>;
absl::StatusOr<ChipCosts> CostsOf(const machines::Machine& machine);
// Between GPUs: into or out of one of them, at the chip's clock.
struct LinkCosts {
  machines::BytesPerCycle read, write;
  machines::Cycles latency;  // until an atomic's result is back, and of whatever else crosses a link
};
// NotFound: as above.
absl::StatusOr<LinkCosts> LinkCostsOf(const machines::Machine& machine);

const GpuCosts& Common(const ChipCosts& costs);

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_MACHINE_COSTS_H_
