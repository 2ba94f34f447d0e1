#include "emu/debug/trap.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "emu/debug/element_sources.h"
#include "emu/reports/json.h"
#include "memory_model/origin.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/op_row.h"
#include "semantics/tensor/element.h"
#include "semantics/tensor/element_index.h"

namespace palladion {
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

Trap::Trap(const PreparedKernelState& kernel, TrapKind kind) : state_(kernel), kernel_(KernelOf(kernel)), kind_(kind) {}

Trap::Bytes Trap::BadElements(const Type& type, const std::byte* value) const {
  const auto n = static_cast<std::size_t>(NumElements(type.shape));
  if (!type.is_array() || !IsFloat(type.dtype)) return {};
  std::size_t i = FirstOf(kind_, type.dtype, value, n);
  if (i == n) return {};
  Bytes bad(n);
  for (; i < n; i = FirstOf(kind_, type.dtype, value, n, i + 1)) bad[i] = 1;
  return bad;
}

void Trap::Bound(Memory& memory, absl::Span<const BufferId> arrays) {
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
void Trap::StartCopy(const CopyRequest& request) {
  copy_sides_ = 2;
  bool& to = holds_[request.destination.buffer.value];
  to = to || holds_[request.source.buffer.value];
}

void Trap::Box(AccessKind kind, const BoxAccess& access, const BoxReach&, const std::byte* value) {
  if (copy_sides_ > 0) {
    --copy_sides_;
    return;
  }
  if (reads_.empty()) return;
  if (kind == AccessKind::kRead) {
    reads_.back() = true;
    if (holds_[access.buffer.value]) read_holds_.back() = true;
  } else if (value != nullptr) {
    std::size_t n = 1;
    for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d)
      n *= static_cast<std::size_t>(access.count[d]);
    if (FirstOf(kind_, memory_->DTypeOf(access.buffer), value, n) < n) holds_[access.buffer.value] = true;
  }
}

void Trap::Points(AccessKind kind, const PointAccess& access, const std::byte*) {
  if (reads_.empty()) return;
  if (kind == AccessKind::kRead) {
    reads_.back() = true;
    if (holds_[access.buffer.value]) read_holds_.back() = true;
  } else {
    holds_[access.buffer.value] = true;  // not looked at: what is there may have come from anywhere
  }
}

void Trap::After(const Step& step, Frame& frame) {
  const Mark* mark = MarkOf(step);
  if (mark == nullptr || hit_.has_value() || !status_.ok()) return;
  if (mark->kind == Mark::Kind::kEnter && mark->instr == nullptr) {
    reads_.clear();
    read_holds_.clear();
  }
  walk_.Pass(*mark);
  if (mark->kind == Mark::Kind::kBegin) {
    reads_.push_back(false);
    read_holds_.push_back(false);
  } else if (mark->kind == Mark::Kind::kFinish) {
    Look(*mark, frame);
    reads_.pop_back();
    read_holds_.pop_back();
  }
}

void Trap::Look(const Mark& mark, Frame& frame) {
  const bool value_op = mark.instr->row->prepare != nullptr;
  if (!value_op && (!reads_.back() || read_holds_.back())) return;  // what regions return was looked at inside
  for (std::size_t r = 0; r < mark.out.size(); ++r) {
    if (!mark.out[r].slot.valid()) continue;
    const Bytes bad = BadElements(mark.instr->types[r], frame.slot(mark.out[r].slot));
    if (bad.empty()) continue;
    status_.Update(LookAtValue(mark, r, bad, frame));
    if (hit_.has_value()) return;
  }
}

absl::Status Trap::LookAtValue(const Mark& mark, std::size_t result, const Bytes& bad, Frame& frame) {
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
    if (!undefined_.has_value()) undefined_ = HitAt(mark, result, element, frame);
    return absl::OkStatus();
  }
  PALLADION_ASSIGN_OR_RETURN(ElementSources sources,
                             ElementSources::Of(*mark.instr, std::move(types), std::move(values)));
  const Bytes explained = any ? sources.MadeOf(of_operands, result) : Bytes(bad.size());
  std::size_t element = 0;
  while (element < bad.size() && (bad[element] == 0 || explained[element] != 0)) ++element;
  if (element == bad.size()) return absl::OkStatus();
  hit_ = HitAt(mark, result, static_cast<std::int64_t>(element), frame);
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

TrapHit Trap::HitAt(const Mark& mark, std::size_t result, std::int64_t element, Frame& frame) const {
  const Type& type = mark.instr->types[result];
  return {.program = NameOfProgram(frame.grid_index),
          .iterations = walk_.Iterations(),
          .op = OpName(*mark.instr),
          .source = SourceText(state_.module(), mark.instr->loc),
          .text_line = mark.instr->text_line,
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
    Append(&text, "  one was read where nobody had written: memory, padding, or a lane masked off without `other`; ",
           "`palladion check` says whether it matters\n  first in ", HitText(*undefined_));
  }
  return text;
}

std::string Trap::Json() const {
  return Cat("{\"born\": ", HitJson(hit_), ", \"undefined\": ", HitJson(undefined_), "}");
}

}  // namespace palladion
