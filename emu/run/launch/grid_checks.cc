#include "emu/run/launch/grid_checks.h"

#include <algorithm>
#include <utility>

#include "emu/run/agents/program_agents.h"
#include "emu/run/launch/equal_writes.h"
#include "emu/run/launch/interaction.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/view.h"

namespace palladion::launch {

std::vector<memory_model::TaskDim> GridDims(const Program& program, absl::Span<const ConstArray> inputs) {
  std::vector<memory_model::TaskDim> dims;
  for (std::size_t d = 0; d < program.grid.size(); ++d) {
    dims.push_back({.size = program.grid[d].size, .parallel = program.dim_order[d] == DimOrder::kParallel});
    if (program.grid_bound[d] < 0) continue;
    std::size_t input = 0;
    for (int i = 0; i < program.grid_bound[d]; ++i) {
      const Role role = program.operand_infos[static_cast<std::size_t>(i)].role;
      input += role == Role::kBound || role == Role::kPrefetch || role == Role::kIn;
    }
    dims[d].size = ReadIndex(inputs[input].data, inputs[input].dtype, 0);
  }
  return dims;
}

bool HasTasks(absl::Span<const memory_model::TaskDim> dims) {
  return std::any_of(dims.begin(), dims.end(),
                     [](const memory_model::TaskDim& dim) { return dim.parallel && dim.size > 1; });
}

namespace {

// No other checker covers what other tasks do, so that it counts here.
std::vector<memory_model::TaskDim> InOrder(std::vector<memory_model::TaskDim> dims) {
  for (memory_model::TaskDim& dim : dims) dim.parallel = false;
  return dims;
}

// Does a core keep a block of an output?
bool HasResidentOutput(const Program& program) {
  return std::any_of(program.operand_infos.begin(), program.operand_infos.end(), [](const OperandInfo& info) {
    return info.role == Role::kOut && info.mode == BlockMode::kResident;
  });
}

bool IsOfPrograms(const OperandInfo& info) { return info.role == Role::kScratch && info.mode != BlockMode::kScoped; }

}  // namespace

GridChecks::GridChecks(const kernel::PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                       const Options& options)
    : kernel_(kernel),
      dims_(GridDims(kernel.program(), inputs)),
      looks_(options.looks),
      take_turns_(options.take_turns),
      words_(kernel, dims_),
      sweep_(dims_, options.take_turns),
      blocks_(CoresOf(options)),
      maps_(CoresOf(options), kernel.text()),
      emitted_(kernel.module()),
      inputs_(kernel.program(), dims_),
      findings_(kernel.program().target.backend == TargetBackend::kGeneric) {
  const Program& program = kernel.program();
  judges_arrays_ = looks_ == Looks::kAll && HasTasks(dims_);
  judges_scratch_ =
      looks_ != Looks::kRevisits && HasTasks(dims_) && !agents::HandedScratch::OperandsOf(program).empty();
  checks_blocks_ = program.grid_in_agent && HasResidentOutput(program);
  const auto stored = [](const OperandInfo& info) { return info.role == Role::kPrefetch && info.written; };
  checks_maps_ = program.grid_in_agent && looks_ != Looks::kRevisits && maps_.any() &&
                 std::any_of(program.operand_infos.begin(), program.operand_infos.end(), stored);
  checks_emitted_ = program.target.backend == TargetBackend::kMosaicTpu && looks_ != Looks::kRevisits && emitted_.any();
}

CoresOfLaunch GridChecks::CoresOf(const Options& options) const {
  return {.dims = options.looks == Looks::kRevisits ? InOrder(dims_) : dims_,
          .device_axes = kernel_.program().device_axes.size(),
          .take_turns = options.take_turns};
}

void GridChecks::Attach(agents::LaunchOptions& launch) {
  launch_ = launch;
  const bool kept = checks_blocks_ || checks_maps_ || checks_emitted_ || watches_inputs();
  launch.tasks_apart |= looks_ == Looks::kAll;
  launch.races_between_tasks &= !judges_arrays_;
  if (sweeps() || kept) launch.observers.push_back(this);
}

// Once for each device, over one memory.
void GridChecks::Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
  if (std::exchange(memory_, &memory) == nullptr) {
    if (sweeps()) memory.Observe(&sweep_);
    if (checks_blocks_) memory.Observe(&blocks_);
    if (checks_maps_) memory.Observe(&maps_);
    if (checks_emitted_) memory.Observe(&emitted_);
    if (watches_inputs()) memory.Observe(&inputs_);
    emitted_.Watch(memory);
  }
  if (watches_inputs()) inputs_.Watch(memory, arrays);
  for (std::size_t i = arrays.size(); i-- > 0;) {  // an output before the input whose memory it shares
    if (arrays[i].valid()) WatchOperand(memory, i, arrays[i]);
  }
}

void GridChecks::WatchOperand(const memory_model::Memory& memory, std::size_t i, BufferId array) {
  const OperandInfo& info = kernel_.program().operand_infos[i];
  const auto known = [&](const Array& other) { return other.buffer == array; };
  if (std::any_of(arrays_.begin(), arrays_.end(), known)) return;
  arrays_.push_back({array, &info});
  if (sweeps()) SweepOperand(info, array);
  if (checks_blocks_ && info.role == Role::kOut && info.mode == BlockMode::kResident && !info.block.empty())
    WatchBlocks(memory, i, array);
  if (checks_maps_ && info.role == Role::kPrefetch && info.written) {
    info.mode == BlockMode::kResident ? maps_.WatchCopies(memory, kernel_.program().refs[info.ref.index()].name)
                                      : maps_.Watch(memory, array);
  }
}

// Read-only memory cannot be in conflict. A block's own memory is its core's; so is a whole array in a core's memory,
// and scratch: on hardware that is undefined at first, and only `generic` hands it from program to program.
void GridChecks::SweepOperand(const OperandInfo& info, BufferId array) {
  using Sharing = memory_model::Sweep::Sharing;
  if (info.role == Role::kScratch) {
    if (judges_scratch_) sweep_.Watch(*memory_, array, Sharing::kOwn);
    return;
  }
  if (!judges_arrays_) return;
  if (info.role == Role::kOut) {
    sweep_.Watch(*memory_, array, Sharing::kShared);
  } else if (info.written && info.mode != BlockMode::kResident) {
    const bool tpu = kernel_.program().target.backend == TargetBackend::kMosaicTpu;
    sweep_.Watch(*memory_, array, tpu && info.mode == BlockMode::kWhole ? Sharing::kOfCore : Sharing::kShared);
  }
}

// Programs that run at the same time have pieces of their own, which come as they begin.
void GridChecks::After(const Step& step, Frame& frame) {
  if (step.fn != RunBeginProgram) return;
  if (inputs_.watches_scratch()) inputs_.ProgramBegan(frame);
  if (!judges_scratch_ || !take_turns_) return;
  const std::vector<OperandInfo>& infos = kernel_.program().operand_infos;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (IsOfPrograms(infos[i])) WatchOperand(*memory_, i, frame.ref(infos[i].ref).buffer);
  }
}

// Blocks of an output alone must not be visited again. Those of one that shares its memory are read from there.
void GridChecks::WatchBlocks(const memory_model::Memory& memory, std::size_t i, BufferId array) {
  const OperandInfo& info = kernel_.program().operand_infos[i];
  if (info.alias < 0 && !info.restored) blocks_.Watch(memory, array);
}

const OperandInfo& GridChecks::OperandOf(BufferId buffer) const {
  const auto is = [&](const Array& array) { return array.buffer == buffer; };
  return *std::find_if(arrays_.begin(), arrays_.end(), is)->operand;
}

Meeting GridChecks::MeetingOf(const memory_model::SweepConflict& conflict) const {
  const OperandInfo& operand = OperandOf(conflict.buffer);
  return {.rule = conflict.rule,
          .operand = &operand,
          .element = conflict.element,
          .second = words_.SideOf({.kind = conflict.kind,
                                   .program = conflict.program,
                                   .box = conflict.box,
                                   .loc = conflict.loc,
                                   .text_line = conflict.text_line},
                                  operand),
          .count = conflict.count};
}

// All that needs no second run.
void GridChecks::AddOfBlocks() {
  for (const LateIndex& late : maps_.found()) findings_.AddApart(FindingOf(late));
  for (const EmittedRevisit& revisit : emitted_.found()) findings_.AddApart(FindingOf(revisit));
  inputs_.Finish();
  for (const HandedBlock& handed : inputs_.handed()) findings_.Add(FindingOf(handed));
}

void GridChecks::AddOneSided() {
  for (const memory_model::SweepConflict& conflict : sweep_.conflicts()) findings_.Add(words_.Of(MeetingOf(conflict)));
  for (const Revisit& revisit : blocks_.revisits()) findings_.Add(FindingOf(revisit, std::nullopt));
}

absl::Status GridChecks::Finish(const std::function<absl::Status(const agents::LaunchOptions& launch)>& rerun) {
  if (sweeps() && sweep_.clock().too_many())
    return absl::ResourceExhaustedError(
        Cat("kernel @", kernel_.program().kernel_name,
            ": its grid has too many programs along parallel dimensions that lie inside sequential ones; put the "
            "parallel dimensions first, or check a smaller grid"));
  AddOfBlocks();
  order_is_no_matter_ = inputs_.handed().empty();
  if (sweep_.conflicts().empty() && blocks_.revisits().empty()) return absl::OkStatus();
  const absl::Status status = rerun ? AddPairs(rerun) : absl::OkStatus();
  if (rerun && status.ok()) return status;
  order_is_no_matter_ &= status.ok() && sweep_.conflicts().empty();
  AddOneSided();
  return status;
}

absl::Status GridChecks::AddPairs(const std::function<absl::Status(const agents::LaunchOptions& launch)>& rerun) {
  const std::vector<memory_model::SweepConflict>& conflicts = sweep_.conflicts();
  const std::vector<Revisit>& revisits = blocks_.revisits();
  const bool machine = NeedsThreads(kernel_.program());  // it knows who each agent is
  memory_model::Witness witness(dims_, take_turns_);
  EqualWrites equal(kernel_.program());
  agents::LaunchOptions again = launch_;
  again.tasks_apart |= looks_ == Looks::kAll;
  again.ran = {};
  again.definedness = true;  // what is undefined is equal to nothing
  for (const memory_model::SweepConflict& conflict : conflicts) witness.Ask(conflict);
  run::BoundAndFinished ask([&](memory_model::Memory& memory, absl::Span<const BufferId>) {
    memory.Observe(&witness);
    if (!machine) memory.Observe(&equal);
    for (const memory_model::SweepConflict& conflict : conflicts) {
      if (!machine && conflict.rule == memory_model::ConflictRule::kWriteWrite) equal.Watch(memory, conflict.buffer);
    }
    for (const Revisit& revisit : revisits)
      witness.AskFirstWriter(memory, revisit.buffer, revisit.byte, revisit.again.program);
  });
  again.observers = {&ask};
  if (machine) again.observers.push_back(&equal);  // it gets the machine there, and watches every array
  PALLADION_RETURN_IF_ERROR(rerun(again));
  for (std::size_t i = 0; i < conflicts.size(); ++i) {
    const std::optional<memory_model::WitnessAccess>& first = witness.Answer(i);
    const BufferId buffer = conflicts[i].buffer;
    const int line = conflicts[i].text_line;  // for any second access: a conflict stands for all at its place
    Meeting meeting = MeetingOf(conflicts[i]);
    meeting.one_value = equal.Of(buffer, line, line);
    order_is_no_matter_ &= first.has_value() && meeting.rule == memory_model::ConflictRule::kWriteWrite &&
                           meeting.one_value && !equal.AnyUndefined(buffer);
    if (!first.has_value()) continue;
    meeting.first = words_.SideOf(*first, *meeting.operand);
    findings_.Add(words_.Of(meeting));
  }
  for (std::size_t i = 0; i < revisits.size(); ++i) {
    const std::optional<memory_model::WitnessAccess>& first = witness.Answer(conflicts.size() + i);
    if (first.has_value()) findings_.Add(FindingOf(revisits[i], first));
  }
  return absl::OkStatus();
}

}  // namespace palladion::launch
