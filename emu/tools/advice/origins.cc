#include "emu/tools/advice/origins.h"

#include "emu/tools/edit/edit.h"
#include "semantics/registry/op_id.h"
#include "semantics/registry/op_row.h"

namespace palladion::advice {
namespace {

// Deeper chains of additions are not a step of a ring.
constexpr int kDeepest = 32;

bool IsNumber(const Arg& arg, std::int64_t number) {
  return arg.kind == Arg::Kind::kLiteral && arg.literal.dtype == DType::kI32 && edit::IntOf(arg.literal) == number;
}

bool IsScalarI32(const Type& type) { return type.is_array() && type.shape.empty() && type.dtype == DType::kI32; }

bool IsOne(const Instr& instr, OpId op, std::size_t args) { return Is(instr, op) && instr.args.size() == args; }

}  // namespace

std::int64_t NumberRef::Get() const { return literal != nullptr ? edit::IntOf(*literal) : *attribute; }

void NumberRef::Set(std::int64_t to) const {
  if (literal != nullptr) {
    edit::SetInt(*literal, to);
  } else {
    *attribute = to;
  }
}

std::optional<NumberRef> NumberOf(Arg& arg) {
  if (arg.kind != Arg::Kind::kLiteral || arg.literal.dtype != DType::kI32) return std::nullopt;
  return NumberRef{.literal = &arg.literal};
}

Origins::Origins(Kernel& kernel) : kernel_(kernel), origins_(kernel.values.size()) {
  for (Body& body : kernel.bodies) Visit(body.region, nullptr);
}

void Origins::Visit(Region& region, Instr* of) {
  for (std::size_t i = 0; i < region.params.size(); ++i) {
    const ValueId id = region.params[i].value;
    if (id.valid()) origins_[id.index()] = {.instr = of, .region = &region, .number = i};
  }
  for (Instr& instr : region.body) {
    for (std::size_t i = 0; i < instr.results.size(); ++i) {
      if (instr.results[i].valid()) origins_[instr.results[i].index()] = {.instr = &instr, .number = i};
    }
    for (Region& inner : instr.regions) Visit(inner, &instr);
  }
}

const Instr* Origins::Giver(ValueId id) const {
  const Origin& origin = Of(id);
  return origin.region == nullptr ? origin.instr : nullptr;
}

std::optional<Affine> Origins::AffineOf(const Arg& arg) const {
  const Arg* at = &arg;
  Affine affine;
  for (int depth = 0; depth < kDeepest; ++depth) {
    if (at->kind != Arg::Kind::kValue || !at->value.valid()) return std::nullopt;
    if (!IsScalarI32(kernel_.values[at->value.index()].type)) return std::nullopt;
    affine.root = at->value;
    const Origin& origin = Of(at->value);
    if (origin.instr == nullptr || origin.region != nullptr) return affine;
    Instr& instr = *origin.instr;
    const bool sum = IsOne(instr, OpId::kAdd, 2), difference = IsOne(instr, OpId::kSub, 2),
               product = IsOne(instr, OpId::kMul, 2);
    if (IsOne(instr, OpId::kConvertElementType, 1)) {
      at = &instr.args[0];
      continue;
    }
    if (!sum && !difference && !product) return affine;
    std::size_t literal = instr.args[1].kind == Arg::Kind::kLiteral ? 1 : 0;
    std::optional<NumberRef> number = NumberOf(instr.args[literal]);
    if (!number.has_value() || (difference && literal == 0)) return affine;
    if (product && number->Get() != 1) return affine;
    if (!product && number->Get() != 0) {
      if (affine.number.has_value()) return affine;
      affine.number = number;
      affine.negated = difference;
      affine.offset = difference ? -number->Get() : number->Get();
    }
    at = &instr.args[1 - literal];
  }
  return affine;
}

std::optional<Counter> Origins::CounterOf(ValueId id) const {
  const Origin& origin = Of(id);
  if (origin.instr == nullptr || origin.region == nullptr) return std::nullopt;
  Instr& loop = *origin.instr;
  if (RowOf(loop).loops != Loops::kTurns || origin.number >= loop.args.size()) return std::nullopt;
  Counter counter{.loop = &loop, .length = {}, .first = {}, .value = id};
  for (AttrEntry& entry : loop.attrs) {
    if (entry.first == "length") counter.length.attribute = std::get_if<std::int64_t>(&entry.second.value);
    const bool* reverse = std::get_if<bool>(&entry.second.value);
    if (entry.first == "reverse" && (reverse == nullptr || *reverse)) return std::nullopt;
  }
  Arg& first = loop.args[origin.number];
  const std::optional<NumberRef> number = NumberOf(first);
  if (counter.length.attribute == nullptr || first.name != "init" || !number.has_value()) return std::nullopt;
  counter.first = *number;
  if (origin.number >= origin.region->results.size()) return std::nullopt;
  const Arg& next = origin.region->results[origin.number];
  if (next.kind != Arg::Kind::kValue || !next.value.valid()) return std::nullopt;
  const Instr* giver = Giver(next.value);
  if (giver == nullptr || !IsOne(*giver, OpId::kAdd, 2)) return std::nullopt;
  const bool one_more = (giver->args[0].value == id && IsNumber(giver->args[1], 1)) ||
                        (giver->args[1].value == id && IsNumber(giver->args[0], 1));
  return one_more ? std::optional(counter) : std::nullopt;
}

}  // namespace palladion::advice
