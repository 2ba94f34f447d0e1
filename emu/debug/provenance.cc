#include "emu/debug/provenance.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "semantics/ops/attrs.h"
#include "semantics/ops/op_row.h"

namespace palladion {
namespace {

std::size_t CountInit(const Instr& loop) {
  return static_cast<std::size_t>(
      std::count_if(loop.args.begin(), loop.args.end(), [](const Arg& arg) { return arg.name == "init"; }));
}

// What its regions return is what it gives; run_state's results are what its refs hold.
bool ReturnsOfRegions(const Instr& instr) { return !instr.regions.empty() && instr.name != "run_state"; }

AccessBox BoxOf(const BoxAccess& access, const Memory& memory) {
  AccessBox box;
  const auto rank = static_cast<std::size_t>(access.rank);
  box.start.assign(access.start.begin(), access.start.begin() + access.rank);
  box.count.assign(access.count.begin(), access.count.begin() + access.rank);
  box.step.assign(access.step.begin(), access.step.begin() + access.rank);
  box.order.assign(access.order.begin(), access.order.begin() + access.value_rank);
  const auto shape = memory.ShapeOf(access.buffer);
  box.size.assign(shape.begin(), shape.end());
  box.size.resize(rank);
  return box;
}

std::size_t CountLanes(const BoxAccess& access) {
  std::size_t lanes = 1;
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d)
    lanes *= static_cast<std::size_t>(access.count[d]);
  return lanes;
}

}  // namespace

std::int64_t AccessBox::ValueAt(const std::vector<std::int64_t>& index) const {
  std::vector<std::int64_t> at(start.size());
  for (std::size_t d = 0; d < start.size(); ++d) {
    const std::int64_t distance = index[d] - start[d];
    if (step[d] == 0 ? distance != 0 : distance % step[d] != 0) return -1;
    at[d] = step[d] == 0 ? 0 : distance / step[d];
    if (at[d] < 0 || at[d] >= count[d]) return -1;
  }
  std::int64_t element = 0;
  for (std::uint8_t d : order) element = element * count[d] + at[d];
  return element;
}

std::vector<std::int64_t> AccessBox::IndexAt(std::int64_t element) const {
  std::vector<std::int64_t> index = start;
  for (std::size_t j = order.size(); j-- > 0;) {
    const std::size_t d = order[j];
    index[d] += element % count[d] * step[d];
    element /= count[d];
  }
  return index;
}

Provenance::Provenance(const PreparedKernelState& kernel, std::size_t value_bytes, std::int64_t only)
    : state_(kernel), kernel_(KernelOf(kernel)), value_bytes_left_(value_bytes), only_(only) {
  source_of_.resize(kernel_.values.size());
  of_operand_.resize(kernel.program().operand_infos.size());
}

void Provenance::Bound(Memory& memory, absl::Span<const BufferId> arrays) {
  memory_ = &memory;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (!arrays[i].valid()) continue;
    const OperandInfo& info = state_.program().operand_infos[i];
    of_operand_[i] = MemoryOf(arrays[i]);
    RecordedMemory& recorded = memories_[of_operand_[i]];
    if (recorded.is_input) continue;  // an output in an input's memory
    recorded.operand = static_cast<int>(i);
    if (info.role != Role::kScratch) recorded.name = kernel_.values[kernel_.operands[i].value.index()].name;
    if (info.role != Role::kIn && info.role != Role::kPrefetch) continue;
    recorded.is_input = true;
    recorded.first.assign(memory.DataOf(arrays[i]), memory.DataOf(arrays[i]) + ByteSize(info.type));
  }
}

std::size_t Provenance::MemoryOf(BufferId buffer) {
  const auto [found, is_new] = current_.emplace(buffer.value, memories_.size());
  if (is_new) {
    const auto shape = memory_->ShapeOf(buffer);
    memories_.push_back({.name = std::string(memory_->NameOf(buffer)),
                         .shape = Shape(shape.begin(), shape.end()),
                         .dtype = memory_->DTypeOf(buffer),
                         .element_bytes = memory_->ElementBytesOf(buffer),
                         .first = {},
                         .writes = {}});
  }
  return found->second;
}

std::int64_t Provenance::Add(RecordedAccess access) {
  const auto number = static_cast<std::int64_t>(accesses_.size());
  if (access.kind != RecordedAccess::Kind::kRead) memories_[access.memory].writes.push_back(number);
  if (access.node >= 0) program().nodes[static_cast<std::size_t>(access.node)].access.push_back(number);
  accesses_.push_back(std::move(access));
  return number;
}

RecordedAccess Provenance::Here(AccessKind kind, BufferId buffer, const Site& site) {
  RecordedAccess access{
      .memory = MemoryOf(buffer), .loc = site.loc, .box = {}, .source_box = {}, .offsets = {}, .lanes = {}};
  access.kind = kind == AccessKind::kRead     ? RecordedAccess::Kind::kRead
                : kind == AccessKind::kAtomic ? RecordedAccess::Kind::kAtomic
                                              : RecordedAccess::Kind::kWrite;
  access.program = programs_.empty() ? 0 : programs_.size() - 1;
  if (!open_.empty()) access.node = open_.back().node;
  return access;
}

void Provenance::Poison(BufferId buffer) {
  if (memory_ == nullptr || !current_.contains(buffer.value)) return;  // new memory is poison anyway
  RecordedAccess access = Here(AccessKind::kWrite, buffer, {});
  access.kind = RecordedAccess::Kind::kPoison;
  access.node = -1;
  Add(std::move(access));
}

void Provenance::StartCopy(const CopyRequest& request) {
  copy_sides_ = 2;
  RecordedAccess access = Here(AccessKind::kWrite, request.destination.buffer, request.destination.site);
  access.kind = RecordedAccess::Kind::kCopy;
  access.node = -1;
  access.box = BoxOf(request.destination, *memory_);
  access.source = MemoryOf(request.source.buffer);
  access.source_box = BoxOf(request.source, *memory_);
  Add(std::move(access));
}

void Provenance::Box(AccessKind kind, const BoxAccess& access, const BoxReach&, const std::byte*) {
  if (copy_sides_ > 0) {
    --copy_sides_;
    return;
  }
  RecordedAccess recorded = Here(kind, access.buffer, access.site);
  recorded.box = BoxOf(access, *memory_);
  if (access.mask.lanes != nullptr) recorded.lanes.assign(access.mask.lanes, access.mask.lanes + CountLanes(access));
  Add(std::move(recorded));
}

void Provenance::Points(AccessKind kind, const PointAccess& access, const std::byte*) {
  RecordedAccess recorded = Here(kind, access.buffer, access.site);
  recorded.is_points = true;
  recorded.offsets.assign(access.offset.begin(), access.offset.end());
  recorded.piece_bytes = access.piece_bytes;
  recorded.pieces_per_element = access.pieces_per_element;
  if (access.mask.lanes != nullptr) {
    recorded.lanes.assign(access.mask.lanes, access.mask.lanes + access.offset.size() / access.pieces_per_element);
  }
  Add(std::move(recorded));
}

ValueSource Provenance::SourceOf(const Arg& arg) const {
  if (arg.kind == Arg::Kind::kValue) return source_of_[arg.value.index()];
  return {.constant = &arg};
}

void Provenance::Define(ValueId value, ValueSource source) {
  if (value.valid()) source_of_[value.index()] = source;
}

std::size_t Provenance::Keep(const std::byte* value, std::size_t bytes) {
  ProgramRecord& record = program();
  if (!record.has_values) return kNoValue;
  if (bytes > value_bytes_left_) {
    record.has_values = false;
    record.bytes = {};
    value_bytes_left_ = 0;
    return kNoValue;
  }
  value_bytes_left_ -= bytes;
  const std::size_t at = record.bytes.size();
  record.bytes.insert(record.bytes.end(), value, value + bytes);
  return at;
}

void Provenance::StartProgram(const Frame& frame) {
  open_.clear();
  if (!programs_.empty() && programs_.back().index == frame.grid_index) return;
  const bool wanted = only_ < 0 ? value_bytes_left_ > 0 : static_cast<std::int64_t>(programs_.size()) == only_;
  programs_.push_back({.index = frame.grid_index, .nodes = {}, .bytes = {}, .has_values = wanted});
}

void Provenance::After(const Step& step, Frame& frame) {
  const Mark* mark = MarkOf(step);
  if (mark == nullptr) return;
  if (mark->kind == Mark::Kind::kEnter && mark->instr == nullptr) StartProgram(frame);
  walk_.Pass(*mark);
  switch (mark->kind) {
    case Mark::Kind::kBegin:
      open_.push_back({.node = static_cast<std::int32_t>(program().nodes.size()), .returned = {}, .turns = {}});
      program().nodes.push_back(
          {.instr = mark->instr, .iterations = {}, .in = {}, .types = mark->instr->types, .values = {}, .access = {}});
      return;
    case Mark::Kind::kEnter:
      BindParams(*mark);
      return;
    case Mark::Kind::kLeave:
      Leave(*mark);
      return;
    case Mark::Kind::kFinish:
      Finish(*mark, frame);
      open_.pop_back();
      return;
  }
}

void Provenance::BindParams(const Mark& mark) {
  const Region& region = *mark.region;
  if (mark.instr == nullptr) {
    for (const Param& param : region.params) Define(param.value, {});
    return;
  }
  const Instr& instr = *mark.instr;
  const MarkWalk::Level& level = walk_.levels().back();
  const bool loop = IsLoop(instr);
  const std::size_t carries = loop ? CountInit(instr) : 0;
  for (std::size_t i = 0; i < region.params.size(); ++i) {
    if (loop && i < carries) {
      const std::vector<ValueSource>& returned = open_.back().returned;
      Define(region.params[i].value, returned.empty() ? SourceOf(instr.args[i]) : returned[i]);
    } else if (loop) {
      const std::int64_t turn = level.entered[level.region] - 1;
      const bool reverse = BoolAttrOr(instr, "reverse", false);
      ProvenanceNode node{.kind = ProvenanceNode::Kind::kElement,
                          .instr = &instr,
                          .iterations = {},
                          .in = {},
                          .values = {},
                          .access = {}};
      node.in = {SourceOf(instr.args[i])};
      node.element = reverse ? Int(instr, "length") - 1 - turn : turn;
      node.types = {kernel_.values[region.params[i].value.index()].type};
      program().nodes.push_back(std::move(node));
      Define(region.params[i].value, {.node = static_cast<std::int32_t>(program().nodes.size() - 1)});
    } else if (region.params.size() == instr.args.size()) {
      Define(region.params[i].value, SourceOf(instr.args[i]));
    }
  }
}

void Provenance::Leave(const Mark& mark) {
  if (mark.instr == nullptr) return;
  const bool condition = mark.instr->name == "while" && mark.region == mark.instr->regions.data();
  if (condition) return;
  Open& open = open_.back();
  open.returned.clear();
  for (const Arg& result : mark.region->results) open.returned.push_back(SourceOf(result));
  if (mark.instr->name == "scan") open.turns.push_back(open.returned);
}

void Provenance::FinishControl(const Mark& mark, Frame&) {
  const Instr& instr = *mark.instr;
  const Open& open = open_.back();
  const std::size_t carries = IsLoop(instr) ? CountInit(instr) : instr.results.size();
  for (std::size_t i = 0; i < instr.results.size(); ++i) {
    if (i < carries) {
      Define(instr.results[i], open.returned.empty() ? SourceOf(instr.args[i]) : open.returned[i]);
      continue;
    }
    ProvenanceNode node{
        .kind = ProvenanceNode::Kind::kStack, .instr = &instr, .iterations = {}, .in = {}, .values = {}, .access = {}};
    for (const std::vector<ValueSource>& turn : open.turns) node.in.push_back(turn[i]);
    if (BoolAttrOr(instr, "reverse", false)) std::reverse(node.in.begin(), node.in.end());
    node.types = {instr.types[i]};
    program().nodes.push_back(std::move(node));
    Define(instr.results[i], {.node = static_cast<std::int32_t>(program().nodes.size() - 1)});
  }
}

void Provenance::Finish(const Mark& mark, Frame& frame) {
  const Instr& instr = *mark.instr;
  const std::int32_t number = open_.back().node;
  program().nodes[static_cast<std::size_t>(number)].iterations = walk_.Iterations();
  if (ReturnsOfRegions(instr)) return FinishControl(mark, frame);
  std::vector<ValueSource> in;
  for (const Arg& arg : instr.args) {
    const bool is_ref = arg.kind == Arg::Kind::kValue && kernel_.values[arg.value.index()].type.is_ref();
    in.push_back(is_ref || arg.kind == Arg::Kind::kNone ? ValueSource{} : SourceOf(arg));
  }
  std::vector<std::size_t> values;
  for (std::size_t r = 0; r < mark.out.size(); ++r) {
    const bool has = mark.out[r].slot.valid();
    values.push_back(has ? Keep(frame.slot(mark.out[r].slot), ByteSize(instr.types[r])) : kNoValue);
    Define(mark.out[r].value, {.node = number, .result = static_cast<std::int32_t>(r)});
  }
  ProvenanceNode& node = program().nodes[static_cast<std::size_t>(number)];
  node.in = std::move(in);
  node.values = std::move(values);
}

}  // namespace palladion
