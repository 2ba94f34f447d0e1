// The rules that look at one element at a time, and which operation has which rule.
#include "semantics/registry/shadow.h"

#include <cstring>

#include "semantics/base/cat.h"
#include "semantics/ops/flow/shadow_rules.h"
#include "semantics/ops/value/elementwise_common.h"

namespace palladion {
namespace shadow {
namespace {

// Result element i merges element i of every operand; of an operand of rank 0, its one.
struct ElementwiseParams {
  std::size_t n;
  std::size_t results;
  bool moves;  // unwritten bytes of an output stay unwritten
  std::vector<bool> is_broadcast;
};

void EvalElementwise(const ElementwiseParams& p, const ShadowOperands& operands, std::size_t n) {
  Mark* out = operands.out_undefined[0];
  std::fill_n(out, n, Mark{0});
  for (std::size_t i = 0; i < p.is_broadcast.size(); ++i) {
    const Mark* in = operands.in_undefined[i];
    if (in == nullptr) continue;
    if (p.is_broadcast[i]) {
      MergeInto(*in, out, n);
    } else {
      MergeInto(in, out, n);
    }
  }
  if (!p.moves) Compute(out, n);
  for (std::size_t r = 1; r < p.results; ++r) std::copy_n(out, n, operands.out_undefined[r]);
}

// and, or: a defined element that decides the result alone makes it defined.
struct MaskParams {
  std::size_t n;
  std::size_t bytes;  // of an element
  std::byte decides;  // every byte of such an element; of a truth value its only one
  bool any_decides;   // is there one in this type's form in memory?
  bool is_broadcast[2];
};

void EvalMask(const MaskParams& p, const ShadowOperands& operands, std::size_t n) {
  Mark* out = operands.out_undefined[0];
  const auto mark = [&](std::size_t side, std::size_t i) {
    const Mark* marks = operands.in_undefined[side];
    return marks == nullptr ? Mark{0} : marks[p.is_broadcast[side] ? 0 : i];
  };
  const auto decides = [&](std::size_t side, std::size_t i) {
    const std::byte* element = operands.in[side] + (p.is_broadcast[side] ? 0 : i) * p.bytes;
    return std::all_of(element, element + p.bytes, [&](std::byte byte) { return byte == p.decides; });
  };
  for (std::size_t i = 0; i < n; ++i) {
    const Mark a = mark(0, i), b = mark(1, i);
    const bool decided = p.any_decides && (a != 0) != (b != 0) && decides(a != 0 ? 1 : 0, i);
    out[i] = decided ? Mark{0} : ComputedMark(Merge(a, b));
  }
}

// The predicate's mark where it has one: which side it would have chosen is not known. Else the chosen side's.
struct SelectParams {
  std::size_t n;
  bool which_is_bool;
  std::vector<bool> is_broadcast;  // of all operands
};

std::size_t Chosen(const SelectParams& p, const std::byte* which, std::size_t i) {
  const std::size_t cases = p.is_broadcast.size() - 1;
  if (p.which_is_bool) return std::min<std::size_t>(which[i] != std::byte{0} ? 1 : 0, cases - 1);
  std::int32_t index;
  std::memcpy(&index, which + i * sizeof(index), sizeof(index));
  return index < 0 ? 0 : std::min(static_cast<std::size_t>(index), cases - 1);
}

// A boolean for every element between two sides: without branches.
void EvalSelectOfTwo(const SelectParams& p, const ShadowOperands& operands, std::size_t n) {
  const auto* which = reinterpret_cast<const std::uint8_t*>(operands.in[0]);
  Mark* out = operands.out_undefined[0];
  const Mark* no = operands.in_undefined[1];
  const Mark* yes = operands.in_undefined[2];
  if (no == nullptr || p.is_broadcast[1]) {
    std::fill_n(out, n, no == nullptr ? Mark{0} : *no);
  } else {
    std::copy_n(no, n, out);
  }
  if (yes == nullptr || p.is_broadcast[2]) {
    const Mark mark = yes == nullptr ? Mark{0} : *yes;
    for (std::size_t i = 0; i < n; ++i) out[i] = which[i] != 0 ? mark : out[i];
  } else {
    for (std::size_t i = 0; i < n; ++i) out[i] = which[i] != 0 ? yes[i] : out[i];
  }
  const Mark* unsure = operands.in_undefined[0];
  for (std::size_t i = 0; i < n && unsure != nullptr; ++i) out[i] = unsure[i] != 0 ? ComputedMark(unsure[i]) : out[i];
}

void EvalSelect(const SelectParams& p, const ShadowOperands& operands, std::size_t n) {
  if (p.which_is_bool && p.is_broadcast.size() == 3 && !p.is_broadcast[0]) return EvalSelectOfTwo(p, operands, n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = p.is_broadcast[0] ? 0 : i;
    Mark mark = operands.in_undefined[0] == nullptr ? Mark{0} : ComputedMark(operands.in_undefined[0][at]);
    if (mark == 0) {
      const std::size_t side = 1 + Chosen(p, operands.in[0], at);
      const Mark* marks = operands.in_undefined[side];
      mark = marks == nullptr ? Mark{0} : marks[p.is_broadcast[side] ? 0 : i];
    }
    operands.out_undefined[0][i] = mark;
  }
}

template <auto kEval, class Params>
ShadowKernel BindStrip(Params params) {
  return {.run =
              [](const void* p, const ShadowOperands& operands) {
                const auto& all = *static_cast<const Params*>(p);
                kEval(all, operands, all.n);
              },
          .params = std::make_shared<const Params>(std::move(params)),
          .strip = [](const void* p, const ShadowOperands& operands,
                      std::size_t n) { kEval(*static_cast<const Params*>(p), operands, n); }};
}

std::vector<bool> Broadcasts(const ValueTypes& types) {
  std::vector<bool> broadcasts;
  for (std::size_t i = 0; i < types.in.size(); ++i) broadcasts.push_back(IsBroadcast(types, i));
  return broadcasts;
}

ShadowKernel PrepareElementwise(const ValueTypes& types, bool moves) {
  return BindStrip<EvalElementwise>(ElementwiseParams{
      .n = Elements(types.out[0]), .results = types.out.size(), .moves = moves, .is_broadcast = Broadcasts(types)});
}

ShadowKernel PrepareMask(const OpRow& row, const ValueTypes& types) {
  const DType dtype = types.out[0].dtype;
  const std::byte one = IsBool(dtype) ? std::byte{1} : std::byte{0xff};
  return BindStrip<EvalMask>(
      MaskParams{.n = Elements(types.out[0]),
                 .bytes = StorageBytes(dtype),
                 .decides = row.absorbs == Absorbs::kZero ? std::byte{0} : one,
                 .any_decides = row.absorbs == Absorbs::kZero || IsBool(dtype) || Info(dtype).bits >= 8,
                 .is_broadcast = {IsBroadcast(types, 0), IsBroadcast(types, 1)}});
}

// Every element of every result merges all elements of all operands.
struct AllParams {
  std::vector<std::size_t> in, out;  // elements
};
void EvalAll(const AllParams& p, const ShadowOperands& operands) {
  Mark mark = 0;
  for (std::size_t i = 0; i < p.in.size(); ++i) {
    if (operands.in_undefined[i] != nullptr) mark = Merge(mark, MergeAll(operands.in_undefined[i], p.in[i]));
  }
  for (std::size_t i = 0; i < p.out.size(); ++i) std::fill_n(operands.out_undefined[i], p.out[i], ComputedMark(mark));
}

ShadowKernel PrepareAll(const ValueTypes& types) {
  AllParams params;
  for (const Type& type : types.in) params.in.push_back(Elements(type));
  for (const Type& type : types.out) params.out.push_back(Elements(type));
  return Bind<EvalAll>(std::move(params));
}

void Walk(absl::Span<const MergeDim> dims, const Mark* from, Mark* to) {
  if (dims.empty()) {
    *to = Merge(*from, *to);
    return;
  }
  const MergeDim dim = dims[0];
  if (dims.size() > 1) {
    for (std::int64_t i = 0; i < dim.count; ++i) Walk(dims.subspan(1), from + i * dim.from, to + i * dim.to);
    return;
  }
  const auto n = static_cast<std::size_t>(dim.count);
  if (dim.from == 1 && dim.to == 1) return MergeInto(from, to, n);
  if (dim.from == 0 && dim.to == 1) return MergeInto(*from, to, n);
  if (dim.from == 1 && dim.to == 0) {
    *to = Merge(*to, MergeAll(from, n));
    return;
  }
  for (std::int64_t i = 0; i < dim.count; ++i) to[i * dim.to] = Merge(to[i * dim.to], from[i * dim.from]);
}

}  // namespace

void MergeInto(const Mark* from, Mark* to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to[i] = Merge(from[i], to[i]);
}

void MergeInto(Mark from, Mark* to, std::size_t n) {
  if (from == 0) return;
  for (std::size_t i = 0; i < n; ++i) to[i] = Merge(from, to[i]);
}

Mark MergeAll(const Mark* marks, std::size_t n) {
  constexpr std::size_t kLanes = 32;  // as many partial results: a vector
  Mark lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) MergeInto(marks + i, lanes, kLanes);
  Mark mark = 0;
  for (; i < n; ++i) mark = Merge(mark, marks[i]);
  for (Mark lane : lanes) mark = Merge(mark, lane);
  return mark;
}

void Compute(Mark* marks, std::size_t n) {
  Mark any = 0;
  for (std::size_t i = 0; i < n; ++i) any |= marks[i];
  for (std::size_t i = 0; i < n && any >= kMovedMark; ++i) marks[i] = ComputedMark(marks[i]);
}

MergeBox::MergeBox(absl::Span<const MergeDim> dims) : is_empty_(false) {
  for (const MergeDim& dim : dims) {
    is_empty_ = is_empty_ || dim.count == 0;
    if (dim.count == 1) continue;
    if (!dims_.empty() && dims_.back().from == dim.count * dim.from && dims_.back().to == dim.count * dim.to) {
      dims_.back() = {dims_.back().count * dim.count, dim.from, dim.to};
    } else {
      dims_.push_back(dim);
    }
  }
}

void MergeBox::operator()(const Mark* from, Mark* to) const {
  if (!is_empty_) Walk(dims_, from, to);
}

}  // namespace shadow

absl::Span<const FlowInfo> AllFlows() {
  static constexpr FlowInfo kFlows[] = {
      {Flow::kElementwise, "elementwise",
       "a result element is undefined if the same element of any operand is; an operand of rank 0 counts for all"},
      {Flow::kConvert, "convert",
       "as elementwise; from floats to floats and from integers to integers an output's own bytes stay its own"},
      {Flow::kMask, "mask",
       "as elementwise, but a defined element that decides alone makes the result defined: 0 or false of `and`, all "
       "ones or true of `or`"},
      {Flow::kSelect, "select", "the chosen side's; undefined where the predicate is"},
      {Flow::kMove, "move",
       "the elements that are moved keep what they are; where an index operand is undefined, so is all that it places"},
      {Flow::kParts, "parts",
       "an element that becomes several makes them all undefined; one made of several is undefined if any of them is"},
      {Flow::kPlace, "place",
       "where an update is placed, the update's; elsewhere what was there; where an index is undefined, all is"},
      {Flow::kCombine, "combine",
       "an element is undefined if it or an update that is combined with it is; where an index is undefined, all are"},
      {Flow::kReduce, "reduce", "a result element is undefined if any element that went into it is"},
      {Flow::kPrefix, "prefix", "from the first undefined element on, in the direction of the operation"},
      {Flow::kSort, "sort",
       "a line with an undefined key is all undefined, in every result; elsewhere what is carried along keeps what it "
       "is"},
      {Flow::kDot, "dot",
       "result [m, n] is undefined if row m of A or column n of B holds an undefined element, batch by batch"},
      {Flow::kAll, "all", "every result element is undefined if any operand element is"},
  };
  return kFlows;
}

absl::StatusOr<ShadowKernel> PrepareShadow(const Instr& op, const ValueTypes& types) {
  const OpRow* row = op.row != nullptr ? op.row : FindOp(op.dialect, op.name);
  if (row == nullptr || row->prepare == nullptr) {
    return absl::InternalError(Cat("cannot happen: '", op.name, "' is not an operation on values"));
  }
  switch (row->flow) {
    case Flow::kElementwise:
      return shadow::PrepareElementwise(types, /*moves=*/false);
    case Flow::kConvert: {
      const DType from = types.in[0].dtype, to = types.out[0].dtype;
      return shadow::PrepareElementwise(types, (IsFloat(from) && IsFloat(to)) || (IsInteger(from) && IsInteger(to)));
    }
    case Flow::kMask:
      return shadow::PrepareMask(*row, types);
    case Flow::kSelect:
      return shadow::BindStrip<shadow::EvalSelect>(
          shadow::SelectParams{.n = Elements(types.out[0]),
                               .which_is_bool = types.in[0].dtype == DType::kBool,
                               .is_broadcast = shadow::Broadcasts(types)});
    case Flow::kMove:
      return shadow::PrepareMove(*row, op, types);
    case Flow::kPlace:
    case Flow::kCombine:
      return shadow::PreparePlace(*row, op, types);
    case Flow::kParts:
      return shadow::PrepareParts(op, types);
    case Flow::kReduce:
      return shadow::PrepareReduce(op, types);
    case Flow::kPrefix:
      return shadow::PreparePrefix(op, types);
    case Flow::kSort:
      return shadow::PrepareSort(*row, op, types);
    case Flow::kDot:
      return shadow::PrepareDot(op, types);
    case Flow::kAll:
      break;
  }
  return shadow::PrepareAll(types);
}

}  // namespace palladion
