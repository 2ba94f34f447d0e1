#include "emu/timing/mosaic_gpu/timing.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "emu/check.h"
#include "emu/check/contracts.h"
#include "emu/check/replay_origin.h"
#include "emu/kernel/arrays.h"
#include "emu/kernel/float_environment.h"
#include "emu/kernel/operand_check.h"
#include "emu/run/launch/execution_mode.h"
#include "emu/run/launch/launch.h"
#include "emu/run/launch/run.h"
#include "emu/run/threads/residency.h"
#include "emu/run/watch/observed.h"
#include "emu/timing/base/ticks.h"
#include "emu/timing/base/without_values.h"
#include "emu/timing/gpu/machine_costs.h"
#include "emu/timing/gpu/report_parts.h"
#include "emu/timing/gpu/sm_blocks.h"
#include "emu/timing/mosaic_gpu/report.h"
#include "emu/timing/mosaic_gpu/timer.h"
#include "scheduler/policies/schedule.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/mark.h"

namespace palladion::timing::mosaic_gpu {
namespace {

using base::TimedCall;
using gpu::GpuCosts;
using machines::Count;
using machines::Key;
using machines::Machine;

absl::Status CheckKernel(const Program& program, const Machine& machine) {
  const auto wrong = [&](std::string_view why) {
    return absl::InvalidArgumentError(
        Cat("kernel @", program.kernel_name, " is for ", ToString(program.target), why, "; machine ", machine.name(),
            " runs kernels of the Mosaic GPU and Triton backends: prepare one with target mosaic_gpu/", machine.name(),
            " or triton/", machine.name()));
  };
  if (program.target.backend != TargetBackend::kMosaicGpu) return wrong("");
  const absl::StatusOr<const Machine*> own = machines::FindMachine(program.target.chip);
  if (own.ok() && (*own)->family() != machine.family()) return wrong(", another family of chips");
  const bool observable = std::any_of(program.steps.begin(), program.steps.end(),
                                      [](const Step& step) { return step.kind == StepKind::kMark; });
  if (!observable) return wrong(", prepared without PrepareOptions::observable, which a time needs");
  const bool blocks = std::any_of(program.operand_infos.begin(), program.operand_infos.end(),
                                  [](const OperandInfo& info) { return info.mode == BlockMode::kResident; });
  if (blocks ||
      launch::ExecutionModeOf(program, {.purpose = launch::Purpose::kMoves}) != launch::ExecutionMode::kThreads) {
    return absl::UnimplementedError(
        Cat("kernel @", program.kernel_name,
            blocks ? " has blocks that the backend copies; their copies have no cost yet"
                   : " has no mesh of GPU threads, and so no time here",
            ": JAX deprecates pallas_call on this backend; time it as a Triton kernel, with "
            "target triton/",
            machine.name(), ", or write it with plgpu.kernel"));
  }
  return absl::OkStatus();
}

struct Fits {
  threads::Residency residency;
  gpu::BlockPlaces::Room room;
};

absl::StatusOr<Fits> FitsOn(const Machine& machine, const GpuCosts& costs, const kernel::PreparedKernelState& kernel) {
  PALLADION_ASSIGN_OR_RETURN(const gpu::SmBlocks blocks, gpu::SmBlocksOf(machine, costs, kernel));
  Fits fits;
  fits.residency = blocks.residency;
  const std::int64_t cluster = fits.residency.threads / blocks.threads;
  std::int64_t groups = costs.sms / cluster;
  std::optional<Count> measured;
  if (cluster == 2) measured = machine.Find(Key<Count>("cluster.of_2"));
  if (cluster == 4) measured = machine.Find(Key<Count>("cluster.of_4"));
  if (cluster == 8) measured = machine.Find(Key<Count>("cluster.of_8"));
  if (measured.has_value()) groups = std::min(groups, static_cast<std::int64_t>(measured->value()));
  if (groups == 0) {
    return absl::InvalidArgumentError(Cat("kernel @", kernel.program().kernel_name, " has clusters of ", cluster,
                                          " blocks; machine ", machine.name(), " has ", costs.sms,
                                          " SMs: take smaller clusters"));
  }
  fits.room = {.groups = groups, .blocks = fits.residency.blocks, .replace = base::TicksOf(costs.replace)};
  fits.residency.clusters = groups * fits.residency.blocks;
  return fits;
}

}  // namespace

absl::StatusOr<GpuRun> RunOnGpu(const TimedCall& call, const GpuRunOptions& options) {
  const kernel::FloatEnvironment environment;
  PALLADION_RETURN_IF_ERROR(CheckKernel(call.kernel.state().program(), call.machine));
  PALLADION_ASSIGN_OR_RETURN(const gpu::ChipCosts chip, gpu::CostsOf(call.machine));
  const GpuCosts& costs = gpu::Common(chip);
  std::optional<gpu::LinkCosts> links;
  if (call.kernel.state().program().several_devices()) {
    PALLADION_ASSIGN_OR_RETURN(links, gpu::LinkCostsOf(call.machine));
  }
  const std::vector<ConstArray> inputs = kernel::ArraysOf(call.inputs);
  PALLADION_RETURN_IF_ERROR(kernel::CheckInputs(call.kernel, inputs));
  const base::LeftOut left_out(call, call.kernel.state());
  const kernel::PreparedKernelState& kernel = left_out.kernel() != nullptr ? *left_out.kernel() : call.kernel.state();
  PALLADION_ASSIGN_OR_RETURN(const Fits fits, FitsOn(call.machine, costs, kernel));
  PALLADION_ASSIGN_OR_RETURN(const std::unique_ptr<GpuTimer> timer,
                             GpuTimer::Create(kernel, chip, {.room = fits.room, .links = links}));
  std::optional<timeline::TimelineRecorder> timeline;
  if (call.timeline.has_value()) timer->RecordTo(timeline.emplace(*call.timeline, base::kTicksOfCycle), *call.timeline);
  agents::LaunchOptions scheduled{.run = call.run, .mode = agents::ExecutionMode::kThreads, .observers = {timer.get()}};
  left_out.ApplyTo(scheduled);
  scheduled.races = call.races;
  scheduled.loop.record = options.record;
  scheduled.loop.clock = &timer->clock();
  scheduled.loop.patience = std::numeric_limits<std::int64_t>::max();  // an agent that spins spends time
  scheduled.loop.budget = std::int64_t{1} << 40;
  scheduled.clusters_at_once = fits.residency.clusters;
  GpuRun run{.timed = {}, .result = {}, .outputs = {}, .clusters_at_once = fits.residency.clusters};
  PALLADION_ASSIGN_OR_RETURN(run.outputs, kernel::NewOutputs(call.kernel));
  const std::vector<MutableArray> outputs = kernel::MutableArraysOf(run.outputs);
  const std::unique_ptr<scheduler::Policy> policy = scheduler::MakeTimed(timer->clock());
  PALLADION_ASSIGN_OR_RETURN(run.result, launch::Run({kernel, inputs, outputs}, scheduled, *policy));
  run.timed.timing = GpuReport(
      {.kernel = kernel, .machine = call.machine, .costs = costs, .timer = *timer, .limit = fits.residency.why});
  if (timeline.has_value()) {
    timer->EndRecording();
    const std::string device = timer->node().devices() > 1 ? Cat("device ", call.timeline->device, ", ") : "";
    run.timed.timeline = timeline->Take(Cat(device, "SM ", call.timeline->unit), timer->clock().end());
  }
  run.timed.report = gpu::ReportOf(kernel, run.result, check::DirectAccessFindings(kernel));
  return run;
}

absl::StatusOr<base::Timed> TimeOnGpu(const TimedCall& call) {
  PALLADION_ASSIGN_OR_RETURN(GpuRun run, RunOnGpu(call, {.record = call.schedule}));
  if (!call.schedule) return std::move(run.timed);
  scheduler::Schedule schedule{.moves = std::move(run.result.run.moves), .at_once = run.clusters_at_once};
  schedule.origin = check::OriginOf(call.kernel.state(), kernel::ArraysOf(call.inputs), CheckOptions{});
  run.timed.schedule = scheduler::ToString(schedule);
  return std::move(run.timed);
}

}  // namespace palladion::timing::mosaic_gpu
