#include "emu/tools/debug/why.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "emu/run/launch/launch.h"
#include "emu/run/watch/element_sources.h"
#include "emu/tools/debug/element_query.h"
#include "emu/tools/debug/provenance.h"
#include "memory_model/bytes/origin.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/agent_naming.h"
#include "semantics/program/builder.h"
#include "semantics/registry/op_row.h"
#include "semantics/tensor/element_index.h"

namespace palladion::debug {
namespace {

using Index = ElementIndex;

class Explainer {
 public:
  Explainer(const PreparedKernel& kernel, absl::Span<const Tensor> inputs, const WhyOptions& options)
      : prepared_(kernel), state_(kernel.state()), kernel_(kernel.state().text()), inputs_(inputs), options_(options) {}

  absl::StatusOr<std::string> Run(const std::string& element) {
    PALLADION_ASSIGN_OR_RETURN(const ElementQuery query, FindElement(prepared_, element));
    PALLADION_ASSIGN_OR_RETURN(const Recording recorded, Record(RecordId{}));
    whole_ = recorded.what;
    Type type = state_.program().operand_infos[query.operand].type;
    type.shape = CallerShape(state_.program(), type);
    const std::string value =
        watch::ElementValueText(type, recorded.outputs[query.output].bytes(), FlatElement(query.index, type.shape));
    const bool several = state_.program().several_devices();
    const std::int64_t device = several ? query.index[0] : 0;
    const ElementIndex there(query.index.begin() + (several ? 1 : 0), query.index.end());
    Say(0, Cat(NamedElement(prepared_.outputs()[query.output].name, query.index), " = ", value, ": ", ToString(type)));
    PALLADION_RETURN_IF_ERROR(InMemory(whole_->MemoryOfOperand(query.operand, device), there,
                                       static_cast<std::int64_t>(whole_->accesses().size()), 1));
    return std::move(text_);
  }

 private:
  struct Recording {
    std::shared_ptr<Provenance> what;
    std::vector<Tensor> outputs;
  };

  // One element of a result of a node, and the record of that node, which has its values.
  struct Made {
    RecordId id;
    const ProgramRecord& record;
    const ProvenanceNode& node;
    std::int32_t result = 0;
    std::int64_t element = 0;
  };

  absl::StatusOr<Recording> Record(RecordId only) const;
  absl::StatusOr<const ProgramRecord*> WithValues(RecordId id);

  absl::Status InMemory(std::size_t memory, const Index& index, std::int64_t before, int level);
  absl::Status Written(const RecordedAccess& access, std::int64_t number, const Index& index, std::int64_t value,
                       int level);
  absl::Status Read(std::int64_t number, std::int64_t element, int level);
  absl::Status ByEngine(const RecordedAccess& access, const std::string& to, std::int64_t value, int level);
  absl::Status Value(RecordId id, ValueSource source, std::int64_t element, int level);
  absl::Status Loaded(const Made& made, int level);
  absl::Status Computed(const Made& made, int level);

  const std::byte* Bytes(const ProgramRecord& record, ValueSource source) const;
  std::vector<std::byte> Assembled(const ProgramRecord& record, ValueSource source) const;
  Type TypeOfSource(const ProgramRecord& record, ValueSource source) const;
  std::string Place(const ProgramRecord& record, const ProvenanceNode& node) const;
  std::string NameOf(const ProvenanceNode& node, std::int32_t result) const;

  // False: the answer ends here.
  bool Deeper(int level);
  void Say(int level, const std::string& line) {
    if (++lines_ <= options_.lines) text_ += std::string(static_cast<std::size_t>(level) * 2, ' ') + line + "\n";
    if (lines_ == options_.lines + 1)
      text_ += "...: the answer has more lines than are shown; ask with a smaller --depth\n";
  }
  absl::Status SayLast(int level, const std::string& line) {
    Say(level, line);
    return absl::OkStatus();
  }

  const PreparedKernel& prepared_;
  const kernel::PreparedKernelState& state_;
  const Kernel& kernel_;
  absl::Span<const Tensor> inputs_;
  const WhyOptions& options_;
  std::shared_ptr<Provenance> whole_;
  std::map<RecordId, std::shared_ptr<Provenance>> again_;  // recorded for one program's values
  std::set<std::tuple<RecordId, std::int32_t, std::int32_t, std::int64_t>> shown_;
  std::size_t lines_ = 0;
  std::string text_;
};

absl::StatusOr<Explainer::Recording> Explainer::Record(RecordId only) const {
  Recording recording{.what = std::make_shared<Provenance>(state_, options_.value_bytes, only), .outputs = {}};
  Provenance& provenance = *recording.what;
  const agents::LaunchOptions launch{.run = options_.run, .observers = {&provenance}};
  PALLADION_ASSIGN_OR_RETURN(RunResult result, check::RunOrReplay(prepared_, inputs_, launch, options_.replayed));
  PALLADION_RETURN_IF_ERROR(launch::EndOf(result.report));
  recording.outputs = std::move(result.outputs);
  return recording;
}

absl::StatusOr<const ProgramRecord*> Explainer::WithValues(RecordId id) {
  if (const ProgramRecord& record = whole_->programs()[id.index()]; record.has_values) return &record;
  if (const auto found = again_.find(id); found != again_.end()) return &found->second->programs()[id.index()];
  again_.clear();
  PALLADION_ASSIGN_OR_RETURN(const Recording recorded, Record(id));
  const ProgramRecord& record = recorded.what->programs()[id.index()];
  if (!record.has_values) {
    return absl::ResourceExhaustedError(
        Cat(AgentName(NamingOf(state_.program()), record.index), " makes more than ", options_.value_bytes,
            " bytes of values, too many to be kept; use smaller shapes or fewer loop iterations"));
  }
  again_[id] = recorded.what;
  return &record;
}

bool Explainer::Deeper(int level) {
  if (lines_ > options_.lines) return false;
  if (level <= options_.depth) return true;
  Say(level, "... (--depth shows more)");
  return false;
}

std::string Explainer::Place(const ProgramRecord& record, const ProvenanceNode& node) const {
  std::string place = Cat(watch::OpName(*node.instr), ", line ", node.instr->text_line);
  const std::string source = watch::SourceText(state_.module(), node.instr->loc);
  if (!source.empty()) Append(&place, ", at ", source);
  if (!record.index.empty()) Append(&place, ", ", AgentName(NamingOf(state_.program()), record.index));
  if (!node.iterations.empty()) Append(&place, ", iteration ", node.iterations);
  return place;
}

std::string Explainer::NameOf(const ProvenanceNode& node, std::int32_t result) const {
  const ValueId id = node.instr->results.empty() ? ValueId{} : node.instr->results[static_cast<std::size_t>(result)];
  return id.valid() ? Cat("%", kernel_.values[id.index()].name) : "_";
}

Type Explainer::TypeOfSource(const ProgramRecord& record, ValueSource source) const {
  if (source.constant != nullptr) return TypeOf(kernel_, *source.constant);
  return record.nodes[static_cast<std::size_t>(source.node)].types[static_cast<std::size_t>(source.result)];
}

// What a loop stacks or takes apart has no value of its own here: nullptr.
const std::byte* Explainer::Bytes(const ProgramRecord& record, ValueSource source) const {
  if (source.constant != nullptr) {
    return source.constant->kind == Arg::Kind::kLiteral ? source.constant->literal.bytes.data()
                                                        : source.constant->dense->bytes();
  }
  const std::vector<std::size_t>& values = record.nodes[static_cast<std::size_t>(source.node)].values;
  const auto result = static_cast<std::size_t>(source.result);
  return result < values.size() && values[result] != kNoValue ? record.bytes.data() + values[result] : nullptr;
}

std::vector<std::byte> Explainer::Assembled(const ProgramRecord& record, ValueSource source) const {
  const Type type = TypeOfSource(record, source);
  if (const std::byte* bytes = Bytes(record, source)) return {bytes, bytes + ByteSize(type)};
  const ProvenanceNode& node = record.nodes[static_cast<std::size_t>(source.node)];
  std::vector<std::byte> value;
  if (node.kind == ProvenanceNode::Kind::kElement) {
    const std::vector<std::byte> whole = Assembled(record, node.in[0]);
    const auto first = whole.begin() + node.element * static_cast<std::ptrdiff_t>(ByteSize(type));
    return {first, first + static_cast<std::ptrdiff_t>(ByteSize(type))};
  }
  for (const ValueSource& part : node.in) {
    const std::vector<std::byte> bytes = Assembled(record, part);
    value.insert(value.end(), bytes.begin(), bytes.end());
  }
  return value;
}

absl::Status Explainer::InMemory(std::size_t memory, const Index& index, std::int64_t before, int level) {
  if (!Deeper(level)) return absl::OkStatus();
  const RecordedMemory& what = whole_->memories()[memory];
  auto end = std::lower_bound(what.writes.begin(), what.writes.end(), before);
  while (end != what.writes.begin()) {
    const std::int64_t number = *--end;
    const RecordedAccess& access = whole_->accesses()[static_cast<std::size_t>(number)];
    const std::int64_t value = whole_->ValueAt(access, index);
    if (value >= 0) return Written(access, number, index, value, level);
  }
  std::string text = NamedElement(what.name, index);
  if (what.is_input) {
    const Type type = state_.program().operand_infos[static_cast<std::size_t>(what.operand)].type;
    Say(level,
        Cat(text, " = ", watch::ElementValueText(type, what.first.data(), FlatElement(index, what.shape)), ": input"));
  } else {
    Say(level, Cat(text, ": never written: undefined"));
  }
  return absl::OkStatus();
}

absl::Status Explainer::Written(const RecordedAccess& access, std::int64_t number, const Index& index,
                                std::int64_t value, int level) {
  const std::string to = NamedElement(whole_->memories()[access.memory].name, index);
  if (access.kind == RecordedAccess::Kind::kPoison)
    return SayLast(level, Cat(to, ": never written since its block was new: undefined"));
  if (access.kind == RecordedAccess::Kind::kCopy) {
    const Index from = access.source_box.IndexAt(value);
    const RecordedMemory& source = whole_->memories()[access.source];
    if (!IndexInside(from, source.shape)) {
      Say(level, Cat(to, ": padding, outside ", source.name, ": undefined"));
      return absl::OkStatus();
    }
    Say(level, Cat(to, ": block copied from ", NamedElement(source.name, from)));
    return InMemory(access.source, from, access.read_at < 0 ? number : access.read_at, level + 1);
  }
  if (access.kind == RecordedAccess::Kind::kEngine) return ByEngine(access, to, value, level);
  PALLADION_ASSIGN_OR_RETURN(const ProgramRecord* record, WithValues(access.program));
  const ProvenanceNode& node = record->nodes[static_cast<std::size_t>(access.node)];
  Say(level, Cat(to, ": written by ", Place(*record, node)));
  const OpRow& row = *node.instr->row;
  std::vector<std::size_t> operands = {row.stored};
  if (row.allocates == Allocates::kState) {
    std::size_t nth = 0;
    for (std::int64_t other : node.access)
      nth += other < number && whole_->accesses()[static_cast<std::size_t>(other)].kind == access.kind;
    operands.clear();
    for (std::size_t i = 0; i < node.instr->args.size(); ++i) {
      if (node.instr->args[i].kind != Arg::Kind::kNone && nth-- == 0) operands = {i};
    }
  }
  for (std::size_t operand : operands) {
    if (operand < node.in.size()) PALLADION_RETURN_IF_ERROR(Value(access.program, node.in[operand], value, level + 1));
  }
  const bool updates = row.access == RefAccess::kAdd || access.kind == RecordedAccess::Kind::kAtomic;
  return updates ? InMemory(access.memory, index, number, level + 1) : absl::OkStatus();
}

absl::Status Explainer::Value(RecordId id, ValueSource source, std::int64_t element, int level) {
  if (!Deeper(level)) return absl::OkStatus();
  PALLADION_ASSIGN_OR_RETURN(const ProgramRecord* record, WithValues(id));
  if (source.constant != nullptr) {
    const Type type = TypeOf(kernel_, *source.constant);
    return SayLast(
        level, Cat("constant ", watch::ElementValueText(type, Bytes(*record, source), element), ": ", ToString(type)));
  }
  if (source.node < 0) return SayLast(level, "the program's index in the grid");
  const ProvenanceNode& node = record->nodes[static_cast<std::size_t>(source.node)];
  const Type& type = node.types[static_cast<std::size_t>(source.result)];
  if (node.kind == ProvenanceNode::Kind::kElement)
    return Value(id, node.in[0], node.element * NumElements(type.shape) + element, level);
  if (node.kind == ProvenanceNode::Kind::kStack) {
    const std::int64_t part = NumElements(type.shape) / std::max<std::int64_t>(1, type.shape[0]);
    return Value(id, node.in[static_cast<std::size_t>(element / part)], element % part, level);
  }
  const std::string line =
      Cat(NamedElement(NameOf(node, source.result), IndexOfElement(type.shape, element)), " = ",
          watch::ElementValueText(type, Bytes(*record, source), element), ": ", Place(*record, node));
  if (!shown_.emplace(id, source.node, source.result, element).second)
    return SayLast(level, Cat(line, " (shown above)"));
  Say(level, line);
  const Made made{id, *record, node, source.result, element};
  return node.instr->row->prepare != nullptr ? Computed(made, level + 1) : Loaded(made, level + 1);
}

absl::Status Explainer::Loaded(const Made& made, int level) {
  const auto& [id, record, node, result, element] = made;
  std::size_t reads = 0;
  for (std::int64_t number : node.access) {
    const RecordedAccess& access = whole_->accesses()[static_cast<std::size_t>(number)];
    if (access.kind != RecordedAccess::Kind::kRead && access.kind != RecordedAccess::Kind::kAtomic) continue;
    if (node.instr->row->allocates == Allocates::kState && reads++ != static_cast<std::size_t>(result)) continue;
    if (!access.lanes.empty() && access.lanes[static_cast<std::size_t>(element)] == 0) {
      for (std::size_t i = 0; i < node.in.size(); ++i) {
        const OpRow& row = *node.instr->row;
        const bool is_stored = row.access == RefAccess::kStore && i == row.stored;
        if (node.instr->args[i].name != "other" && !is_stored) continue;
        Say(level, "a lane masked off: its value is the operand's");
        const Type operand = TypeOfSource(record, node.in[i]);
        return Value(id, node.in[i],
                     BroadcastFrom(operand.shape, node.types[static_cast<std::size_t>(result)].shape, element), level);
      }
      Say(level, "a lane masked off, without `other`: undefined");
      return absl::OkStatus();
    }
    return Read(number, element, level);
  }
  return absl::OkStatus();  // program_id and friends: nothing behind them
}

absl::Status Explainer::Read(std::int64_t number, std::int64_t element, int level) {
  const RecordedAccess& access = whole_->accesses()[static_cast<std::size_t>(number)];
  const RecordedMemory& memory = whole_->memories()[access.memory];
  if (!access.is_points) {
    const Index index = access.box.IndexAt(element);
    if (IndexInside(index, memory.shape)) return InMemory(access.memory, index, number, level);
    return SayLast(level, Cat(NamedElement(memory.name, index), ": outside the array ", ToString(memory.shape),
                              access.by_engine ? ": filled in by the engine" : ": undefined"));
  }
  for (std::int64_t at : whole_->ElementsOf(access, element)) {
    if (at < 0) {
      Say(level, Cat("outside ", memory.name, access.by_engine ? ": filled in by the engine" : ": undefined"));
    } else {
      PALLADION_RETURN_IF_ERROR(InMemory(access.memory, IndexOfElement(memory.shape, at), number, level));
    }
  }
  return absl::OkStatus();
}

// Of a matrix product: its accumulator before, a row of a, a column of b. Of every other operation: the element of the
// source that stands where the destination's does, and what was there where the operation combines the two.
absl::Status Explainer::ByEngine(const RecordedAccess& access, const std::string& to, std::int64_t value, int level) {
  if (!access.program.valid() || access.node < 0)
    return SayLast(level, Cat(to, ": written by a copy that an earlier launch has started"));
  const ProvenanceNode& node = whole_->programs()[access.program.index()].nodes[static_cast<std::size_t>(access.node)];
  Say(level, Cat(to, ": written by an engine for ", Place(whole_->programs()[access.program.index()], node)));
  const std::vector<std::int64_t>& reads = access.sources;
  if (reads.empty()) return absl::OkStatus();
  const RecordedAccess& source = whole_->accesses()[static_cast<std::size_t>(reads[0])];
  if (node.instr->row->access == RefAccess::kCopy && source.places() != access.places()) {
    return SayLast(level + 1, Cat("bits of elements of ", whole_->memories()[source.memory].name,
                                  ", which a view of the copy shows as elements of another width"));
  }
  PALLADION_RETURN_IF_ERROR(Read(reads[0], value, level + 1));
  const bool multiplies = node.instr->row->access == RefAccess::kProduct;
  if (!multiplies) return reads.size() > 1 ? Read(reads[1], value, level + 1) : absl::OkStatus();
  if (reads.size() < 2 || access.box.order.empty() || !Deeper(level + 1)) return absl::OkStatus();
  const std::int64_t n = access.box.count[access.box.order.back()];
  const std::int64_t k = whole_->accesses()[static_cast<std::size_t>(reads[1])].elements.value() / n;
  const auto shown = std::min<std::int64_t>(k, static_cast<std::int64_t>(options_.shown));
  if (shown < k) Say(level + 1, Cat(k, " products, the first ", shown, " shown"));
  for (std::int64_t i = 0; i < shown; ++i) {
    const std::int64_t of_a = value / n * k + i;
    if (reads.size() > 2) {
      PALLADION_RETURN_IF_ERROR(Read(reads[2], of_a, level + 1));
    } else {  // a value
      for (std::size_t arg = 0; arg < node.in.size(); ++arg) {
        if (node.instr->args[arg].name == "a")
          PALLADION_RETURN_IF_ERROR(Value(access.program, node.in[arg], of_a, level + 1));
      }
    }
    PALLADION_RETURN_IF_ERROR(Read(reads[1], i * n + value % n, level + 1));
  }
  return absl::OkStatus();
}

absl::Status Explainer::Computed(const Made& made, int level) {
  const auto& [id, record, node, result, element] = made;
  ValueTypes types{.in = {}, .out = node.types, .target = state_.program().target};
  std::vector<const std::byte*> values;
  std::vector<std::vector<std::byte>> stacked;  // what a loop stacked or took apart
  for (const ValueSource& source : node.in) {
    const bool known = source.constant != nullptr || source.node >= 0;
    types.in.push_back(known ? TypeOfSource(record, source) : ArrayType(DType::kI32, {}));
    values.push_back(known ? Bytes(record, source) : nullptr);
    if (!known || values.back() != nullptr) continue;
    stacked.push_back(Assembled(record, source));
    values.back() = stacked.back().data();
  }
  if (node.in.empty()) return absl::OkStatus();
  PALLADION_ASSIGN_OR_RETURN(watch::ElementSources sources,
                             watch::ElementSources::Of(*node.instr, std::move(types), std::move(values)));
  const Flow flow = node.instr->row->flow;
  std::vector<std::vector<std::int64_t>> found;
  std::size_t most = 0;
  for (std::size_t i = 0; i < node.in.size(); ++i) {
    found.push_back(sources.In(i, static_cast<std::size_t>(result), element, options_.shown + 1));
    most = std::max(most, found.back().size());
  }
  if (!Deeper(level)) return absl::OkStatus();
  if (most > options_.shown) {
    const char* what = flow == Flow::kDot ? "products" : "elements";
    const std::int64_t all = sources.Count(*node.instr);
    Say(level, Cat(all > 0 ? Cat(all) : "many", " ", what, ", the first ", options_.shown, " shown"));
  }
  // Element by element, so that the factors of a product stand together.
  for (std::size_t k = 0; k < std::min(most, options_.shown); ++k) {
    for (std::size_t i = 0; i < node.in.size(); ++i) {
      if (k < found[i].size()) PALLADION_RETURN_IF_ERROR(Value(id, node.in[i], found[i][k], level));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> Why(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                const std::string& element, const WhyOptions& options) {
  return Explainer(kernel, inputs, options).Run(element);
}

}  // namespace palladion::debug
