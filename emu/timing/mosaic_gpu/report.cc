#include "emu/timing/mosaic_gpu/report.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "emu/run/watch/observed.h"
#include "emu/timing/base/ticks.h"
#include "emu/timing/gpu/report_parts.h"
#include "emu/timing/report/line_places.h"
#include "semantics/base/agent_name.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_row.h"

namespace palladion::timing::mosaic_gpu {
namespace {

using base::CyclesOf;
using gpu::GpuChip;
using gpu::GpuNode;
using gpu::RegisterNeed;
using gpu::Spent;
using machines::Bytes;
using machines::Cycles;
using machines::Key;
using report::Bound;
using report::DeviceTime;
using report::Placement;
using report::StallTime;
using report::Timing;

bool Engine(GpuWork work) { return work == GpuWork::kCopyIn || work == GpuWork::kCopyOut || work == GpuWork::kProduct; }

std::string LineOf(const GpuReportInputs& what, int text_line) {
  return report::LineText(what.kernel.module(), what.kernel.text(), text_line);
}

std::string WaitedFor(const GpuReportInputs& what, const Spent& spent, const std::vector<StallTime>& stalls) {
  const std::optional<std::int32_t> most = gpu::LongestAwaited(spent, stalls);
  if (!most.has_value()) return stalls[0].reason;  // units, and its own latency to memory
  if (*most == scheduler::VirtualClock::kNone) return "another thread";
  const GpuPlan& ended = what.timer.plans()[static_cast<std::size_t>(*most)];
  const std::string line = LineOf(what, ended.instr->text_line);
  if (ended.work == GpuWork::kProduct) return Cat("the product that ", line, " starts");
  return Engine(ended.work) ? Cat("the copy that ", line, " starts")
                            : Cat("'", watch::OpName(*ended.instr), "' of ", line);
}

GpuChip::Traffic TrafficOfAll(const GpuNode& node, std::int64_t operand) {
  GpuChip::Traffic bytes;
  for (std::int64_t d = 0; d < node.devices(); ++d) {
    const GpuChip::Traffic one = node.chip(d).traffic(operand);
    bytes = {bytes.read + one.read, bytes.written + one.written, bytes.missed + one.missed};
  }
  return bytes;
}

double LeastDramBytes(const GpuNode& node) {
  std::int64_t least = 0;
  for (std::int64_t d = 0; d < node.devices(); ++d) least += node.chip(d).least_dram_bytes();
  return static_cast<double>(least);
}

std::vector<Bound> RooflineOf(const GpuReportInputs& what) {
  const GpuNode& node = what.timer.node();
  double product_flops = 0;
  for (std::size_t i = 0; i < what.timer.plans().size(); ++i) {
    product_flops += static_cast<double>(what.timer.spent()[i].runs) * what.timer.plans()[i].tensor.flops16;
  }
  std::vector<Bound> bounds = gpu::BoundsOf({.machine = what.machine,
                                             .costs = what.costs,
                                             .use = node.use(),
                                             .devices = node.devices(),
                                             .flops16 = product_flops,
                                             .least_dram = Bytes(LeastDramBytes(node))});
  if (const auto peak = what.machine.Find(Key<machines::BytesPerSecond>("link.peak"));
      node.links().has_value() && peak) {
    std::int64_t most = 0;
    for (std::int64_t d = 0; d < node.devices(); ++d)
      most = std::max({most, node.links()->use(d).out_bytes, node.links()->use(d).in_bytes});
    const Cycles cycles = Bytes(static_cast<double>(most)) / (*peak / what.costs.clock);
    if (cycles.value() > 0) bounds.push_back({"bytes of one link, one direction", cycles / what.costs.clock});
  }
  gpu::SortBounds(&bounds);
  return bounds;
}

Placement PlacementOf(const GpuReportInputs& what) {
  const Program& program = what.kernel.program();
  std::int64_t blocks = 1, cluster = 1;
  for (std::size_t d = 0; d < program.block_dims(); ++d) blocks *= program.grid[d].size;
  for (std::size_t d = program.first_cluster_dim(); d < program.block_dims(); ++d) cluster *= program.grid[d].size;
  Placement placement{.blocks = blocks, .limit = "the grid"};
  const std::int64_t devices = what.timer.node().devices();
  for (std::int64_t d = 0; d < devices; ++d) {
    const gpu::BlockPlaces& places = what.timer.places(d);
    placement.units += places.used() * cluster;
    placement.at_once = std::max(placement.at_once, places.at_once());
    placement.waves = gpu::WavesOf(blocks / cluster / devices, places.room());  // of each device the same
    if (places.waited()) placement.limit = what.limit;
  }
  return placement;
}

// By its number in the mesh.
std::string NameOfDevice(const Program& program, std::int64_t device) {
  std::vector<std::int64_t> place(program.device_axes.size());
  for (std::size_t d = place.size(); d-- > 0; device /= program.grid[d].size) place[d] = device % program.grid[d].size;
  return DeviceName(place);
}

std::vector<DeviceTime> DevicesOf(const GpuReportInputs& what, Cycles cycles) {
  std::vector<DeviceTime> devices;
  const GpuNode& node = what.timer.node();
  if (!node.links().has_value()) return devices;
  const double all = std::max(cycles.value(), 1.0);
  for (std::int64_t d = 0; d < node.devices(); ++d) {
    const gpu::GpuLinks::Use use = node.links()->use(d);
    devices.push_back({.device = NameOfDevice(what.kernel.program(), d),
                       .ended = CyclesOf(what.timer.ended(d)),
                       .sent = Bytes(static_cast<double>(use.out_bytes)),
                       .received = Bytes(static_cast<double>(use.in_bytes)),
                       .out_busy = CyclesOf(use.out).value() / all,
                       .in_busy = CyclesOf(use.in).value() / all,
                       .stalls = gpu::StallsOf(what.timer.stalls(d))});
  }
  return devices;
}

std::string LinesText(const GpuReportInputs& what, const std::set<int>& lines) {
  std::set<std::string> places;  // several steps of a text may be of one line of Python
  std::string text;
  for (const int line : lines) {
    const std::string place = LineOf(what, line);
    if (places.insert(place).second) Append(&text, text.empty() ? "" : ", ", place);
  }
  return text;
}

RegisterNeed NeedOf(const GpuReportInputs& what) {
  const Program& program = what.kernel.program();
  const bool has_threads = program.mesh.has_value() && program.mesh->thread_dim;
  return gpu::RegistersOf(what.kernel.text(), has_threads ? program.grid.back().size : 1, what.costs.registers);
}

std::string SpillText(const GpuReportInputs& what, const RegisterNeed& need) {
  constexpr std::int64_t kBytes = 4;
  return Cat("registers that spill: at ", LineOf(what, need.spill_line), " values need ", need.limit + need.spilled,
             " registers of each lane, which can have ", need.limit, ", so at least ", need.spilled * kBytes,
             " bytes of a lane go to local memory and come back");
}

std::vector<std::string> LeftOut(const GpuReportInputs& what) {
  bool products = false, tensor_memory = false, moves = false, prefetches = false, prints = false, arithmetic = false,
       atomics = false;
  std::set<int> unknown, refused;  // lines
  for (std::size_t i = 0; i < what.timer.plans().size(); ++i) {
    const GpuPlan& plan = what.timer.plans()[i];
    if (what.timer.spent()[i].runs == 0) continue;
    products |= plan.work == GpuWork::kProduct;
    const bool shared = plan.work == GpuWork::kAccess && plan.space == Space::kSmem;
    const layouts::SharedTransfer* transfer = shared ? what.timer.kernel_plans().SharedOf(plan) : nullptr;
    if (shared && transfer == nullptr) unknown.insert(plan.instr->text_line);
    if (shared && transfer != nullptr && transfer->refused) refused.insert(plan.instr->text_line);
    tensor_memory |= plan.work == GpuWork::kAccess && plan.space == Space::kTmem;
    moves |= plan.moves;
    prefetches |= plan.instr->row->access == RefAccess::kPrefetch;
    prints |= plan.instr->row->effect == Effect::kPrints;
    atomics |= plan.atomic;
    arithmetic |= plan.work == GpuWork::kRegisters;
  }
  std::vector<std::string> left;
  if (products) left.emplace_back("how the clock falls while the tensor cores are busy");
  if (!unknown.empty())
    left.push_back(Cat("bank conflicts where the lanes of a value are not known: ", LinesText(what, unknown)));
  if (!refused.empty()) {
    left.push_back(Cat("an order without bank conflicts, which JAX looks for and does not find, so it may refuse the ",
                       "kernel: ", LinesText(what, refused)));
  }
  if (tensor_memory) left.emplace_back("the latency of tensor memory, which is not published");
  if (moves) left.emplace_back("values that move between registers and lanes: broadcasts, slices, changes of layout");
  const RegisterNeed need = NeedOf(what);
  if (need.spilled > 0) left.push_back(SpillText(what, need));
  if (arithmetic) {
    left.push_back(Cat("registers beside those of values (at most ", need.most, " of a lane, at ",
                       LineOf(what, need.line), "), and instructions that a compiler joins or reorders"));
  }
  if (atomics) left.emplace_back("atomics on one address, which take place one after another");
  if (prefetches) left.emplace_back("what prefetches bring into L2, and what they take");
  if (prints) left.emplace_back("prints and checks");
  if (what.timer.node().links().has_value())
    left.emplace_back("the barrier of all devices before the kernel, and that the switch between them may be busy");
  left.emplace_back("the two partitions of L2");
  return left;
}

// docs/explanation/time.md, "Compared with an H200" and "Kernel text on Blackwell".
struct Missed {
  std::optional<double> share;
  const char* why;
};
Missed MissedBy(machines::Family family, bool products, bool spills) {
  if (spills) {
    return {.share = std::nullopt,
            .why = "registers spill, whose time is not counted: such kernels took 1.3 to 4.4 times as long on an H200"};
  }
  if (family == machines::Family::kHopper && products)
    return {.share = 0.24,
            .why = "the largest miss of kernels with matrix products on an H200 (docs/explanation/time.md)"};
  if (family == machines::Family::kHopper)
    return {.share = 0.28, .why = "the largest miss of copies and of arithmetic on an H200 (docs/explanation/time.md)"};
  if (!products) return {.share = std::nullopt, .why = "no published times of such kernels were compared"};
  return {.share = 0.49,
          .why =
              "the largest miss of the steps of JAX's Blackwell tutorial, whose clock is not published; with "
              "clock.short=1.304GHz it is 34 %"};
}

}  // namespace

Timing GpuReport(const GpuReportInputs& what) {
  Timing timing;
  timing.machine = what.machine.name();
  timing.clock = what.costs.clock;
  timing.cycles = CyclesOf(what.timer.clock().end());
  timing.launch = what.costs.launch / what.costs.clock;
  timing.time = timing.launch + timing.cycles / what.costs.clock;
  const bool products = std::any_of(what.timer.plans().begin(), what.timer.plans().end(),
                                    [](const GpuPlan& plan) { return plan.work == GpuWork::kProduct; });
  const Missed missed =
      what.timer.node().links().has_value()
          ? Missed{.share = std::nullopt, .why = "no times of kernels of several devices were compared"}
          : MissedBy(what.machine.family(), products, NeedOf(what).spilled > 0);
  timing.uncertainty = missed.share;
  timing.uncertainty_why = missed.why;
  timing.flops = what.timer.flops();
  const GpuNode& node = what.timer.node();
  timing.memory = Bytes(static_cast<double>(node.use().dram_bytes));
  if (const auto peak = what.machine.Find(Key<machines::BytesPerSecond>("dram.peak"))) timing.memory_peak = *peak;
  timing.roofline = RooflineOf(what);
  timing.units = gpu::UnitsOf(node.use(), what.costs, timing.cycles, node.devices());
  const gpu::InstrOfPlan instr_of = [&](std::int32_t plan) {
    return what.timer.plans()[static_cast<std::size_t>(plan)].instr;
  };
  timing.lines = LinesOf(what.timer.spent(), instr_of, [&](const Spent& spent, const std::vector<StallTime>& stalls) {
    return WaitedFor(what, spent, stalls);
  });
  timing.stalls = gpu::AllStalls(what.timer.spent(), what.timer.launches());
  timing.critical_path = gpu::PathOf(what.timer.path(), instr_of);
  timing.traffic = gpu::TrafficOf(what.kernel.program(),
                                  [&](std::int64_t operand) { return TrafficOfAll(what.timer.node(), operand); });
  timing.placement = PlacementOf(what);
  timing.whole = what.timer.Whole();
  timing.devices = DevicesOf(what, timing.cycles);
  timing.left_out = LeftOut(what);
  return timing;
}

}  // namespace palladion::timing::mosaic_gpu
