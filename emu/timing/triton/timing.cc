#include "emu/timing/triton/timing.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emu/chip/layouts/triton_memory.h"
#include "emu/kernel/arrays.h"
#include "emu/kernel/float_environment.h"
#include "emu/kernel/operand_check.h"
#include "emu/run/launch/launch.h"
#include "emu/run/launch/run.h"
#include "emu/timing/base/ticks.h"
#include "emu/timing/base/without_values.h"
#include "emu/timing/gpu/report_parts.h"
#include "emu/timing/report/line_places.h"
#include "emu/timing/triton/equal_blocks.h"
#include "emu/timing/triton/report.h"
#include "emu/timing/triton/timer.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/mark.h"
#include "semantics/registry/op_row.h"

namespace palladion::timing::triton {
namespace {

using base::Timed;
using base::TimedCall;
using gpu::RegisterNeed;

absl::Status CheckKernel(const TimedCall& call) {
  const Program& program = call.kernel.state().program();
  const std::string kernel = Cat("kernel @", program.kernel_name);
  const bool observable = std::any_of(program.steps.begin(), program.steps.end(),
                                      [](const Step& step) { return step.kind == StepKind::kMark; });
  if (!observable)
    return absl::InvalidArgumentError(
        Cat(kernel, " is prepared without PrepareOptions::observable, which a time needs"));
  if (program.several_devices())
    return absl::UnimplementedError(Cat(kernel, " is for several devices; of Triton kernels one has a time"));
  for (std::size_t d = 0; d < program.grid.size(); ++d) {
    if (program.grid_bound[d] < 0) continue;
    return absl::UnimplementedError(
        Cat(kernel, " has a grid whose size is an operand, and so no time: export it for a fixed grid"));
  }
  if (call.schedule)
    return absl::UnimplementedError(Cat(
        kernel, " is a Triton kernel, of whose times no schedule is written: its blocks queue for more memory than a ",
        "check lets them choose at. Without --schedule its times are reported, --page shows the order of its blocks, "
        "and ",
        "palladion check names schedules that replay"));
  return absl::OkStatus();
}

// Of an SM, for blocks of this kernel.
struct Room {
  std::int64_t blocks = 1, shared = 0;  // shared: bytes of one block
  std::string why;
};

Room RoomOf(const Kernel& kernel, const TritonCosts& costs, const RegisterNeed& need, const Module& module) {
  constexpr std::int64_t kThreadsOfSm = 2048, kBlocksOfSm = 32, kReserved = 1024;  // as emu/run/threads/residency.h
  const auto all = static_cast<std::int64_t>(costs.shared_of_block.value());
  Room room;
  for (const layouts::TritonOperands& one : layouts::SharedMemoryOfTriton(kernel)) room.shared += one.bytes;
  const std::int64_t lanes = layouts::LanesOfTriton(kernel);
  const std::vector<std::pair<std::int64_t, std::string>> limits = {
      {(all + kReserved) / (room.shared + kReserved),
       Cat(room.shared, " of its ", all, " bytes of shared memory are one block's")},
      {kThreadsOfSm / lanes, Cat("it has ", kThreadsOfSm, " lanes, of which a block has ", lanes)},
      {need.blocks,
       Cat("a lane has at least ", need.most, " registers at ", report::LineText(module, kernel, need.line), ", of ",
           costs.common.registers.of_sm, " for all lanes of an SM")},
      {kBlocksOfSm, "it holds no more"}};
  const auto least =
      std::min_element(limits.begin(), limits.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  room.blocks = std::max<std::int64_t>(1, least->first);
  room.why = Cat(costs.common.sms, " SMs hold ", room.blocks, room.blocks == 1 ? " block each (" : " blocks each (",
                 least->second, ")");
  return room;
}

std::int64_t BlocksOf(const Program& program) {
  std::int64_t blocks = 1;
  for (const auto& dim : program.grid) blocks *= dim.size;
  return blocks;
}

bool HasAtomics(const Region& region) {
  return std::any_of(region.body.begin(), region.body.end(), [](const Instr& op) {
    return op.row->access == RefAccess::kAtomic || op.row->access == RefAccess::kAdd ||
           std::any_of(op.regions.begin(), op.regions.end(), HasAtomics);
  });
}

std::int64_t LinesOfL1(const TritonCosts& costs, const Room& room) {
  const double left = costs.l1_size.value() - static_cast<double>(room.shared * room.blocks);
  return static_cast<std::int64_t>(std::max(0.0, left) / costs.common.l2_line.value());
}

// A picture shows each block; what is in memory, and the order of atomics, would be another.
bool MayLeaveBlocksOut(const TimedCall& call, const kernel::PreparedKernelState& kernel,
                       const agents::LaunchOptions& options) {
  if (call.every_wave || call.timeline.has_value()) return false;
  if (std::find(options.moved.begin(), options.moved.end(), true) != options.moved.end()) return false;
  const std::vector<Body>& bodies = kernel.text().bodies;
  return std::none_of(bodies.begin(), bodies.end(), [](const Body& body) { return HasAtomics(body.region); });
}

// What a run needs, with all of its blocks or with some left out. All outlive it.
struct Prepared {
  const TimedCall& call;
  const kernel::PreparedKernelState& kernel;  // the call's, or what is left of it
  const TritonCosts& costs;
  const agents::LaunchOptions& options;
  const std::vector<ConstArray>& inputs;
  const std::vector<MutableArray>& outputs;
  RegisterNeed registers;
  Room room;

  gpu::BlockPlaces::Room places() const {
    return {.groups = costs.common.sms, .blocks = room.blocks, .replace = base::TicksOf(costs.common.replace)};
  }
  std::int64_t at_once() const { return costs.common.sms * room.blocks; }
};

// Nothing: blocks are left out, and those that stand for them have no steady pace.
absl::StatusOr<std::optional<Timed>> RunOnce(const Prepared& what, const EqualBlocks& equal) {
  const TimedCall& call = what.call;
  PALLADION_ASSIGN_OR_RETURN(
      const std::unique_ptr<TritonTimer> timer,
      TritonTimer::Create(what.kernel, what.costs,
                          {.room = what.places(), .l1_lines = LinesOfL1(what.costs, what.room), .equal = equal}));
  std::optional<timeline::TimelineRecorder> timeline;
  if (call.timeline.has_value()) timer->RecordTo(timeline.emplace(*call.timeline, base::kTicksOfCycle), *call.timeline);
  agents::LaunchOptions scheduled = what.options;
  scheduled.observers = {timer.get()};
  scheduled.left_out = {.first = equal.first, .count = equal.count};
  scheduled.loop.record = false;
  scheduled.loop.clock = &timer->clock();
  scheduled.loop.patience = std::numeric_limits<std::int64_t>::max();  // a block that spins spends time
  scheduled.loop.resident = static_cast<std::size_t>(what.at_once());
  const std::int64_t together = std::min(BlocksOf(what.kernel.program()), what.at_once());
  scheduled.loop.budget = std::max<std::int64_t>(1, together) << 20;  // more loads than a block that ends has
  const std::unique_ptr<scheduler::Policy> policy = scheduler::MakeTimed(timer->clock());
  PALLADION_ASSIGN_OR_RETURN(const agents::Ran result,
                             launch::Run({what.kernel, what.inputs, what.outputs}, scheduled, *policy));
  if (!timer->Steady()) return std::nullopt;
  Timed timed;
  timed.timing = TritonReport({.kernel = what.kernel,
                               .machine = call.machine,
                               .costs = what.costs,
                               .timer = *timer,
                               .registers = what.registers,
                               .limit = what.room.why});
  if (timeline.has_value()) {
    const scheduler::Ticks length = timer->EndRecording();
    timed.timeline = timeline->Take(Cat("SM ", call.timeline->unit), length);
  }
  timed.report = gpu::ReportOf(what.kernel, result);
  return timed;
}

}  // namespace

absl::StatusOr<Timed> TimeTriton(const TimedCall& call) {
  const kernel::FloatEnvironment environment;
  PALLADION_RETURN_IF_ERROR(CheckKernel(call));
  PALLADION_ASSIGN_OR_RETURN(const TritonCosts costs, TritonCostsOf(call.machine));
  const std::vector<ConstArray> inputs = kernel::ArraysOf(call.inputs);
  PALLADION_RETURN_IF_ERROR(kernel::CheckInputs(call.kernel, inputs));
  const base::LeftOut left_out(call, call.kernel.state());
  const kernel::PreparedKernelState& kernel = left_out.kernel() != nullptr ? *left_out.kernel() : call.kernel.state();
  const RegisterNeed registers = gpu::RegistersOfTriton(kernel.text(), costs.common.registers);
  PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> tensors, kernel::NewOutputs(call.kernel));
  const std::vector<MutableArray> outputs = kernel::MutableArraysOf(tensors);
  agents::LaunchOptions options{.run = call.run, .mode = agents::ExecutionMode::kPrograms};
  left_out.ApplyTo(options);
  const Prepared what{.call = call,
                      .kernel = kernel,
                      .costs = costs,
                      .options = options,
                      .inputs = inputs,
                      .outputs = outputs,
                      .registers = registers,
                      .room = RoomOf(kernel.text(), costs, registers, kernel.module())};
  if (left_out.kernel() != nullptr && MayLeaveBlocksOut(call, kernel, options)) {
    PALLADION_ASSIGN_OR_RETURN(const std::optional<EqualBlocks> equal,
                               EqualBlocksOf({kernel, inputs, outputs}, options, costs.common, what.at_once()));
    if (equal.has_value()) {
      PALLADION_ASSIGN_OR_RETURN(std::optional<Timed> timed, RunOnce(what, *equal));
      if (timed.has_value()) return *std::move(timed);
    }
  }
  PALLADION_ASSIGN_OR_RETURN(std::optional<Timed> timed, RunOnce(what, {}));
  return *std::move(timed);
}

}  // namespace palladion::timing::triton
