// Parts of the report of a time on a GPU that kernels of both backends have: stalls, the critical path, how busy units
// were, and what each limit of the chip allows.
#ifndef PALLADION_EMU_TIMING_GPU_REPORT_PARTS_H_
#define PALLADION_EMU_TIMING_GPU_REPORT_PARTS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "emu/chip/machines/description.h"
#include "emu/timing/critical_path.h"
#include "emu/timing/gpu_chip.h"
#include "emu/timing/stalls.h"
#include "emu/timing/timing.h"
#include "semantics/ir/module.h"

namespace palladion::timing {

// What took any time, the longest first.
std::vector<StallTime> StallsOf(const StallTimes& times);

// `instr_of`: by Spending::what.
std::vector<PathPart> PathOf(const CriticalPath& path, const std::function<const Instr*(std::int32_t)>& instr_of);

// `use`: of all devices.
std::vector<UnitUse> UnitsOf(const GpuChip::Use& use, const GpuCosts& costs, machines::Cycles cycles,
                             std::int64_t devices);

Waves WavesOf(std::int64_t clusters, std::int64_t room);

struct BoundInputs {
  const machines::Machine& machine;
  const GpuCosts& costs;
  GpuChip::Use use;  // of all devices
  std::int64_t devices = 1;
  double flops16 = 0;  // of products, as if in 16-bit types
  machines::Bytes least_dram;
};
// Of products by the rate at which the maker says that they go, of memory by its own peak. Of several devices what all
// of them share evenly.
std::vector<Bound> BoundsOf(const BoundInputs& what);
void SortBounds(std::vector<Bound>* bounds);  // the largest time first

}  // namespace palladion::timing

#endif  // PALLADION_EMU_TIMING_GPU_REPORT_PARTS_H_
