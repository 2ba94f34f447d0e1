#include "emu/tools/debug/run_stats.h"

#include <algorithm>

#include "memory_model/sets/region.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"
#include "semantics/base/text_table.h"
#include "semantics/program/builder.h"
#include "semantics/registry/op_row.h"

namespace palladion::debug {
namespace {

std::int64_t BytesOf(const Type& type) { return static_cast<std::int64_t>(ByteSize(type)); }

// The product of the contracted dimensions of the first operand.
std::int64_t ContractedElements(const Instr& instr, const Type& a) {
  const Attr* attr = Find(instr.attrs, "contract");
  const AttrList* pair = attr == nullptr ? nullptr : std::get_if<AttrList>(&attr->value);
  const AttrList* axes = pair == nullptr || pair->empty() ? nullptr : std::get_if<AttrList>(&(*pair)[0].value);
  std::int64_t elements = 1;
  if (axes == nullptr) return elements;
  for (const Attr& axis : *axes) elements *= a.shape[static_cast<std::size_t>(std::get<std::int64_t>(axis.value))];
  return elements;
}

// Arithmetic of one execution. Moves, selections and conversions are none; a comparison and every other elementwise
// operation is one for each element; a reduction one for each element that goes in; a contraction 2mnk.
std::int64_t Arithmetic(const Instr& instr, const Type& in, const Type& out) {
  const std::int64_t elements = NumElements(out.shape);
  switch (instr.row->flow) {
    case Flow::kElementwise:
    case Flow::kMask:
      return elements;
    case Flow::kReduce:
    case Flow::kPrefix:
      return NumElements(in.shape);
    case Flow::kDot:
      return 2 * elements * ContractedElements(instr, in);
    default:
      return 0;
  }
}

// What lives at one time in the scratch of a region: scopes one after another share memory.
void CountScopes(const Region& region, const Kernel& kernel, std::map<std::string, std::int64_t>& most) {
  for (const Instr& instr : region.body) {
    std::map<std::string, std::int64_t> here;
    for (const Region& inner : instr.regions) {
      std::map<std::string, std::int64_t> bytes;
      CountScopes(inner, kernel, bytes);
      if (HasScope(*instr.row)) {
        for (const Param& param : inner.params) {
          const Type& type = kernel.values[param.value.index()].type;
          bytes[std::string(Name(type.space))] += BytesOf(type);
        }
      }
      for (const auto& [space, count] : bytes) here[space] = std::max(here[space], count);
    }
    for (const auto& [space, count] : here) most[space] = std::max(most[space], count);
  }
}

std::string NumberText(std::int64_t n) { return n == 0 ? "-" : Cat(n); }

}  // namespace

RunStats::RunStats(const kernel::PreparedKernelState& kernel) : state_(kernel), kernel_(kernel.text()) {
  for (const OperandInfo& info : kernel.program().operand_infos)
    operands_.push_back({.name = info.name, .role = std::string(Name(info.role))});
  CountSpaces();
}

// Arrays of operands are wherever the launch has them; blocks and scratch are where their refs say, or where the
// backend puts what does not say.
void RunStats::CountSpaces() {
  const TargetBackend backend = state_.program().target.backend;
  const std::string unsaid = backend == TargetBackend::kMosaicTpu ? "vmem" : "smem";
  std::int64_t arrays = 0;
  std::map<std::string, std::int64_t> spaces;
  std::size_t param = 0;
  for (const OperandInfo& info : state_.program().operand_infos) {
    if (info.role == Role::kBound) continue;
    const Type& ref = kernel_.values[kernel_.bodies[0].region.params[param++].value.index()].type;
    if (info.role != Role::kScratch) arrays += BytesOf(info.type);
    if (info.role == Role::kScratch || info.mode == BlockMode::kResident)
      spaces[std::string(Name(ref.space))] += BytesOf(ref);
  }
  std::map<std::string, std::int64_t> scopes;
  CountScopes(kernel_.bodies[0].region, kernel_, scopes);
  for (const auto& [space, bytes] : scopes) spaces[space] += bytes;
  if (const auto found = spaces.find("default"); found != spaces.end()) {
    spaces[unsaid] += found->second;
    spaces.erase("default");
  }
  space_bytes_.emplace_back("arrays", arrays);
  space_bytes_.insert(space_bytes_.end(), spaces.begin(), spaces.end());
}

void RunStats::Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
  memory_ = &memory;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const OperandInfo& info = state_.program().operand_infos[i];
    if (!arrays[i].valid() || info.role == Role::kScratch) continue;
    // An output may share an input's memory: reads are the input's, writes the output's.
    reads_of_.emplace(arrays[i].value, i);
    if (info.role == Role::kOut) {
      writes_of_[arrays[i].value] = i;
    } else {
      writes_of_.emplace(arrays[i].value, i);
    }
  }
}

void RunStats::Running(const RunningAgent& now) { programs_ += now.begins ? 1 : 0; }

void RunStats::Issued(const Who& who, const AsyncRequest& request) {
  if (!who.at_once && request.block == nullptr) return;
  if (!who.at_once) blocks_.insert(who.operation);
  if (const auto from = reads_of_.find(request.sources[0].buffer().value); from != reads_of_.end())
    ++operands_[from->second].fetched;
  if (const auto to = writes_of_.find(request.destinations[0].buffer().value); to != writes_of_.end())
    ++operands_[to->second].flushed;
}

void RunStats::Count(const Who& who, AccessKind kind, BufferId buffer, std::int64_t bytes) {
  const auto& side = kind == AccessKind::kRead ? reads_of_ : writes_of_;
  if (const auto operand = side.find(buffer.value); operand != side.end()) {
    OperandStats& stats = operands_[operand->second];
    (kind == AccessKind::kRead ? stats.bytes_read : stats.bytes_written) += bytes;
    if (kind == AccessKind::kAtomic) stats.bytes_read += bytes;
  }
  if (who.at_once || blocks_.contains(who.operation)) return;  // a block
  if (kind == AccessKind::kAtomic) {
    ++atomics_;
  } else {
    ++(kind == AccessKind::kRead ? loads_ : stores_);
    (kind == AccessKind::kRead ? loaded_bytes_ : stored_bytes_) += bytes;
  }
}

void RunStats::Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                   const std::byte*) {
  std::int64_t elements = watch::ElementsOf(access, reach);
  if (access.mask.lanes != nullptr && elements > 0) {
    std::int64_t lanes = 1;
    for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) lanes *= access.count[d];
    elements = std::min<std::int64_t>(
        elements, lanes - std::count(access.mask.lanes, access.mask.lanes + lanes, std::uint8_t{0}));
  }
  Count(who, kind, access.buffer, elements * memory_->ElementSizeOf(access.buffer).value());
}

void RunStats::Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte*) {
  std::int64_t pieces = 0;
  for (std::size_t p = 0; p < access.offset.size(); ++p) {
    pieces += memory_model::Touches(access, p);
  }
  Count(who, kind, access.buffer, pieces * static_cast<std::int64_t>(access.piece_bytes));
}

void RunStats::After(const Step& step, Frame&) {
  const Mark* mark = MarkOf(step);
  if (mark != nullptr && mark->kind == Mark::Kind::kFinish) CountOp(*mark->instr);
}

void RunStats::CountOp(const Instr& instr) {
  OpStats& stats = ops_[watch::OpName(instr)];
  ++stats.runs;
  for (const Type& type : instr.types) stats.elements += type.is_ref() ? 0 : NumElements(type.shape);
  if (instr.row->prepare == nullptr || instr.args.empty() || instr.types.empty()) return;
  const Type in = TypeOf(kernel_, instr.args.back());
  const std::int64_t arithmetic = Arithmetic(instr, TypeOf(kernel_, instr.args[0]), instr.types[0]);
  if (!IsFloat(in.dtype)) {
    stats.integer_ops += arithmetic;
  } else {
    (instr.row->unit == Unit::kTranscendental ? stats.transcendentals : stats.flops) += arithmetic;
  }
}

RunStats::OpStats RunStats::total() const {
  OpStats total;
  for (const auto& [name, stats] : ops_) {
    total.runs += stats.runs;
    total.elements += stats.elements;
    total.flops += stats.flops;
    total.transcendentals += stats.transcendentals;
    total.integer_ops += stats.integer_ops;
  }
  return total;
}

std::string RunStats::Text() const {
  const OpStats all = total();
  std::string text = Cat("stats: ", programs_, programs_ == 1 ? " program, " : " programs, ", all.runs,
                         " instructions, ", all.flops, " flops, ", all.transcendentals, " transcendentals, ",
                         all.integer_ops, " integer operations\n  ", loads_, " loads of ", loaded_bytes_, " bytes, ",
                         stores_, " stores of ", stored_bytes_, " bytes, ", atomics_, " atomics\n");
  std::vector<std::vector<std::string>> rows = {{"space", "bytes"}};
  for (const auto& [space, bytes] : space_bytes_) rows.push_back({space, Cat(bytes)});
  text += TextTable(rows);
  rows = {{"operand", "role", "read", "written", "fetched", "kept", "flushed"}};
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const OperandInfo& info = state_.program().operand_infos[i];
    if (info.role == Role::kBound || info.role == Role::kScratch) continue;
    const OperandStats& o = operands_[i];
    const bool block = info.mode == BlockMode::kResident;
    const std::int64_t kept = block && info.role == Role::kIn ? programs_ - o.fetched : 0;
    rows.push_back({o.name, o.role, Cat(o.bytes_read), Cat(o.bytes_written), NumberText(block ? o.fetched : 0),
                    NumberText(kept), NumberText(block ? o.flushed : 0)});
  }
  text += TextTable(rows);
  rows = {{"operation", "runs", "elements", "flops", "transcendentals", "integer"}};
  for (const auto& [name, o] : ops_) {
    rows.push_back({name, Cat(o.runs), NumberText(o.elements), NumberText(o.flops), NumberText(o.transcendentals),
                    NumberText(o.integer_ops)});
  }
  return text + TextTable(rows);
}

std::string RunStats::Json() const {
  const OpStats all = total();
  std::string json = Cat("{\"programs\": ", programs_, ", \"flops\": ", all.flops,
                         ", \"transcendentals\": ", all.transcendentals, ", \"integer_ops\": ", all.integer_ops,
                         ", \"loads\": ", loads_, ", \"loaded_bytes\": ", loaded_bytes_, ", \"stores\": ", stores_,
                         ", \"stored_bytes\": ", stored_bytes_, ", \"atomics\": ", atomics_, ", \"spaces\": {");
  for (std::size_t i = 0; i < space_bytes_.size(); ++i)
    Append(&json, i == 0 ? "" : ", ", JsonString(space_bytes_[i].first), ": ", space_bytes_[i].second);
  json += "}, \"operands\": [";
  bool first = true;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const OperandInfo& info = state_.program().operand_infos[i];
    if (info.role == Role::kBound || info.role == Role::kScratch) continue;
    const OperandStats& o = operands_[i];
    const bool block = info.mode == BlockMode::kResident;
    Append(&json, first ? "" : ", ", "{\"name\": ", JsonString(o.name), ", \"role\": ", JsonString(o.role),
           ", \"bytes_read\": ", o.bytes_read, ", \"bytes_written\": ", o.bytes_written,
           ", \"fetched\": ", block ? o.fetched : 0,
           ", \"kept\": ", block && info.role == Role::kIn ? programs_ - o.fetched : 0,
           ", \"flushed\": ", block ? o.flushed : 0, "}");
    first = false;
  }
  json += "], \"operations\": [";
  first = true;
  for (const auto& [name, o] : ops_) {
    Append(&json, first ? "" : ", ", "{\"name\": ", JsonString(name), ", \"runs\": ", o.runs,
           ", \"elements\": ", o.elements, ", \"flops\": ", o.flops, ", \"transcendentals\": ", o.transcendentals,
           ", \"integer_ops\": ", o.integer_ops, "}");
    first = false;
  }
  return json + "]}";
}

}  // namespace palladion::debug
