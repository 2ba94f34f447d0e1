// Parts of the report of a time on a GPU that kernels of both backends have: the run's report, lines, stalls, traffic,
// the critical path, how busy units were, and what each limit of the chip allows.
#ifndef PALLADION_EMU_TIMING_GPU_REPORT_PARTS_H_
#define PALLADION_EMU_TIMING_GPU_REPORT_PARTS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emu/chip/machines/description.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/report.h"
#include "emu/run/agents/launch_options.h"
#include "emu/timing/base/critical_path.h"
#include "emu/timing/gpu/block_places.h"
#include "emu/timing/gpu/chip.h"
#include "emu/timing/gpu/spent.h"
#include "emu/timing/gpu/stalls.h"
#include "emu/timing/report/timing.h"
#include "semantics/ir/module.h"

namespace palladion::timing::gpu {

// Threads of a run, by what they did at no instruction.
struct WholeInputs {
  std::vector<const BlockPlaces*> devices;
  std::int64_t threads = 1;                         // of a place
  std::string_view are;                             // "places for blocks": how threads of places are called
  scheduler::Ticks end;                             // of the run
  std::optional<scheduler::Ticks> idle_until = {};  // the end where places are without a block; nothing: `end`
  machines::Cycles launch;                          // of the kernel
  scheduler::Ticks launches;                        // of later blocks, that all their threads waited for
  scheduler::Ticks early;                           // of threads that have ended, until their block has
  scheduler::Ticks warps;  // of warps that are threads of their own for a while, beside their thread
};
// Nothing where a block has not ended.
std::optional<report::Whole> WholeOf(const WholeInputs& what);

// What took any time, the longest first.
std::vector<report::StallTime> StallsOf(const StallTimes& times);

// Of all of them together; `launches`: that later blocks waited for.
std::vector<report::StallTime> AllStalls(const std::vector<Spent>& spent, scheduler::Ticks launches);

// The instruction of a timer's plan, by number.
using InstrOfPlan = std::function<const Instr*(std::int32_t)>;
// The plan that ended most of the wait; nothing where that is less than half of it.
std::optional<std::int32_t> LongestAwaited(const Spent& spent, const std::vector<report::StallTime>& stalls);
// Those that took any time, in the order of plans. `waited_for`: in words, where there is a wait.
std::vector<report::LineTime> LinesOf(
    const std::vector<Spent>& spent, const InstrOfPlan& instr_of,
    const std::function<std::string(const Spent&, const std::vector<report::StallTime>&)>& waited_for);

// Of operands that were touched; `of`: the bytes of one, of all devices.
std::vector<report::OperandTraffic> TrafficOf(const Program& program,
                                              const std::function<GpuChip::Traffic(std::int64_t)>& of);

// What the timed run itself found; `before` it, what was found without one.
Report ReportOf(const kernel::PreparedKernelState& kernel, const agents::Ran& ran,
                const std::vector<Finding>& before = {});

// `instr_of`: by Spending::what.
std::vector<report::PathPart> PathOf(const base::CriticalPath& path, const InstrOfPlan& instr_of);

// `use`: of all devices.
std::vector<report::UnitUse> UnitsOf(const GpuChip::Use& use, const GpuCosts& costs, machines::Cycles cycles,
                                     std::int64_t devices);

report::Waves WavesOf(std::int64_t clusters, std::int64_t room);

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
std::vector<report::Bound> BoundsOf(const BoundInputs& what);
void SortBounds(std::vector<report::Bound>* bounds);  // the largest time first

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_REPORT_PARTS_H_
