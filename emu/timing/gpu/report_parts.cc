#include "emu/timing/gpu/report_parts.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "emu/run/launch/launch.h"
#include "emu/run/watch/observed.h"
#include "emu/timing/base/ticks.h"
#include "semantics/base/cat.h"

namespace palladion::timing::gpu {

using base::CriticalPath;
using base::CyclesOf;
using machines::Bytes;
using machines::Cycles;
using machines::Key;
using report::Bound;
using report::LineTime;
using report::OperandTraffic;
using report::PathPart;
using report::StallTime;
using report::UnitUse;

namespace {

std::string DoingOf(scheduler::Spending at) {
  if (at.appointed) return "under way";
  if (at.how == 0) return "";
  return Cat("waits for ", Name(static_cast<Stall>(at.how - 1)));
}

}  // namespace

std::optional<report::Whole> WholeOf(const WholeInputs& what) {
  std::int64_t threads = 0;
  scheduler::Ticks idle;
  for (const BlockPlaces* const places : what.devices) {
    const std::optional<BlockPlaces::Left> left = places->LeftUntil(what.idle_until.value_or(what.end));
    if (!left.has_value()) return std::nullopt;
    threads += left->places * what.threads;
    idle.value += left->idle.value * what.threads;
  }
  const Cycles launch = static_cast<double>(threads) * what.launch;
  report::Whole whole{.of = Cat(threads, " ", what.are),
                      .time = launch + static_cast<double>(threads) * CyclesOf(what.end) + CyclesOf(what.warps),
                      .rest = {}};
  const auto add = [&](std::string_view name, Cycles time) {
    if (time.value() > 0) whole.rest.push_back({std::string(name), time});
  };
  add("launch of the kernel", launch);
  add("launches of later blocks", CyclesOf(what.launches));
  add("threads that have ended, until their block has", CyclesOf(what.early));
  add("tail: places without a block at the end", CyclesOf(idle));
  return whole;
}

std::vector<StallTime> AllStalls(const std::vector<Spent>& spent, scheduler::Ticks launches) {
  StallTimes all = {};
  for (const Spent& one : spent) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = all[i] + one.stalls[i];
  }
  all[static_cast<std::size_t>(Stall::kLaunch)] = launches;
  return StallsOf(all);
}

std::optional<std::int32_t> LongestAwaited(const Spent& spent, const std::vector<StallTime>& stalls) {
  const auto most = std::max_element(spent.waited_for.begin(), spent.waited_for.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == spent.waited_for.end() || CyclesOf(most->second) < 0.5 * stalls[0].waited) return std::nullopt;
  return most->first;
}

std::vector<LineTime> LinesOf(
    const std::vector<Spent>& spent, const InstrOfPlan& instr_of,
    const std::function<std::string(const Spent&, const std::vector<StallTime>&)>& waited_for) {
  std::vector<LineTime> lines;
  for (std::size_t i = 0; i < spent.size(); ++i) {
    const Spent& one = spent[i];
    if (one.busy.value == 0 && one.waited.value == 0) continue;
    const Instr& instr = *instr_of(static_cast<std::int32_t>(i));
    std::vector<StallTime> stalls = StallsOf(one.stalls);
    lines.push_back({.loc = instr.loc,
                     .text_line = instr.text_line,
                     .op = watch::OpName(instr),
                     .runs = one.runs,
                     .busy = CyclesOf(one.busy),
                     .waited = CyclesOf(one.waited),
                     .waited_for = stalls.empty() ? "" : waited_for(one, stalls),
                     .stalls = std::move(stalls)});
  }
  return lines;
}

std::vector<OperandTraffic> TrafficOf(const Program& program, const std::function<GpuChip::Traffic(std::int64_t)>& of) {
  std::vector<OperandTraffic> traffic;
  for (std::size_t i = 0; i < program.operand_infos.size(); ++i) {
    const GpuChip::Traffic bytes = of(static_cast<std::int64_t>(i));
    if (bytes.read == 0 && bytes.written == 0) continue;
    traffic.push_back({.operand = program.operand_infos[i].name,
                       .read = Bytes(static_cast<double>(bytes.read)),
                       .written = Bytes(static_cast<double>(bytes.written)),
                       .missed = Bytes(static_cast<double>(bytes.missed))});
  }
  return traffic;
}

Report ReportOf(const kernel::PreparedKernelState& kernel, const agents::Ran& ran, const std::vector<Finding>& before) {
  Report report{.kernel = kernel.program().kernel_name,
                .target = ToString(kernel.program().target),
                .programs = ran.programs,
                .steps = static_cast<std::int64_t>(kernel.program().steps.size()),
                .printed = ran.printed};
  for (const std::vector<Finding>* found : {&before, &ran.findings}) {
    for (const Finding& finding : *found) report.findings.push_back(launch::Reported(finding, kernel.module()));
  }
  report.verdict = VerdictOf(report);
  return report;
}

std::vector<PathPart> PathOf(const CriticalPath& path, const InstrOfPlan& instr_of) {
  std::vector<PathPart> parts;
  for (const CriticalPath::Stretch& stretch : path.Longest()) {
    PathPart part{.loc = {}, .text_line = 0, .op = "", .doing = DoingOf(stretch.at), .time = CyclesOf(stretch.time)};
    if (stretch.at.what >= 0) {
      const Instr& instr = *instr_of(stretch.at.what);
      part.loc = instr.loc;
      part.text_line = instr.text_line;
      part.op = watch::OpName(instr);
    }
    parts.push_back(std::move(part));
  }
  std::stable_sort(parts.begin(), parts.end(), [](const PathPart& a, const PathPart& b) { return a.time > b.time; });
  return parts;
}

std::vector<StallTime> StallsOf(const StallTimes& times) {
  std::vector<StallTime> stalls;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i].value > 0) stalls.push_back({std::string(Name(static_cast<Stall>(i))), CyclesOf(times[i])});
  }
  std::stable_sort(stalls.begin(), stalls.end(),
                   [](const StallTime& a, const StallTime& b) { return a.waited > b.waited; });
  return stalls;
}

std::vector<UnitUse> UnitsOf(const GpuChip::Use& use, const GpuCosts& costs, Cycles cycles, std::int64_t devices) {
  const double all = std::max(cycles.value(), 1.0) * static_cast<double>(devices);
  const double of_sms = all * static_cast<double>(costs.sms);
  std::vector<UnitUse> units = {{"tensor cores", CyclesOf(use.tensor).value() / of_sms},
                                {"issue slots", CyclesOf(use.issue).value() / of_sms},
                                {"shared memory port", CyclesOf(use.port).value() / of_sms},
                                {"copy engine", CyclesOf(use.engine).value() / of_sms},
                                {"L2", CyclesOf(use.l2).value() / all},
                                {"DRAM", CyclesOf(use.dram).value() / all}};
  for (const auto& [unit, busy] :
       {std::pair{"tensor memory reads", use.tensor_loads}, {"tensor memory writes", use.tensor_stores}}) {
    if (busy.value > 0) units.push_back({unit, CyclesOf(busy).value() / of_sms});
  }
  for (std::size_t p = 0; p < kPipes; ++p) {
    if (use.pipes[p].value > 0) units.push_back({std::string(kPipeNames[p]), CyclesOf(use.pipes[p]).value() / of_sms});
  }
  if (use.conflicts.value > 0)
    units.push_back({"bank conflicts, of the port's time", CyclesOf(use.conflicts).value() / of_sms});
  return units;
}

report::Waves WavesOf(std::int64_t clusters, std::int64_t room) {
  const std::int64_t full = std::max<std::int64_t>(clusters - 1, 0) / room;
  return {.count = full + 1, .last = static_cast<double>(clusters - full * room) / static_cast<double>(room)};
}

std::vector<Bound> BoundsOf(const BoundInputs& what) {
  const auto devices = static_cast<double>(what.devices);
  const double sms = static_cast<double>(what.costs.sms) * devices;
  std::vector<Bound> bounds;
  const auto add = [&](std::string limit, Cycles cycles) {
    if (cycles.value() > 0) bounds.push_back({std::move(limit), cycles / what.costs.clock});
  };
  if (const auto rate = what.machine.Find(Key<machines::FlopsPerCycle>("tensor.bf16")))
    add("matrix products", Cycles(what.flops16 / rate->value() / sms));
  add("shared memory port", CyclesOf(what.use.port) / sms);
  add("issue slots", CyclesOf(what.use.issue) / sms);
  for (std::size_t p = 0; p < kPipes; ++p) add(std::string(kPipeNames[p]), CyclesOf(what.use.pipes[p]) / sms);
  add("tensor memory reads", CyclesOf(what.use.tensor_loads) / sms);
  add("tensor memory writes", CyclesOf(what.use.tensor_stores) / sms);
  add("bytes asked of L2", CyclesOf(what.use.l2) / devices);
  if (const auto peak = what.machine.Find(Key<machines::BytesPerSecond>("dram.peak")))
    add("bytes of DRAM, each once", what.least_dram / devices / (*peak / what.costs.clock));
  return bounds;
}

void SortBounds(std::vector<Bound>* bounds) {
  std::stable_sort(bounds->begin(), bounds->end(), [](const Bound& a, const Bound& b) { return a.time > b.time; });
}

}  // namespace palladion::timing::gpu
