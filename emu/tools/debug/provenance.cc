#include "emu/tools/debug/provenance.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "emu/tools/debug/element_query.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/op_row.h"
#include "semantics/tensor/element_index.h"

namespace palladion::debug {
namespace {

std::size_t CountInit(const Instr& loop) {
  return static_cast<std::size_t>(
      std::count_if(loop.args.begin(), loop.args.end(), [](const Arg& arg) { return arg.name == "init"; }));
}

// What its regions return is what it gives; run_state's results are what its refs hold.
bool ReturnsOfRegions(const Instr& instr) {
  return !instr.regions.empty() && instr.row->allocates != Allocates::kState;
}

ValueBox BoxOf(const BoxAccess& access, const memory_model::Memory& memory) {
  ValueBox box;
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

std::int64_t ValueBox::ValueAt(const std::vector<std::int64_t>& index) const {
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

std::vector<std::int64_t> ValueBox::IndexAt(std::int64_t element) const {
  std::vector<std::int64_t> index = start;
  for (std::size_t j = order.size(); j-- > 0;) {
    const std::size_t d = order[j];
    index[d] += element % count[d] * step[d];
    element /= count[d];
  }
  return index;
}

Provenance::Provenance(const kernel::PreparedKernelState& kernel, std::size_t value_bytes, RecordId only)
    : state_(kernel),
      kernel_(kernel.text()),
      value_bytes_left_(value_bytes),
      only_(only),
      agents_({.walk = {}, .program = {}, .open = {}, .source_of = std::vector<ValueSource>(kernel_.values.size())}) {
  of_operand_.resize(kernel.program().operand_infos.size() * static_cast<std::size_t>(kernel.program().devices));
}

void Provenance::Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
  memory_ = &memory;
  std::size_t* const of_operand = of_operand_.data() + bound_++ * arrays.size();
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (!arrays[i].valid()) continue;
    const OperandInfo& info = state_.program().operand_infos[i];
    of_operand[i] = MemoryOf(arrays[i]);
    RecordedMemory& recorded = memories_[of_operand[i]];
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
                         .element_size = memory_->ElementSizeOf(buffer),
                         .first = {},
                         .writes = {}});
  }
  return found->second;
}

std::int64_t Provenance::Add(RecordedAccess access) {
  const auto number = static_cast<std::int64_t>(accesses_.size());
  if (access.kind != RecordedAccess::Kind::kRead) memories_[access.memory].writes.push_back(number);
  if (access.node >= 0) At(access.program).nodes[static_cast<std::size_t>(access.node)].access.push_back(number);
  accesses_.push_back(std::move(access));
  return number;
}

RecordedAccess Provenance::Here(AccessKind kind, BufferId buffer, const Site& site) {
  RecordedAccess access{
      .memory = MemoryOf(buffer), .loc = site.loc, .box = {}, .source_box = {}, .offsets = {}, .lanes = {}};
  access.kind = kind == AccessKind::kRead     ? RecordedAccess::Kind::kRead
                : kind == AccessKind::kAtomic ? RecordedAccess::Kind::kAtomic
                                              : RecordedAccess::Kind::kWrite;
  if (const Agent* agent = agents_.current(); agent != nullptr) {
    access.program = agent->program;
    if (!agent->open.empty()) access.node = agent->open.back().node;
  }
  return access;
}

void Provenance::Poison(const Who&, BufferId buffer) {
  if (memory_ == nullptr || !current_.contains(buffer.value)) return;  // new memory is poison anyway
  RecordedAccess access = Here(AccessKind::kWrite, buffer, {});
  access.kind = RecordedAccess::Kind::kPoison;
  access.node = -1;
  Add(std::move(access));
}

RecordedAccess Provenance::CopyOf(const AsyncRequest& block) {
  const auto &from = std::get<BoxAccess>(block.sources[0].where),
             &to = std::get<BoxAccess>(block.destinations[0].where);
  RecordedAccess access = Here(AccessKind::kWrite, to.buffer, to.site);
  access.kind = RecordedAccess::Kind::kCopy;
  access.node = -1;
  access.box = BoxOf(to, *memory_);
  access.source = MemoryOf(from.buffer);
  access.source_box = BoxOf(from, *memory_);
  return access;
}

void Provenance::Issued(const Who& who, const AsyncRequest& request) {
  if (who.at_once) {
    Add(CopyOf(request));
  } else if (request.block != nullptr) {
    started_[who.operation] = {.program = {}, .reads = {}, .block = CopyOf(request)};
  } else {
    const Agent* const agent = agents_.current();
    if (agent == nullptr) return;  // an earlier launch has started it
    const std::int32_t node = agent->open.empty() ? -1 : agent->open.back().node;
    started_[who.operation] = {.program = agent->program, .node = node, .reads = {}, .block = {}};
  }
}

void Provenance::Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach&,
                     const std::byte*) {
  if (who.at_once) return;
  RecordedAccess recorded = Here(kind, access.buffer, access.site);
  recorded.box = BoxOf(access, *memory_);
  if (access.mask.lanes != nullptr) recorded.lanes.assign(access.mask.lanes, access.mask.lanes + CountLanes(access));
  recorded.elements = ElementCount(static_cast<std::int64_t>(CountLanes(access)));
  if (who.of_engine()) return AddEngine(who.operation, std::move(recorded));
  Add(std::move(recorded));
}

void Provenance::Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte*) {
  RecordedAccess recorded = Here(kind, access.buffer, access.site);
  recorded.is_points = true;
  recorded.offsets.assign(access.offset.begin(), access.offset.end());
  recorded.piece = ByteCount(static_cast<std::int64_t>(access.piece_bytes));
  recorded.pieces_per_element = access.pieces_per_element;
  if (access.mask.lanes != nullptr) {
    recorded.lanes.assign(access.mask.lanes, access.mask.lanes + access.offset.size() / access.pieces_per_element);
  }
  recorded.elements = ElementCount(static_cast<std::int64_t>(access.offset.size() / access.pieces_per_element));
  if (who.of_engine()) return AddEngine(who.operation, std::move(recorded));
  Add(std::move(recorded));
}

std::int64_t Provenance::ValueAt(const RecordedAccess& access, const std::vector<std::int64_t>& index) const {
  if (access.kind == RecordedAccess::Kind::kPoison) return 0;
  const RecordedMemory& memory = memories_[access.memory];
  std::int64_t element = -1;
  if (!access.is_points) {
    element = access.box.ValueAt(index);
  } else {
    const std::int64_t bytes = memory.element_size.value();
    const std::int64_t first = FlatElement(index, memory.shape) * bytes;
    for (std::size_t p = access.offsets.size(); p-- > 0 && element < 0;) {  // the last lane wins
      const std::int64_t offset = access.offsets[p];
      if (offset < 0 || offset >= first + bytes || offset + access.piece.value() <= first) continue;
      const std::size_t lane = p / access.pieces_per_element;
      if (access.lanes.empty() || access.lanes[lane] != 0) element = static_cast<std::int64_t>(lane);
    }
    return element;
  }
  if (element >= 0 && !access.lanes.empty() && access.lanes[static_cast<std::size_t>(element)] == 0) return -1;
  return element;
}

std::set<std::int64_t> Provenance::ElementsOf(const RecordedAccess& access, std::int64_t element) const {
  const std::size_t pieces = access.pieces_per_element;
  const std::int64_t bytes = memories_[access.memory].element_size.value();
  std::set<std::int64_t> elements;
  for (std::size_t p = 0; p < pieces; ++p) {
    const std::int64_t offset = access.offsets[static_cast<std::size_t>(element) * pieces + p];
    elements.insert(offset < 0 ? -1 : offset / bytes);
  }
  return elements;
}

// Reads come before writes.
void Provenance::AddEngine(AgentId operation, RecordedAccess access) {
  access.by_engine = true;
  Started& started = started_[operation];
  if (started.block.has_value()) {
    if (access.kind == RecordedAccess::Kind::kRead) {
      started.block->read_at = static_cast<std::int64_t>(accesses_.size());
    } else {
      Add(*std::move(started.block));
    }
    return;
  }
  if (access.kind == RecordedAccess::Kind::kRead) {
    started.reads.push_back(Add(std::move(access)));
    return;
  }
  access.kind = RecordedAccess::Kind::kEngine;
  access.program = started.program;
  access.node = started.node;
  access.sources = started.reads;
  Add(std::move(access));
}

void Provenance::HalfDone(const Who& who) {
  if (who.half == Half::kWrite) started_.erase(who.operation);
}

ValueSource Provenance::Agent::SourceOf(const Arg& arg) const {
  if (arg.kind == Arg::Kind::kValue) return source_of[arg.value.index()];
  return {.constant = &arg};
}

void Provenance::Agent::Define(ValueId value, ValueSource source) {
  if (value.valid()) source_of[value.index()] = source;
}

std::int32_t Provenance::AddNode(ProgramRecord& record, ProvenanceNode node) {
  record.nodes.push_back(std::move(node));
  return static_cast<std::int32_t>(record.nodes.size() - 1);
}

std::size_t Provenance::Keep(ProgramRecord& record, const std::byte* value, std::size_t bytes) {
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

RecordId Provenance::ProgramOf(const Frame& frame) {
  const RecordId next{static_cast<std::int32_t>(programs_.size())};
  const auto [found, is_new] = program_at_.emplace(frame.grid_index(), next);
  if (is_new) {
    const bool wanted = only_.valid() ? next == only_ : value_bytes_left_ > 0;
    programs_.push_back({.index = frame.grid_index(), .nodes = {}, .bytes = {}, .has_values = wanted});
  }
  return found->second;
}

void Provenance::After(const Step& step, Frame& frame) {
  agents_.After(step, frame, [&](const Mark& mark, Agent& agent) {
    switch (mark.kind) {
      case Mark::Kind::kBegin:
        agent.open.push_back({.node = AddNode(At(agent.program), {.instr = mark.instr,
                                                                  .iterations = {},
                                                                  .in = {},
                                                                  .types = mark.instr->types,
                                                                  .values = {},
                                                                  .access = {}}),
                              .returned = {},
                              .turns = {}});
        return;
      case Mark::Kind::kEnter:
        if (mark.instr == nullptr) agent.program = ProgramOf(frame);
        BindParams(mark, agent);
        return;
      case Mark::Kind::kLeave:
        Leave(mark, agent);
        return;
      case Mark::Kind::kFinish:
        Finish(mark, agent, frame);
        agent.open.pop_back();
        return;
    }
  });
}

void Provenance::BindParams(const Mark& mark, Agent& agent) {
  const Region& region = *mark.region;
  if (mark.instr == nullptr) {
    for (const Param& param : region.params) agent.Define(param.value, {});
    return;
  }
  const Instr& instr = *mark.instr;
  const watch::MarkWalk::Level& level = agent.walk.levels().back();
  const bool loop = IsLoop(*instr.row);
  const std::size_t carries = loop ? CountInit(instr) : 0;
  for (std::size_t i = 0; i < region.params.size(); ++i) {
    if (loop && i < carries) {
      const std::vector<ValueSource>& returned = agent.open.back().returned;
      agent.Define(region.params[i].value, returned.empty() ? agent.SourceOf(instr.args[i]) : returned[i]);
    } else if (loop) {
      const std::int64_t turn = level.entered[level.region] - 1;
      const bool reverse = BoolAttrOr(instr, "reverse", false);
      ProvenanceNode node{.kind = ProvenanceNode::Kind::kElement,
                          .instr = &instr,
                          .iterations = {},
                          .in = {},
                          .values = {},
                          .access = {}};
      node.in = {agent.SourceOf(instr.args[i])};
      node.element = reverse ? Int(instr, "length") - 1 - turn : turn;
      node.types = {kernel_.values[region.params[i].value.index()].type};
      agent.Define(region.params[i].value, {.node = AddNode(At(agent.program), std::move(node))});
    } else if (region.params.size() == instr.args.size()) {
      agent.Define(region.params[i].value, agent.SourceOf(instr.args[i]));
    }
  }
}

void Provenance::Leave(const Mark& mark, Agent& agent) {
  if (mark.instr == nullptr) return;
  const bool condition = mark.instr->row->loops == Loops::kWhile && mark.region == mark.instr->regions.data();
  if (condition) return;
  Open& open = agent.open.back();
  open.returned.clear();
  for (const Arg& result : mark.region->results) open.returned.push_back(agent.SourceOf(result));
  if (mark.instr->row->loops == Loops::kTurns) open.turns.push_back(open.returned);
}

void Provenance::FinishControl(const Mark& mark, Agent& agent) {
  const Instr& instr = *mark.instr;
  const Open& open = agent.open.back();
  const std::size_t carries = IsLoop(*instr.row) ? CountInit(instr) : instr.results.size();
  for (std::size_t i = 0; i < instr.results.size(); ++i) {
    if (i < carries) {
      agent.Define(instr.results[i], open.returned.empty() ? agent.SourceOf(instr.args[i]) : open.returned[i]);
      continue;
    }
    ProvenanceNode node{
        .kind = ProvenanceNode::Kind::kStack, .instr = &instr, .iterations = {}, .in = {}, .values = {}, .access = {}};
    for (const std::vector<ValueSource>& turn : open.turns) node.in.push_back(turn[i]);
    if (BoolAttrOr(instr, "reverse", false)) std::reverse(node.in.begin(), node.in.end());
    node.types = {instr.types[i]};
    agent.Define(instr.results[i], {.node = AddNode(At(agent.program), std::move(node))});
  }
}

void Provenance::Finish(const Mark& mark, Agent& agent, Frame& frame) {
  const Instr& instr = *mark.instr;
  ProgramRecord& record = At(agent.program);
  const std::int32_t number = agent.open.back().node;
  record.nodes[static_cast<std::size_t>(number)].iterations = agent.walk.Iterations();
  if (ReturnsOfRegions(instr)) return FinishControl(mark, agent);
  std::vector<ValueSource> in;
  for (const Arg& arg : instr.args) {
    const bool is_ref = arg.kind == Arg::Kind::kValue && kernel_.values[arg.value.index()].type.is_ref();
    in.push_back(is_ref || arg.kind == Arg::Kind::kNone ? ValueSource{} : agent.SourceOf(arg));
  }
  std::vector<std::size_t> values;
  for (std::size_t r = 0; r < mark.out.size(); ++r) {
    const bool has = mark.out[r].slot.valid();
    values.push_back(has ? Keep(record, frame.slot(mark.out[r].slot), ByteSize(instr.types[r])) : kNoValue);
    agent.Define(mark.out[r].value, {.node = number, .result = static_cast<std::int32_t>(r)});
  }
  ProvenanceNode& node = record.nodes[static_cast<std::size_t>(number)];
  node.in = std::move(in);
  node.values = std::move(values);
}

}  // namespace palladion::debug
