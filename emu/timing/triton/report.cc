#include "emu/timing/triton/report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "emu/run/watch/observed.h"
#include "emu/timing/base/ticks.h"
#include "emu/timing/gpu/report_parts.h"
#include "emu/timing/report/line_places.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_row.h"

namespace palladion::timing::triton {
namespace {

using base::CyclesOf;
using gpu::Spent;
using machines::Bytes;
using machines::Cycles;
using report::Bound;
using report::StallTime;
using report::Timing;

constexpr double kStreamsMiss = 0.21;

std::string LineOf(const TritonReportInputs& what, int text_line) {
  return report::LineText(what.kernel.module(), what.kernel.text(), text_line);
}

std::string WaitedFor(const TritonReportInputs& what, const Spent& spent, const std::vector<StallTime>& stalls) {
  const std::optional<std::int32_t> most = gpu::LongestAwaited(spent, stalls);
  if (!most.has_value()) return stalls[0].reason;
  const Instr& maker = *what.timer.plans()[static_cast<std::size_t>(*most)].instr;
  return Cat("'", watch::OpName(maker), "' of ", LineOf(what, maker.text_line));
}

std::vector<Bound> RooflineOf(const TritonReportInputs& what, const TritonTotals& totals) {
  double flops16 = 0;
  for (std::size_t i = 0; i < what.timer.plans().size(); ++i)
    flops16 += static_cast<double>(totals.spent[i].runs) * what.timer.plans()[i].tensor.flops16;
  std::vector<Bound> bounds = gpu::BoundsOf({.machine = what.machine,
                                             .costs = what.costs.common,
                                             .use = totals.use,
                                             .flops16 = flops16,
                                             .least_dram = Bytes(static_cast<double>(totals.least_dram_bytes))});
  if (what.timer.atomics().value > 0)
    bounds.push_back({"atomics on one address", CyclesOf(what.timer.atomics()) / what.costs.common.clock});
  gpu::SortBounds(&bounds);
  return bounds;
}

report::Placement PlacementOf(const TritonReportInputs& what) {
  std::int64_t blocks = 1;
  for (const auto& dim : what.kernel.program().grid) blocks *= dim.size;
  const gpu::BlockPlaces& places = what.timer.places();
  return {.blocks = blocks,
          .units = places.used(),
          .timed = blocks - what.timer.equal().count,
          .at_once = places.at_once(),
          .waves = gpu::WavesOf(blocks, places.room()),
          .limit = places.waited() ? what.limit : "the grid"};
}

// What blocks that are left out would have had of it is as in the rest.
std::vector<report::PathPart> PathOf(const TritonReportInputs& what, const TritonTotals& totals,
                                     const gpu::InstrOfPlan& instr_of) {
  std::vector<report::PathPart> path = gpu::PathOf(what.timer.path(), instr_of);
  const double longer = CyclesOf(totals.at) / CyclesOf(what.timer.clock().end());
  if (what.timer.equal().count == 0) return path;
  for (report::PathPart& part : path) part.time = longer * part.time;
  return path;
}

struct Ran {
  bool products = false, exact = false, moves = false, prints = false, prefetches = false, loads = false;
};

Ran RanOf(const TritonTimer& timer, const TritonTotals& totals) {
  Ran ran;
  for (std::size_t i = 0; i < timer.plans().size(); ++i) {
    const TritonPlan& plan = timer.plans()[i];
    if (totals.spent[i].runs == 0) continue;
    ran.products |= plan.work == TritonWork::kProduct;
    ran.exact |= plan.work == TritonWork::kProduct && plan.product == TritonProduct::kFma;
    ran.moves |= plan.moves;
    ran.prints |= plan.instr->row->effect == Effect::kPrints;
    ran.prefetches |= plan.prefetched;
    ran.loads |= plan.work == TritonWork::kAccess;
  }
  return ran;
}

std::vector<std::string> LeftOut(const TritonReportInputs& what, const Ran& ran) {
  constexpr std::int64_t kBytes = 4;
  std::vector<std::string> left;
  if (const EqualBlocks& equal = what.timer.equal(); equal.count > 0) {
    left.push_back(Cat("what differs between blocks: those from ", equal.like, " to ", equal.first - 1,
                       " stand for the ", equal.count, " after them, which take the same steps and ask the memories ",
                       "for as much (assumed error: ", std::lround(100 * kEqualBlocksMiss),
                       " %; `palladion time --every-wave` times each block)"));
  }
  left.emplace_back("how LLVM and ptxas order, join and hoist instructions: loads are issued in the text's order");
  if (ran.products) left.emplace_back("how the clock falls while the tensor cores are busy");
  if (ran.products) left.emplace_back("bank conflicts of operands of products in shared memory");
  if (ran.exact) left.emplace_back("reads of shared memory by products in f32, which the FP32 pipes compute");
  if (ran.moves) left.emplace_back("values that move between registers and lanes: broadcasts, changes of layout");
  if (what.registers.spilled > 0) {
    left.push_back(Cat("registers that spill: at ", LineOf(what, what.registers.spill_line), " values need ",
                       what.registers.limit + what.registers.spilled, " registers of each lane, which can have ",
                       what.registers.limit, ", so at least ", what.registers.spilled * kBytes,
                       " bytes of a lane go to local memory and come back"));
  }
  const auto& grid = what.kernel.program().grid;
  if (std::count_if(grid.begin(), grid.end(), [](const auto& dim) { return dim.size > 1; }) > 1)
    left.emplace_back("that blocks along the first dimension of the grid begin first: here those along the last do");
  if (ran.loads) left.emplace_back("that L1 serves a limited number of loads at once");
  if (ran.prints) left.emplace_back("prints and checks");
  left.emplace_back("the two partitions of L2");
  return left;
}

// docs/explanation/time.md, "Triton kernels".
void SayHowFarOff(const TritonReportInputs& what, Timing* timing) {
  const bool streams = what.costs.hopper.has_value() && !timing->roofline.empty() &&
                       timing->roofline[0].limit.find("DRAM") != std::string::npos &&
                       timing->roofline[0].time > 0.5 * timing->time;
  if (streams) {
    timing->uncertainty = kStreamsMiss;
    timing->uncertainty_why =
        "the largest miss of published rates of loads and stores on an H200 (docs/explanation/time.md)";
  } else {
    timing->uncertainty_why =
        "published times of Triton kernels were compared only where DRAM takes most of the time "
        "(docs/explanation/time.md)";
  }
}

}  // namespace

Timing TritonReport(const TritonReportInputs& what) {
  Timing timing;
  const TritonTotals totals = what.timer.Totals();
  const gpu::GpuCosts& costs = what.costs.common;
  timing.machine = what.machine.name();
  timing.clock = costs.clock;
  timing.cycles = CyclesOf(totals.at);
  timing.launch = costs.launch / costs.clock;
  timing.time = timing.launch + timing.cycles / costs.clock;
  timing.flops = totals.flops;
  timing.memory = Bytes(static_cast<double>(totals.use.dram_bytes));
  if (const auto peak = what.machine.Find(machines::Key<machines::BytesPerSecond>("dram.peak")))
    timing.memory_peak = *peak;
  timing.roofline = RooflineOf(what, totals);
  SayHowFarOff(what, &timing);
  timing.units = gpu::UnitsOf(totals.use, costs, timing.cycles, 1);
  const gpu::InstrOfPlan instr_of = [&](std::int32_t plan) {
    return what.timer.plans()[static_cast<std::size_t>(plan)].instr;
  };
  timing.lines = gpu::LinesOf(totals.spent, instr_of, [&](const Spent& spent, const std::vector<StallTime>& stalls) {
    return WaitedFor(what, spent, stalls);
  });
  timing.stalls = gpu::AllStalls(totals.spent, totals.launches);
  timing.critical_path = PathOf(what, totals, instr_of);
  timing.traffic = gpu::TrafficOf(
      what.kernel.program(), [&](std::int64_t operand) { return totals.traffic[static_cast<std::size_t>(operand)]; });
  timing.placement = PlacementOf(what);
  timing.whole = gpu::WholeOf({.devices = {&what.timer.places()},
                               .are = "places for blocks",
                               .end = totals.at,
                               .idle_until = what.timer.clock().end(),
                               .launch = costs.launch,
                               .launches = totals.launches});
  timing.left_out = LeftOut(what, RanOf(what.timer, totals));
  return timing;
}

}  // namespace palladion::timing::triton
