#include "emu/timing/tpu/timing.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emu/check/plain_run.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/launch/launch.h"
#include "emu/timing/base/ticks.h"
#include "emu/timing/base/without_values.h"
#include "emu/timing/tpu/costs.h"
#include "emu/timing/tpu/run.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::timing::tpu {

using base::CyclesOf;
using base::Timed;
using base::TimedCall;
using machines::Bytes;
using machines::BytesPerSecond;
using machines::Cycles;
using machines::FlopsPerSecond;
using machines::Key;
using machines::Machine;
using machines::Nanoseconds;
using report::Bound;
using report::Timing;

namespace {

absl::Status CheckKernel(const TimedCall& call) {
  const Program& program = call.kernel.state().program();
  if (program.target.backend != TargetBackend::kMosaicTpu || program.target.chip != call.machine.name()) {
    return absl::InvalidArgumentError(Cat("kernel @", program.kernel_name, " is prepared for ",
                                          ToString(program.target), ", but its time is requested for ",
                                          call.machine.name(), "; prepare it for mosaic_tpu/", call.machine.name()));
  }
  const std::string kernel = Cat("kernel @", program.kernel_name, ": ");
  if (program.several_devices())
    return absl::UnimplementedError(Cat(kernel, "devices that reach each other have no time yet; ICI is not modelled"));
  if (program.mesh.has_value())
    return absl::UnimplementedError(Cat(kernel,
                                        "a mesh of TensorCores, which may wait for each other, has no time yet; "
                                        "use a grid"));
  return absl::OkStatus();
}

constexpr std::string_view kMainMemory = "main memory (HBM)";

Nanoseconds TimeOfFlops(double flops, FlopsPerSecond peak) {
  return Nanoseconds(flops / peak.value() * machines::kNanosecondsPerSecond);
}

class ReportMaker {
 public:
  ReportMaker(const Machine& machine, const TpuCosts& costs, const TpuRun& run)
      : machine_(machine), costs_(costs), run_(run) {}

  absl::StatusOr<Timing> Take() && {
    timing_.machine = machine_.name();
    timing_.clock = costs_.clock;
    for (const auto& core : run_.cores()) {
      timing_.cycles = std::max(timing_.cycles, CyclesOf(core->core.now()));
      timing_.memory += core->core.use().bytes;
      all_ += core->core.use().work;
    }
    timing_.launch = costs_.launch / costs_.clock;
    timing_.time = timing_.cycles / costs_.clock + timing_.launch;
    timing_.flops = run_.flops();
    timing_.memory_peak = costs_.hbm_peak;
    timing_.lines = run_.lines().InOrder();
    timing_.stalls = run_.lines().Stalls();
    timing_.critical_path = run_.lines().CriticalParts();
    for (const report::OperandTraffic& one : run_.traffic()) {
      if (one.read.value() > 0 || one.written.value() > 0) timing_.traffic.push_back(one);
    }
    AddUnits();
    PALLADION_RETURN_IF_ERROR(AddRoofline());
    AddPlacement();
    AddWhatIsLeftOut();
    AddUncertainty();
    return std::move(timing_);
  }

 private:
  double Cores() const { return std::max<double>(1, static_cast<double>(run_.cores().size())); }

  void AddUnits() {
    const double whole = timing_.cycles.value() * Cores();
    const auto share = [&](double busy) { return whole == 0 ? 0 : std::min(1.0, busy / whole); };
    for (const TpuSlotRow& row : AllTpuSlots()) {
      const double pace = row.slot == TpuSlot::kMatrix ? 1 : costs_.pace.value();
      const double busy = BundlesOf(costs_, all_, row.slot) * pace;
      if (busy > 0) timing_.units.push_back({std::string(row.name), share(busy)});
    }
    double memory = 0;
    for (const auto& core : run_.cores()) memory += CyclesOf(core->core.use().memory).value();
    timing_.units.push_back({std::string(kMainMemory), share(memory)});
  }

  // Limits at their best: published peaks, a bundle a cycle.
  absl::Status AddRoofline() {
    for (const auto& [type, flops] : run_.products()) {
      PALLADION_ASSIGN_OR_RETURN(const FlopsPerSecond peak, PeakOf(type));
      timing_.roofline.push_back({Cat(std::string(Name(type)), " matrix products"), TimeOfFlops(flops, peak)});
    }
    const auto device = static_cast<double>(DeviceCores());
    for (const TpuSlotRow& row : AllTpuSlots()) {
      if (row.slot == TpuSlot::kMatrix || all_[row.slot] == 0) continue;
      timing_.roofline.push_back(
          {std::string(row.name), Cycles(BundlesOf(costs_, all_, row.slot) / device) / costs_.clock});
    }
    if (timing_.memory.value() > 0)
      timing_.roofline.push_back({"bytes of main memory (HBM) at its peak", timing_.memory / costs_.hbm_peak});
    std::stable_sort(timing_.roofline.begin(), timing_.roofline.end(),
                     [](const Bound& a, const Bound& b) { return a.time > b.time; });
    return absl::OkStatus();
  }

  absl::StatusOr<FlopsPerSecond> PeakOf(DType type) const {
    if (Info(type).bits != 8) return machine_.Get(Key<FlopsPerSecond>("peak.bf16"));
    if (IsFloat(type)) return machine_.Get(Key<FlopsPerSecond>("peak.fp8"));
    return machine_.Get(Key<FlopsPerSecond>("peak.int8"));
  }

  std::int64_t DeviceCores() const {
    const auto cores = machine_.Find(Key<machines::Count>("chip.cores"));
    return cores.has_value() ? static_cast<std::int64_t>(cores->value()) : 1;
  }

  void AddPlacement() {
    for (const auto& core : run_.cores()) timing_.placement.blocks += core->programs;
    timing_.placement.units = static_cast<std::int64_t>(run_.cores().size());
    timing_.placement.at_once = 1;
    timing_.placement.limit = "a core runs one program at a time";
  }

  void AddWhatIsLeftOut() {
    std::vector<std::string>& left_out = timing_.left_out;
    if (run_.met().several)
      left_out.push_back(
          "an elementwise operation counts as one vector operation on each register of 32-bit elements; "
          "compilers make several of a division, a power, a sine");
    if (!costs_.pace_is_known)
      left_out.push_back(Cat("a bundle is issued each cycle: the pace of ", machine_.name(),
                             " is not published, that of a v7x is one in 1.32 cycles"));
    if (run_.met().prints) left_out.push_back("prints and checks take no time");
    if (run_.met().copies_within)
      left_out.push_back("copies that stay within the core's memory take as long as it takes to start one");
    if (run_.met().polls)
      left_out.push_back("a semaphore that is read, not waited for, has what it holds in the order of the text");
    if (run_.cores().size() > 1)
      left_out.push_back("each core has half of main memory's rate, also while the other one asks for nothing");
    left_out.push_back("results of the EUP that come late, changes of layout that the compiler puts in");
  }

  void AddUncertainty() {
    double most = 0, memory = 0;
    for (const report::UnitUse& use : timing_.units) {
      double& of = use.unit == kMainMemory ? memory : most;
      of = std::max(of, use.busy);
    }
    constexpr double kBound = 0.5;  // of the time
    const bool by_memory = memory >= kBound && memory >= most, by_unit = most >= kBound;
    timing_.uncertainty = by_memory ? kMemoryUncertainty : by_unit ? kUnitUncertainty : kLatencyUncertainty;
    timing_.uncertainty_why = Cat(
        "three quarters of the published times of kernels bound by ",
        by_memory ? "main memory"
        : by_unit ? "a unit of the core"
                  : "steps and late results, four in all",
        ", none of them fitted, are within it (docs/explanation/time.md); all but one were measured on a v6e or a v7x");
  }

  const Machine& machine_;
  const TpuCosts& costs_;
  const TpuRun& run_;
  TpuWork all_;
  Timing timing_;
};

bool HasBlocks(const Program& program) {
  return std::any_of(program.operand_infos.begin(), program.operand_infos.end(),
                     [](const OperandInfo& info) { return info.mode == BlockMode::kResident && !info.block.empty(); });
}

struct Pipelined {
  absl::StatusOr<PreparedKernel> kernel;
};

// The kernel whose blocks are copied by the steps of its pipeline.
absl::StatusOr<PreparedKernel> WithPipeline(const PreparedKernel& kernel) {
  if (!HasBlocks(kernel.state().program())) return kernel;
  const ProgramOptions options{
      .observable = true,
      .blocks = kernel.state().program().uses_port ? BlockWays::kBesideBodies : BlockWays::kInSteps};
  return kernel.state().Kept<Pipelined>([&] { return Pipelined{kernel::PreparedAgain(kernel, options)}; }).kernel;
}

}  // namespace

absl::StatusOr<Timed> TimeOnTpu(const TimedCall& call) {
  PALLADION_ASSIGN_OR_RETURN(const TpuCosts costs, TpuCostsOf(call.machine));
  PALLADION_RETURN_IF_ERROR(CheckKernel(call));
  agents::LaunchOptions options{.run = call.run};
  PALLADION_ASSIGN_OR_RETURN(PreparedKernel kernel, WithPipeline(call.kernel));
  const base::LeftOut left_out(call, kernel.state());
  left_out.ApplyTo(options);
  if (left_out.kernel() != nullptr) kernel = PreparedKernel(left_out.kernel());
  TpuRun run(kernel.state(), costs);
  std::optional<timeline::TimelineRecorder> recorder;
  if (call.timeline.has_value()) run.RecordTo(recorder.emplace(*call.timeline, base::kTicksOfCycle), *call.timeline);
  options.observers.push_back(&run);
  PALLADION_ASSIGN_OR_RETURN(RunResult result, check::RunWatched(kernel, call.inputs, options));
  PALLADION_RETURN_IF_ERROR(run.status());
  Timed timed;
  PALLADION_ASSIGN_OR_RETURN(timed.timing, ReportMaker(call.machine, costs, run).Take());
  timed.report = std::move(result.report);
  if (!call.timeline.has_value()) return timed;
  timed.timeline = run.TakeTimeline();
  if (timed.timeline.has_value()) return timed;
  if (timed.report.programs == 0)
    return absl::InvalidArgumentError(Cat("kernel @", kernel.state().program().kernel_name,
                                          ": its grid is empty, so no program ran, and there is no timeline to draw"));
  return absl::InvalidArgumentError(Cat("core ", call.timeline->unit, " of ", call.machine.name(),
                                        " has no part in kernel @", kernel.state().program().kernel_name,
                                        ", whose grid has no parallel dimension that the cores share; draw core 0"));
}

}  // namespace palladion::timing::tpu
