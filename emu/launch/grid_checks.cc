#include "emu/launch/grid_checks.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "emu/launch/equal_writes.h"
#include "semantics/base/agent_name.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/prepare/block_mode.h"
#include "semantics/program/view.h"
#include "semantics/tensor/element_index.h"

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

// Nobody else looks at what other tasks do, so that it counts here.
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

std::string_view Did(AccessKind kind) {
  return kind == AccessKind::kRead ? "reads" : kind == AccessKind::kAtomic ? "updates" : "writes";
}

}  // namespace

GridChecks::GridChecks(const agents::PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                       const Options& options)
    : kernel_(kernel),
      dims_(GridDims(kernel.program(), inputs)),
      looks_(options.looks),
      take_turns_(options.take_turns),
      sweep_(dims_, options.take_turns),
      blocks_(CoresOf(options)),
      maps_(CoresOf(options), kernel.text()),
      emitted_(kernel.module()),
      inputs_(kernel.program(), dims_) {
  const Program& program = kernel.program();
  sweeps_ = looks_ == Looks::kAll && HasTasks(dims_);
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
  if (looks_ != Looks::kAll && !kept) return;
  launch.tasks_apart |= looks_ == Looks::kAll;
  launch.races_between_tasks &= !sweeps_;
  if (sweeps_ || kept) launch.observers.push_back(this);
}

// Once for each device, over one memory.
void GridChecks::Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
  if (!std::exchange(observes_, true)) {
    if (sweeps_) memory.Observe(&sweep_);
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
  if (looks_ == Looks::kAll) SweepOperand(memory, info, array);
  if (checks_blocks_ && info.role == Role::kOut && info.mode == BlockMode::kResident && !info.block.empty())
    WatchBlocks(memory, i, array);
  if (checks_maps_ && info.role == Role::kPrefetch && info.written) {
    info.mode == BlockMode::kResident ? maps_.WatchCopies(memory, kernel_.program().refs[info.ref.index()].name)
                                      : maps_.Watch(memory, array);
  }
}

// What nobody writes cannot be in conflict. A block's own memory is its core's; so is a whole array in a core's memory,
// and scratch: on hardware that is undefined at first, and only `generic` hands it from program to program.
void GridChecks::SweepOperand(const memory_model::Memory& memory, const OperandInfo& info, BufferId array) {
  const Program& program = kernel_.program();
  if (info.role == Role::kOut) {
    sweep_.Watch(memory, array, memory_model::Sweep::Sharing::kShared);
  } else if (info.role == Role::kScratch) {
    if (program.target.backend == TargetBackend::kGeneric)
      sweep_.Watch(memory, array, memory_model::Sweep::Sharing::kOwn);
  } else if (info.written && info.mode != BlockMode::kResident) {
    const bool own = program.target.backend == TargetBackend::kMosaicTpu && info.mode == BlockMode::kWhole;
    sweep_.Watch(memory, array, own ? memory_model::Sweep::Sharing::kOfCore : memory_model::Sweep::Sharing::kShared);
  }
}

// Blocks of an output alone must not be visited again; those of an input that shares its memory may not see what is
// flushed there. A plain run looks at the first.
void GridChecks::WatchBlocks(const memory_model::Memory& memory, std::size_t i, BufferId array) {
  const OperandInfo& info = kernel_.program().operand_infos[i];
  const std::vector<Operand>& operands = kernel_.text().operands;
  BlockChecks::Buffers buffers{.fetched = 0, .flushed = BuffersOf(operands[i])};
  if (info.alias >= 0) {
    const auto input = static_cast<std::size_t>(info.alias);
    if (looks_ == Looks::kRevisits || kernel_.program().operand_infos[input].mode != BlockMode::kResident) return;
    buffers.fetched = BuffersOf(operands[input]);
  } else if (info.restored) {
    return;
  }
  blocks_.Watch(memory, array, buffers);
}

const OperandInfo& GridChecks::OperandOf(BufferId buffer) const {
  const auto is = [&](const Array& array) { return array.buffer == buffer; };
  return *std::find_if(arrays_.begin(), arrays_.end(), is)->operand;
}

std::string GridChecks::NameOf(BufferId buffer) const {
  return kernel_.program().refs[OperandOf(buffer).ref.index()].name;
}

FindingAccess GridChecks::Describe(const memory_model::WitnessAccess& access, BufferId buffer) const {
  return Describe(access, NameOf(buffer));
}

FindingAccess GridChecks::Describe(const memory_model::WitnessAccess& access, const std::string& object) {
  return {.kind = access.kind,
          .agent = AgentName(access.program),
          .object = object,
          .box = access.box,
          .loc = access.loc,
          .text_line = access.text_line};
}

std::string GridChecks::WhyUnordered(absl::Span<const std::int64_t> a, absl::Span<const std::int64_t> b) const {
  std::vector<std::size_t> differ;
  if (a.size() != b.size()) return "one of them has not begun";  // index maps of a core's first program
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (dims_[d].parallel && a[d] != b[d]) differ.push_back(d);
  }
  const std::string which =
      Cat("they differ in grid dimension", differ.size() > 1 ? "s " : " ", absl::StrJoin(differ, ", "));
  switch (kernel_.program().target.backend) {
    case TargetBackend::kMosaicTpu:
      return Cat(which, ", which is parallel: its programs run in any order, and on several cores");
    case TargetBackend::kGeneric:
      return Cat(which, ", whose programs have no order unless dimension_semantics says \"arbitrary\"");
    case TargetBackend::kTriton:
    case TargetBackend::kMosaicGpu:
      break;
  }
  return Cat(which, ": programs of a GPU grid run in any order, and at the same time");
}

Finding GridChecks::FindingOf(const memory_model::SweepConflict& conflict, const memory_model::WitnessAccess& first,
                              const std::string& element, bool one_value) const {
  const bool generic = kernel_.program().target.backend == TargetBackend::kGeneric;
  const bool write_write = conflict.rule == memory_model::ConflictRule::kWriteWrite;
  const bool inherited = conflict.rule == memory_model::ConflictRule::kInherited;
  Finding finding;
  finding.code = write_write ? FindingCode::kRaceWriteWrite : FindingCode::kRaceReadWrite;
  if (generic || inherited) finding.code = FindingCode::kGridOrder;
  finding.severity = RowOf(finding.code).severity;
  const memory_model::WitnessAccess second{.kind = conflict.kind,
                                           .program = conflict.program,
                                           .box = conflict.box,
                                           .loc = conflict.loc,
                                           .text_line = conflict.text_line};
  finding.first = Describe(first, conflict.buffer);
  finding.second = Describe(second, conflict.buffer);
  const bool read_first = inherited && second.kind == AccessKind::kWrite;
  finding.message = Cat("'", NameOf(conflict.buffer), "'", element, ": ", finding.second->agent, " ", Did(second.kind),
                        inherited && !read_first ? " what " : " it, ", finding.first->agent,
                        read_first  ? " reads it and may come later"
                        : inherited ? " left there"
                                    : Cat(" ", Did(first.kind), " it too"));
  if (write_write && one_value) {
    SayEqual(finding, ", and ");
  } else {
    Append(&finding.message, generic ? OnEachBackend(conflict, first.program) : "; the two have no order");
  }
  finding.loc = conflict.loc;
  finding.text_line = conflict.text_line;
  finding.count = conflict.count;
  finding.why = WhyUnordered(first.program, conflict.program);
  finding.fix = FixFor(conflict, first.program);
  finding.mend = MendFor(conflict, first.program);
  return finding;
}

// Where the other access could not be asked for.
Finding GridChecks::OneSided(const memory_model::SweepConflict& conflict) const {
  const bool generic = kernel_.program().target.backend == TargetBackend::kGeneric;
  Finding finding{.code = conflict.rule == memory_model::ConflictRule::kWriteWrite ? FindingCode::kRaceWriteWrite
                                                                                   : FindingCode::kRaceReadWrite,
                  .loc = conflict.loc,
                  .text_line = conflict.text_line,
                  .count = conflict.count,
                  .why = "the run that asks who else touches it did not come to its end",
                  .fix = FixFor(conflict, {})};
  if (generic || conflict.rule == memory_model::ConflictRule::kInherited) finding.code = FindingCode::kGridOrder;
  finding.severity = RowOf(finding.code).severity;
  finding.second = Describe({.kind = conflict.kind,
                             .program = conflict.program,
                             .box = conflict.box,
                             .loc = conflict.loc,
                             .text_line = conflict.text_line},
                            conflict.buffer);
  finding.message = Cat("'", NameOf(conflict.buffer), "': ", finding.second->agent, " ", Did(conflict.kind),
                        " elements that another program, which has no order with it, touches too",
                        generic ? OnEachBackend(conflict, {}) : "");
  return finding;
}

// One pair of places is one finding, whichever of the two came later and whatever else is wrong between them; but that
// one task comes back to a block is another mistake than that two of them have it. That an array depends on the order
// at all is one finding where no backend is named.
void GridChecks::Add(Finding finding) {
  const auto same = [](const FindingAccess& a, const FindingAccess& b) {
    return a.object == b.object && a.loc == b.loc && a.text_line == b.text_line && a.kind == b.kind;
  };
  for (Finding& known : findings_) {
    if (!known.first.has_value() || !finding.first.has_value()) continue;
    if ((known.code == FindingCode::kOutRevisit) != (finding.code == FindingCode::kOutRevisit)) continue;
    const bool equal = same(*known.first, *finding.first) && same(*known.second, *finding.second);
    const bool mirrored = same(*known.first, *finding.second) && same(*known.second, *finding.first);
    const bool of_array = kernel_.program().target.backend == TargetBackend::kGeneric &&
                          finding.code == FindingCode::kGridOrder && known.code == finding.code &&
                          known.first->object == finding.first->object;
    if (!equal && !mirrored && !of_array) continue;
    if (finding.severity > known.severity) known = std::move(finding);
    return;
  }
  findings_.push_back(std::move(finding));
}

// All that needs no second run.
void GridChecks::AddOfBlocks() {
  for (const StaleFetch& stale : blocks_.stale_fetches()) Add(FindingOf(stale));
  for (const LateIndex& late : maps_.found()) findings_.push_back(FindingOf(late));
  for (const EmittedRevisit& revisit : emitted_.found()) findings_.push_back(FindingOf(revisit));
  inputs_.Finish();
  for (const HandedBlock& handed : inputs_.handed()) Add(FindingOf(handed));
}

void GridChecks::AddOneSided() {
  for (const memory_model::SweepConflict& conflict : sweep_.conflicts()) Add(OneSided(conflict));
  for (const Revisit& revisit : blocks_.revisits()) Add(FindingOf(revisit, std::nullopt));
}

absl::Status GridChecks::Finish(const std::function<absl::Status(const agents::LaunchOptions& launch)>& rerun) {
  if (looks_ == Looks::kAll && sweep_.clock().too_many())
    return absl::ResourceExhaustedError(
        Cat("kernel @", kernel_.program().kernel_name,
            ": its grid has too many programs along parallel dimensions that lie inside sequential ones; put the "
            "parallel dimensions first, or check a smaller grid"));
  AddOfBlocks();
  const std::vector<memory_model::SweepConflict>& conflicts = sweep_.conflicts();
  const std::vector<Revisit>& revisits = blocks_.revisits();
  order_is_no_matter_ = inputs_.handed().empty();
  if (conflicts.empty() && revisits.empty()) return absl::OkStatus();
  if (!rerun) {
    order_is_no_matter_ &= conflicts.empty();
    AddOneSided();
    return absl::OkStatus();
  }

  memory_model::Witness witness(dims_, take_turns_);
  EqualWrites equal(kernel_.program());
  std::vector<std::string> elements;
  agents::LaunchOptions again = launch_;
  again.tasks_apart |= looks_ == Looks::kAll;
  again.ran = {};
  again.definedness = true;  // what is undefined is equal to nothing
  run::BoundAndFinished ask([&](memory_model::Memory& memory, absl::Span<const BufferId>) {
    memory.Observe(&witness);
    if (!take_turns_) memory.Observe(&equal);
    for (const memory_model::SweepConflict& conflict : conflicts) {
      witness.Ask(memory, conflict);
      if (!take_turns_ && conflict.rule == memory_model::ConflictRule::kWriteWrite)
        equal.Watch(memory, conflict.buffer);
      const ElementCount element = conflict.byte / memory.ElementSizeOf(conflict.buffer);
      elements.push_back(IndexText(memory.ShapeOf(conflict.buffer), element.value()));
    }
    for (const Revisit& revisit : revisits)
      witness.AskFirstWriter(memory, revisit.buffer, revisit.byte, revisit.again.program);
  });
  again.observers = {&ask};
  if (take_turns_) again.observers.push_back(&equal);  // who each agent is it hears of there, and watches every array
  if (const absl::Status status = rerun(again); !status.ok()) {
    order_is_no_matter_ = false;
    AddOneSided();
    return status;
  }
  for (std::size_t i = 0; i < conflicts.size(); ++i) {
    const std::optional<memory_model::WitnessAccess>& first = witness.Answer(i);
    const BufferId buffer = conflicts[i].buffer;
    const int line = conflicts[i].text_line;  // whoever the other one is: a conflict stands for all at its place
    const bool one_value = equal.Of(buffer, line, line);
    order_is_no_matter_ &= first.has_value() && conflicts[i].rule == memory_model::ConflictRule::kWriteWrite &&
                           one_value && !equal.AnyUndefined(buffer);
    if (first.has_value()) Add(FindingOf(conflicts[i], *first, elements[i], one_value));
  }
  for (std::size_t i = 0; i < revisits.size(); ++i) {
    const std::optional<memory_model::WitnessAccess>& first = witness.Answer(conflicts.size() + i);
    if (first.has_value()) Add(FindingOf(revisits[i], first));
  }
  return absl::OkStatus();
}

std::vector<CheckTally> GridChecks::tallies() const {
  std::vector<CheckTally> tallies = {{.name = "races between programs", .times = sweep_.accesses()}};
  if (checks_blocks_) tallies.push_back({.name = "block residency", .times = blocks_.copies()});
  return tallies;
}

}  // namespace palladion::launch
