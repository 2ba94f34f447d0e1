#include "emu/run/launch/input_blocks.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "memory_model/sets/region.h"
#include "semantics/tensor/element_index.h"

namespace palladion::launch {
namespace {

bool IsWatched(const OperandInfo& info) {
  return (info.role == Role::kIn || info.role == Role::kPrefetch) && info.mode == BlockMode::kResident && info.written;
}

bool IsScratch(const OperandInfo& info) {
  return info.role == Role::kScratch && info.type.element == ElementKind::kData;
}

std::size_t ElementsOf(absl::Span<const std::int64_t> shape) {
  std::size_t elements = 1;
  for (const std::int64_t size : shape) elements *= static_cast<std::size_t>(size);
  return elements;
}

}  // namespace

InputBlocks::InputBlocks(const Program& program, absl::Span<const memory_model::TaskDim> dims)
    : program_(program), dims_(dims.begin(), dims.end()) {
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d].parallel && dims[d].size > 1) segment_dims_ = d + 1;
  }
  if (!program.grid_in_agent || segment_dims_ == 0) return;
  const bool returns = memory_model::TaskClock(dims_).returns();
  for (const OperandInfo& info : program.operand_infos) {
    any_ |= IsWatched(info);
    scratch_ |= returns && IsScratch(info);
  }
}

void InputBlocks::Watch(memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
  memory_ = &memory;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].valid() && IsWatched(program_.operand_infos[i])) operand_of_[arrays[i].value] = i;
  }
}

InputBlocks::Index InputBlocks::SegmentOf(absl::Span<const std::int64_t> program) const {
  return {program.begin(), program.begin() + static_cast<std::ptrdiff_t>(std::min(segment_dims_, program.size()))};
}

InputBlocks::Index InputBlocks::TaskOf(const Index& program) const {
  Index task;
  for (std::size_t d = 0; d < program.size(); ++d) {
    if (dims_[d].parallel) task.push_back(program[d]);
  }
  return task;
}

// Without a machine there is one core, of which each program has an id.
void InputBlocks::Running(const RunningAgent& now) {
  filling_ = BufferId();
  running_ = program_.uses_port ? now.id : AgentId();
  now_.assign(now.index.begin(), now.index.end());
  if (!now.begins) return;
  Index segment = SegmentOf(now_);
  for (auto& [buffer, core] : cores_) {
    if (core.agent != running_) continue;
    core.program = now_;
    core.begins = core.segment != segment;
    if (core.begins) BeginSegment(core, segment);
  }
  for (const Filling& fetch : std::exchange(coming_, {}))
    fetch.program == now_ ? Fill(fetch) : coming_.push_back(fetch);
}

void InputBlocks::BeginSegment(Core& core, Index segment) {
  core.scratch ? Forget(core) : Leave(core);
  core.segment = std::move(segment);
  core.first_block = !core.scratch || !tasks_.insert({core.operand, TaskOf(core.program)}).second;
}

void InputBlocks::Free(const Who&, BufferId buffer) {
  const auto core = cores_.find(buffer.value);
  if (core == cores_.end()) return;
  if (!core->second.scratch) Leave(core->second);
  cores_.erase(core);
}

void InputBlocks::Finish() {
  for (auto& [buffer, core] : cores_) {
    if (!core.scratch) Leave(core);
  }
}

InputBlocks::Core InputBlocks::MakeCore(std::size_t operand, BufferId buffer) const {
  Core core{.operand = operand, .shape = {}, .agent = running_, .program = now_, .segment = SegmentOf(now_)};
  core.shape.assign(memory_->ShapeOf(buffer).begin(), memory_->ShapeOf(buffer).end());
  core.stored.assign(ElementsOf(core.shape), kNone);
  return core;
}

void InputBlocks::Put(Core& core, const Index& at) {
  core.block = &blocks_[{core.operand, at}];
  core.block->left.resize(core.stored.size());
  core.block->taken.resize(core.stored.size());
}

void InputBlocks::ProgramBegan(Frame& frame) {
  for (std::size_t i = 0; i < program_.operand_infos.size(); ++i) {
    const OperandInfo& info = program_.operand_infos[i];
    const BufferId buffer = IsScratch(info) ? frame.ref(info.ref).buffer : BufferId();
    if (!buffer.valid() || Find(buffer) != nullptr) continue;
    Core core = MakeCore(i, buffer);
    core.scratch = true;
    tasks_.insert({i, TaskOf(core.program)});
    Put(core, {});
    cores_.emplace(buffer.value, std::move(core));
  }
}

// A fetch: whatever was stored in the block before is gone.
void InputBlocks::Issued(const Who& who, const AsyncRequest& request) {
  if (!who.at_once && request.block == nullptr) return;
  const auto operand = operand_of_.find(request.sources[0].buffer().value);
  const BoxAccess* const from = std::get_if<BoxAccess>(&request.sources[0].where);
  if (operand == operand_of_.end() || from == nullptr) return;
  const BufferId to = request.destinations[0].buffer();
  Filling fetch{.operand = operand->second,
                .buffer = to,
                .at = Index(from->start.begin(), from->start.begin() + from->rank),
                .program = now_};
  if (who.at_once) {
    filling_ = to;
    return Fill(fetch);
  }
  copies_.insert(who.operation);
  fetch.program = request.block->program;
  fetch.program == now_ ? Fill(fetch) : coming_.push_back(std::move(fetch));
}

// A core has one block of an operand at a time; with two buffers, now in one and now in the other.
void InputBlocks::Fill(const Filling& fetch) {
  Core* core = Find(fetch.buffer);
  for (auto at = cores_.begin(); core == nullptr && at != cores_.end(); ++at) {
    if (at->second.scratch || at->second.operand != fetch.operand || at->second.agent != running_) continue;
    auto moved = cores_.extract(at);
    moved.key() = fetch.buffer.value;
    core = &cores_.insert(std::move(moved)).position->second;
  }
  if (core == nullptr) {
    core = &cores_.emplace(fetch.buffer.value, MakeCore(fetch.operand, fetch.buffer)).first->second;
    core->begins = core->first_block = true;
  }
  Forget(*core);
  core->first_block &= core->begins;
  Put(*core, fetch.at);
}

InputBlocks::Core* InputBlocks::Find(BufferId buffer) {
  const auto core = cores_.find(buffer.value);
  return core == cores_.end() ? nullptr : &core->second;
}

void InputBlocks::Forget(Core& core) {
  for (const std::int64_t element : core.touched) core.stored[static_cast<std::size_t>(element)] = kNone;
  core.touched.clear();
}

// A segment that begins with this block may see what was stored in it.
void InputBlocks::Leave(Core& core) {
  for (const std::int64_t element : core.touched) {
    const auto e = static_cast<std::size_t>(element);
    const Records& taken = core.block->taken[e];
    for (const std::int32_t read : {taken.a, taken.b}) Meet(core, element, core.stored[e], read);
    Add(&core.block->left[e], core.stored[e]);
  }
  Forget(core);
}

std::int32_t InputBlocks::RecordOf(const Core& core, const Access& access) {
  for (std::size_t i = records_.size(); i-- > 0;) {
    const Record& known = records_[i];
    if (known.access.kind == access.kind && known.access.loc == access.site.loc &&
        known.access.text_line == access.site.text_line && known.access.program == core.program)
      return static_cast<std::int32_t>(i);
    if (records_.size() - i > 16) break;  // of the same program, if at all
  }
  records_.push_back({.segment = core.scratch ? TaskOf(core.program) : core.segment,
                      .access = {.kind = access.kind,
                                 .program = core.program,
                                 .box = access.box,
                                 .loc = access.site.loc,
                                 .text_line = access.site.text_line}});
  return static_cast<std::int32_t>(records_.size() - 1);
}

void InputBlocks::Add(Records* records, std::int32_t record) const {
  const auto segment = [&](std::int32_t number) -> const Index& {
    return records_[static_cast<std::size_t>(number)].segment;
  };
  if (records->a == kNone) {
    records->a = record;
  } else if (records->b == kNone && segment(records->a) != segment(record)) {
    records->b = record;
  }
}

void InputBlocks::Touch(Core& core, std::int32_t record, AccessKind kind, std::int64_t element) {
  const auto e = static_cast<std::size_t>(element);
  if (kind != AccessKind::kWrite && core.first_block && core.stored[e] == kNone) {
    const Records& left = core.block->left[e];
    for (const std::int32_t stored : {left.a, left.b}) Meet(core, element, stored, record);
    Add(&core.block->taken[e], record);
  }
  if (kind == AccessKind::kRead) return;
  if (core.stored[e] == kNone) core.touched.push_back(element);
  core.stored[e] = record;
  if (!core.scratch) return;
  const Records& taken = core.block->taken[e];
  for (const std::int32_t read : {taken.a, taken.b}) Meet(core, element, record, read);
  Add(&core.block->left[e], record);
}

void InputBlocks::Meet(const Core& core, std::int64_t element, std::int32_t stored, std::int32_t read) {
  if (stored == kNone || read == kNone) return;
  const Record &store = records_[static_cast<std::size_t>(stored)], &load = records_[static_cast<std::size_t>(read)];
  if (store.segment == load.segment) return;
  const auto same = [](const memory_model::WitnessAccess& x, const memory_model::WitnessAccess& y) {
    return x.loc == y.loc && x.text_line == y.text_line;
  };
  for (HandedBlock& known : handed_) {
    if (known.operand != core.operand || !same(known.stored, store.access) || !same(known.read, load.access)) continue;
    known.pairs.emplace(stored, read);
    return;
  }
  handed_.push_back({.operand = core.operand,
                     .element = IndexText(core.shape, element),
                     .stored = store.access,
                     .read = load.access,
                     .pairs = {{stored, read}}});
}

void InputBlocks::Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                      const std::byte*) {
  if (who.of_operation() && copies_.contains(who.operation)) return;
  if (access.buffer == filling_) {  // the fetch itself
    filling_ = BufferId();
    return;
  }
  Core* const core = Find(access.buffer);
  memory_model::ElementBox box;
  if (core == nullptr || memory_model::ExtentOf(access, reach, &box) == memory_model::Extent::kNothing) return;
  const std::int32_t record = RecordOf(*core, {kind, access.site, memory_model::ToString(box)});
  memory_model::VisitElements(access, reach, memory_->ShapeOf(access.buffer),
                              [&](std::int64_t element, std::int64_t) { Touch(*core, record, kind, element); });
}

void InputBlocks::Points(const Who&, AccessKind kind, const PointAccess& access, const std::byte*) {
  Core* const core = Find(access.buffer);
  if (core == nullptr) return;
  const std::int64_t bytes = memory_->ElementSizeOf(access.buffer).value();
  const std::int32_t record = RecordOf(*core, {kind, access.site, "some elements"});
  memory_model::VisitBytes(access, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t e = first / bytes; e * bytes < last; ++e) Touch(*core, record, kind, e);
  });
}

}  // namespace palladion::launch
