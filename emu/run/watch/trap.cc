#include "emu/run/watch/trap.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "emu/run/launch/launch.h"
#include "emu/run/watch/element_sources.h"
#include "memory_model/bytes/origin.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"
#include "semantics/base/status.h"
#include "semantics/registry/op_row.h"
#include "semantics/tensor/element.h"
#include "semantics/tensor/element_index.h"

namespace palladion::watch {
namespace {

constexpr std::size_t kShownOperandElements = 3;

bool Is(TrapKind kind, double x) { return kind == TrapKind::kNaN ? std::isnan(x) : std::isinf(x); }

// The first of n elements that is one; n: none.
std::size_t FirstOf(TrapKind kind, DType dtype, const std::byte* data, std::size_t n, std::size_t from = 0) {
  return VisitDType(dtype, [&](auto tag) {
    using E = Element<decltype(tag)::value>;
    if constexpr (!E::kIsFloat) {
      return n;
    } else {
      const auto* elements = reinterpret_cast<const typename E::Storage*>(data);
      for (std::size_t i = from; i < n; ++i) {
        if (Is(kind, E::ToDouble(elements[i]))) return i;
      }
      return n;
    }
  });
}

}  // namespace

Trap::Trap(const kernel::PreparedKernelState& kernel, TrapKind kind)
    : state_(kernel), kernel_(kernel.text()), kind_(kind) {}

Trap::Bytes Trap::BadElements(const Type& type, const std::byte* value) const {
  const auto n = static_cast<std::size_t>(NumElements(type.shape));
  if (!type.is_array() || !IsFloat(type.dtype)) return {};
  std::size_t i = FirstOf(kind_, type.dtype, value, n);
  if (i == n) return {};
  Bytes bad(n);
  for (; i < n; i = FirstOf(kind_, type.dtype, value, n, i + 1)) bad[i] = 1;
  return bad;
}

void Trap::Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
  memory_ = &memory;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const OperandInfo& info = state_.program().operand_infos[i];
    if (!arrays[i].valid()) continue;
    bool& holds = holds_[arrays[i].value];
    const bool filled = info.role == Role::kIn || info.role == Role::kPrefetch;
    if (filled && info.type.is_ref() == false)
      holds = holds || !BadElements(info.type, memory.DataOf(arrays[i])).empty();
  }
}

// What is copied or stored after it was looked at is no news where it is read again.
void Trap::Issued(const Who& who, const AsyncRequest& request) {
  if (who.at_once) {
    bool& to = holds_[request.destinations[0].buffer().value];
    to = to || holds_[request.sources[0].buffer().value];
    return;
  }
  Agent* const agent = agents_.current();
  if (agent == nullptr || agent->open.empty() || !agent->open.back().product.has_value()) return;
  products_[who.operation] = *agent->open.back().product;
  agent->open.back().issued.push_back(who.operation);
}

void Trap::HalfDone(const Who& who) {
  if (who.half == Half::kWrite) products_.erase(who.operation);
}

void Trap::Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach&,
               const std::byte* value) {
  if (who.at_once) return;
  if (kind == AccessKind::kRead) {
    Read(who, access.buffer);
  } else if (value != nullptr) {
    std::size_t n = 1;
    for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d)
      n *= static_cast<std::size_t>(access.count[d]);
    const std::size_t first = FirstOf(kind_, memory_->DTypeOf(access.buffer), value, n);
    if (first == n) return;
    if (who.of_engine()) LookAtProduct(who.operation, access, value, first);
    holds_[access.buffer.value] = true;
  }
}

// What copies bring was there before; a product makes new values.
void Trap::LookAtProduct(AgentId operation, const BoxAccess& access, const std::byte* value, std::size_t element) {
  const auto found = products_.find(operation);
  if (found == products_.end() || found->second.read_holds || hit_.has_value()) return;
  const Product& product = found->second;
  Type type = ArrayType(memory_->DTypeOf(access.buffer), {});
  for (std::size_t j = 0; j < static_cast<std::size_t>(access.value_rank); ++j)
    type.shape.push_back(access.count[access.order[j]]);
  const auto at = static_cast<std::int64_t>(element);
  hit_ = TrapHit{.program = product.agent,
                 .iterations = product.iterations,
                 .op = OpName(*product.instr),
                 .source = SourceText(state_.module(), product.instr->loc),
                 .text_line = product.instr->text_line,
                 .frames = launch::FramesOf(state_.module(), product.instr->loc),
                 .result = Cat(std::string(memory_->NameOf(access.buffer)), IndexText(type.shape, at)),
                 .value = ElementValueText(type, value, at),
                 .operands = {}};
}

void Trap::Read(const Who& who, BufferId buffer) {
  if (who.of_engine()) {
    const auto product = products_.find(who.operation);
    if (product != products_.end() && holds_[buffer.value]) product->second.read_holds = true;
    return;
  }
  if (agents_.current() == nullptr || agents_.current()->open.empty()) return;
  Open& open = agents_.current()->open.back();
  open.reads = true;
  open.read_holds = open.read_holds || holds_[buffer.value];
}

void Trap::Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte*) {
  if (kind == AccessKind::kRead) {
    Read(who, access.buffer);
  } else {
    holds_[access.buffer.value] = true;  // not looked at: what is there may have come from anywhere
  }
}

void Trap::After(const Step& step, Frame& frame) {
  agents_.After(step, frame, [&](const Mark& mark, Agent& agent) {
    if (mark.kind == Mark::Kind::kBegin) {
      agent.open.emplace_back();
      if (mark.instr->row->access == RefAccess::kProduct)
        agent.open.back().product = {
            .instr = mark.instr, .agent = NameOfAgent(frame), .iterations = agent.walk.Iterations()};
    } else if (mark.kind == Mark::Kind::kFinish) {
      if (agent.open.back().product.has_value()) LookAtFactors(mark, agent, frame);
      if (!hit_.has_value() && status_.ok()) Look(mark, agent, frame);
      agent.open.pop_back();
    }
  });
}

// What is a value, as `a` may be, is known when the product has been asked for.
void Trap::LookAtFactors(const Mark& mark, const Agent& agent, Frame& frame) {
  for (std::size_t i = 0; i < mark.instr->args.size(); ++i) {
    if (!mark.in[i].slot.valid()) continue;
    if (BadElements(OperandType(kernel_, mark, i), frame.slot(mark.in[i].slot)).empty()) continue;
    for (const AgentId operation : agent.open.back().issued) {
      const auto product = products_.find(operation);
      if (product != products_.end()) product->second.read_holds = true;
    }
  }
}

void Trap::Look(const Mark& mark, const Agent& agent, Frame& frame) {
  const bool value_op = mark.instr->row->prepare != nullptr;
  if (!value_op && (!agent.open.back().reads || agent.open.back().read_holds))
    return;  // what regions return was looked at inside
  for (std::size_t r = 0; r < mark.out.size(); ++r) {
    if (!mark.out[r].slot.valid()) continue;
    const Bytes bad = BadElements(mark.instr->types[r], frame.slot(mark.out[r].slot));
    if (bad.empty()) continue;
    status_.Update(LookAtValue(mark, agent, r, bad, frame));
    if (hit_.has_value()) return;
  }
}

absl::Status Trap::LookAtValue(const Mark& mark, const Agent& agent, std::size_t result, const Bytes& bad,
                               Frame& frame) {
  std::vector<Bytes> of_operands;
  ValueTypes types{.in = {}, .out = mark.instr->types, .target = state_.program().target};
  std::vector<const std::byte*> values;
  bool any = false;
  for (std::size_t i = 0; i < mark.instr->args.size(); ++i) {
    const bool is_value = mark.in[i].slot.valid();
    const Type type = is_value ? OperandType(kernel_, mark, i) : Type{};
    types.in.push_back(type);
    values.push_back(is_value ? frame.slot(mark.in[i].slot) : nullptr);
    of_operands.push_back(is_value ? BadElements(type, values.back()) : Bytes{});
    any = any || !of_operands.back().empty();
  }
  if (mark.instr->row->prepare == nullptr) {  // a load: masked lanes may show `other`, which was looked at
    if (any) return absl::OkStatus();
    const auto element = std::find(bad.begin(), bad.end(), 1) - bad.begin();
    if (!undefined_.has_value()) undefined_ = HitAt(mark, agent, result, element, frame);
    return absl::OkStatus();
  }
  PALLADION_ASSIGN_OR_RETURN(ElementSources sources,
                             ElementSources::Of(*mark.instr, std::move(types), std::move(values)));
  const Bytes explained = any ? sources.MadeOf(of_operands, result) : Bytes(bad.size());
  std::size_t element = 0;
  while (element < bad.size() && (bad[element] == 0 || explained[element] != 0)) ++element;
  if (element == bad.size()) return absl::OkStatus();
  hit_ = HitAt(mark, agent, result, static_cast<std::int64_t>(element), frame);
  for (std::size_t i = 0; i < mark.instr->args.size(); ++i) {
    const Type type = OperandType(kernel_, mark, i);
    const std::string name =
        mark.in[i].value.valid() ? Cat("%", kernel_.values[mark.in[i].value.index()].name) : "literal";
    for (std::int64_t from : sources.In(i, result, static_cast<std::int64_t>(element), kShownOperandElements)) {
      hit_->operands.push_back({Cat(name, type.shape.empty() ? "" : IndexText(type.shape, from)),
                                ElementValueText(type, frame.slot(mark.in[i].slot), from)});
    }
  }
  return absl::OkStatus();
}

TrapHit Trap::HitAt(const Mark& mark, const Agent& agent, std::size_t result, std::int64_t element,
                    Frame& frame) const {
  const Type& type = mark.instr->types[result];
  return {.program = NameOfAgent(frame),
          .iterations = agent.walk.Iterations(),
          .op = OpName(*mark.instr),
          .source = SourceText(state_.module(), mark.instr->loc),
          .text_line = mark.instr->text_line,
          .frames = launch::FramesOf(state_.module(), mark.instr->loc),
          .result = Cat("%", kernel_.values[mark.out[result].value.index()].name,
                        type.shape.empty() ? "" : IndexText(type.shape, element)),
          .value = ElementValueText(type, frame.slot(mark.out[result].slot), element),
          .operands = {}};
}

namespace {

std::string HitText(const TrapHit& hit) {
  std::string text = Cat(hit.program, ": ", hit.op, ", line ", hit.text_line, " of the kernel text");
  if (!hit.source.empty()) Append(&text, ", at ", hit.source);
  if (!hit.iterations.empty()) Append(&text, ", iteration ", hit.iterations);
  Append(&text, "\n  ", hit.result, " = ", hit.value, "\n");
  for (const TrapHit::Operand& operand : hit.operands) Append(&text, "  of ", operand.name, " = ", operand.value, "\n");
  return text;
}

std::string HitJson(const std::optional<TrapHit>& hit) {
  if (!hit.has_value()) return "null";
  std::string json = Cat("{\"program\": ", JsonString(hit->program), ", \"iterations\": ", JsonString(hit->iterations),
                         ", \"op\": ", JsonString(hit->op), ", \"source\": ", JsonString(hit->source),
                         ", \"text_line\": ", hit->text_line, ", \"element\": ", JsonString(hit->result),
                         ", \"value\": ", JsonString(hit->value), ", \"operands\": [");
  for (std::size_t i = 0; i < hit->operands.size(); ++i) {
    Append(&json, i == 0 ? "" : ", ", "{\"element\": ", JsonString(hit->operands[i].name),
           ", \"value\": ", JsonString(hit->operands[i].value), "}");
  }
  return json + "]}";
}

}  // namespace

std::string Trap::Text() const {
  const char* what = kind_ == TrapKind::kNaN ? "nan" : "inf";
  std::string text = hit_.has_value() ? Cat("trap: the first ", what, " is born in ", HitText(*hit_))
                                      : Cat("trap: no ", what, " was born\n");
  if (undefined_.has_value()) {
    Append(&text, "  one was read from unwritten memory, padding, or a lane masked off without `other`; ",
           "`palladion check` says whether it matters\n  first in ", HitText(*undefined_));
  }
  return text;
}

std::string Trap::Json() const {
  return Cat("{\"born\": ", HitJson(hit_), ", \"undefined\": ", HitJson(undefined_), "}");
}

}  // namespace palladion::watch
