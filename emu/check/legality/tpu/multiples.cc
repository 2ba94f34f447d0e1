#include "emu/check/legality/tpu/multiples.h"

#include <algorithm>
#include <numeric>

#include "emu/chip/layouts/gpu_facts.h"
#include "semantics/base/dtype.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 31;  // no tile is that large

KnownMultiple Constant(std::int64_t number) { return {number < 0 ? -number : number, number, true}; }

// 0 is a multiple of everything.
std::int64_t Common(const KnownMultiple& a, const KnownMultiple& b) { return std::gcd(a.of, b.of); }

KnownMultiple Either(const KnownMultiple& a, const KnownMultiple& b) {
  if (a.number.has_value() && a.number == b.number) return a;
  return {Common(a, b), std::nullopt, a.is_static && b.is_static};
}

std::int64_t Product(std::int64_t a, std::int64_t b) {
  return a > kLargest || b > kLargest ? std::max(a, b) : std::min(a * b, kLargest * kLargest);
}

std::optional<std::int64_t> Integer(const Literal& literal) {
  if (!IsInteger(literal.dtype)) return std::nullopt;
  const std::size_t size = StorageBytes(literal.dtype);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < size; ++i) bits |= static_cast<std::uint64_t>(literal.bytes[i]) << (8 * i);
  const bool negative = !IsUnsigned(literal.dtype) && size > 0 && (bits >> (8 * size - 1) & 1) != 0;
  if (negative && size < sizeof(bits)) bits |= ~std::uint64_t{0} << (8 * size);
  return static_cast<std::int64_t>(bits);
}

bool IsScalarInteger(const Type& type) {
  return type.is_array() && NumElements(type.shape) == 1 && (IsInteger(type.dtype) || IsBool(type.dtype));
}

std::int64_t LowestBit(std::int64_t number) { return number & -number; }

}  // namespace

Multiples::Multiples(const Kernel& kernel) : kernel_(kernel), known_(kernel.values.size()) {
  for (const Body& body : kernel.bodies) Walk(body.region);
}

KnownMultiple Multiples::Of(const Arg& arg) const {
  if (arg.kind == Arg::Kind::kLiteral) {
    const std::optional<std::int64_t> number = Integer(arg.literal);
    return number.has_value() ? Constant(*number) : KnownMultiple{};
  }
  if (arg.kind == Arg::Kind::kNone) return Constant(0);  // a slice from the start
  return arg.kind == Arg::Kind::kValue && arg.value.valid() ? known_[arg.value.index()] : KnownMultiple{};
}

void Multiples::Set(ValueId id, const KnownMultiple& known) {
  if (id.valid()) known_[id.index()] = known;
}

void Multiples::Walk(const Region& region) {
  for (const Instr& op : region.body) {
    if (!op.regions.empty()) {
      EnterRegions(op);
      for (const Region& inner : op.regions) Walk(inner);
      LeaveRegions(op);
    } else if (op.results.size() == 1 && op.types.size() == 1 && IsScalarInteger(op.types[0])) {
      Set(op.results[0], Result(op));
    }
  }
}

// The operands of a call are its region's parameters.
void Multiples::EnterRegions(const Instr& op) {
  if (IsLoop(RowOf(op))) return EnterLoop(op);
  if (HasScope(RowOf(op)) || op.regions.size() != 1) return;
  const std::vector<Param>& params = op.regions[0].params;
  for (std::size_t i = 0; i < params.size() && i < op.args.size(); ++i) Set(params[i].value, Of(op.args[i]));
}

// A carry is known where no turn changes it; a loop that is written out has a number for each of its counters.
void Multiples::EnterLoop(const Instr& op) {
  const std::int64_t length = layouts::IntOf(op.attrs, "length").value_or(0);
  const bool written_out = length > 0 && layouts::IntOf(op.attrs, "unroll").value_or(1) >= length;
  std::size_t carry = 0;
  for (const Arg& arg : op.args) {
    if (arg.name != "init") continue;
    const std::size_t at = carry++;
    const Region& body = op.regions.back();
    if (at >= body.params.size() || at >= body.results.size()) continue;
    const Arg& next = body.results[at];
    const bool stays = next.kind == Arg::Kind::kValue && next.value == body.params[at].value;
    const KnownMultiple first = Of(arg);
    KnownMultiple known = stays ? first : KnownMultiple{};
    if (!stays && written_out) known.is_static = first.is_static;
    for (const Region& region : op.regions) {
      if (at < region.params.size()) Set(region.params[at].value, known);
    }
  }
}

void Multiples::LeaveRegions(const Instr& op) {
  if (IsLoop(RowOf(op))) {
    const Region& body = op.regions.back();
    for (std::size_t i = 0; i < op.results.size() && i < body.params.size() && i < body.results.size(); ++i) {
      const Arg& next = body.results[i];
      const bool stays = next.kind == Arg::Kind::kValue && next.value == body.params[i].value;
      if (stays) Set(op.results[i], Of(next));
    }
    return;
  }
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    std::optional<KnownMultiple> known;
    for (const Region& region : op.regions) {
      const KnownMultiple one = i < region.results.size() ? Of(region.results[i]) : KnownMultiple{};
      known = known.has_value() ? Either(*known, one) : one;
    }
    Set(op.results[i], known.value_or(KnownMultiple{}));
  }
}

KnownMultiple Multiples::OfGrid(const Instr& op) const {
  static const RuleRows kIndex("program_id");
  const auto axis = static_cast<std::size_t>(layouts::IntOf(op.attrs, "axis").value_or(0));
  const std::vector<GridDim>& grid = kernel_.launch.grid;
  if (axis >= grid.size() || grid[axis].bound.valid()) return {};
  if (!kIndex.Has(op)) return Constant(grid[axis].size);
  return grid[axis].size == 1 ? Constant(0) : KnownMultiple{};
}

KnownMultiple Multiples::OfTwo(const Instr& op, const KnownMultiple& a, const KnownMultiple& b) const {
  static const RuleRows kSums("add");
  static const RuleRows kDifferences("sub");
  static const RuleRows kProducts("mul");
  static const RuleRows kQuotients("div");
  static const RuleRows kMasks("and");
  static const RuleRows kShifts("shift_left");
  static const RuleRows kCommon("rem", "max", "min");
  constexpr std::int64_t kMostShift = 31;
  const bool both = a.number.has_value() && b.number.has_value();
  const bool is_static = a.is_static && b.is_static;
  if (kSums.Has(op) && both) return Constant(*a.number + *b.number);
  if (kDifferences.Has(op) && both) return Constant(*a.number - *b.number);
  if (kProducts.Has(op) && both && a.of < kLargest && b.of < kLargest) return Constant(*a.number * *b.number);
  if (kSums.Has(op) || kDifferences.Has(op) || kCommon.Has(op)) return {Common(a, b), std::nullopt, is_static};
  if (kProducts.Has(op)) return {Product(a.of, b.of), std::nullopt, is_static};
  if (kShifts.Has(op) && b.number.has_value() && *b.number >= 0 && *b.number <= kMostShift)
    return {Product(a.of, std::int64_t{1} << *b.number), std::nullopt, is_static};
  if (kQuotients.Has(op) && b.of > 0 && b.number.has_value() && a.of % b.of == 0)
    return {a.of / b.of, std::nullopt, is_static};
  if (kMasks.Has(op)) return {std::max(LowestBit(a.of), LowestBit(b.of)), std::nullopt, is_static};
  return {1, std::nullopt, is_static};
}

KnownMultiple Multiples::Result(const Instr& op) const {
  static const RuleRows kGrid("program_id", "num_programs");
  static const RuleRows kPromises("multiple_of");
  static const RuleRows kChoices("select_n");
  static const RuleRows kNegatives("neg");
  static const RuleRows kBetween("clamp");
  static const RuleRows kSame("convert_element_type", "squeeze", "reshape", "broadcast_in_dim", "copy");
  if (kGrid.Has(op)) return OfGrid(op);
  if (op.args.empty() || RowOf(op).effect != Effect::kPure) return {};
  const KnownMultiple first = Of(op.args[0]);
  if (kSame.Has(op)) return IsFloat(TypeOfArg(kernel_, op.args[0]).dtype) ? KnownMultiple{} : first;
  if (kNegatives.Has(op)) return first.number.has_value() ? Constant(-*first.number) : first;
  if (kPromises.Has(op)) {
    const auto values = IntsAttr(op, "values");
    const std::int64_t promised = values.ok() && values->size() == 1 ? (*values)[0] : 1;
    if (first.number.has_value() || promised < 1) return first;
    return {std::lcm(first.of, promised), std::nullopt, first.is_static};
  }
  if (kChoices.Has(op) && op.args.size() > 1) {
    KnownMultiple known = Of(op.args[1]);
    for (std::size_t i = 2; i < op.args.size(); ++i) known = Either(known, Of(op.args[i]));
    known.is_static = known.is_static && first.is_static;
    return known;
  }
  if (kBetween.Has(op) && op.args.size() == 3) return Either(first, Either(Of(op.args[1]), Of(op.args[2])));
  if (op.args.size() == 2) return OfTwo(op, first, Of(op.args[1]));
  return {1, std::nullopt, op.args.size() == 1 && first.is_static};
}

}  // namespace palladion::legality
