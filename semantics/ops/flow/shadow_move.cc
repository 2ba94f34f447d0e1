// The rules of operations that keep elements whole and change their places: the same operation, prepared once more for
// arrays of bytes, moves the marks. And of those that take elements apart or join them (bitcasts, keys and their
// words).
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "semantics/base/status.h"
#include "semantics/ops/flow/shadow_rules.h"
#include "semantics/ops/shape/shape_common.h"
#include "semantics/registry/attrs.h"

namespace palladion::shadow {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t Aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

Type ByteType(const Type& type) { return ArrayType(DType::kU8, type.shape); }

// A value kernel over some operands' marks and the other operands' values. Scratch: two lists of pointers, the kernel's
// own scratch, a run of zeros that stands for the marks of a defined operand, then what the rule itself wants.
struct MarkKernel {
  ValueKernel kernel;
  std::vector<bool> in_marks;             // per operand: its marks, else its value
  std::vector<std::size_t> out_elements;  // per result
  std::size_t zeros = 0;
  std::size_t lists_bytes = 0;

  std::size_t scratch_bytes() const { return lists_bytes + Aligned(kernel.scratch_bytes) + Aligned(zeros); }

  // `out` are filled by the caller: marks, or memory for results that are thrown away.
  const std::byte** in_list(std::byte* scratch) const { return reinterpret_cast<const std::byte**>(scratch); }
  std::byte** out_list(std::byte* scratch) const { return reinterpret_cast<std::byte**>(scratch) + in_marks.size(); }

  void Run(const ShadowOperands& operands) const {
    std::byte* const own = operands.scratch + lists_bytes;
    std::byte* const zero = own + Aligned(kernel.scratch_bytes);
    const std::byte** in = in_list(operands.scratch);
    bool needs_zeros = false;
    for (std::size_t i = 0; i < in_marks.size(); ++i) {
      const auto* marks = reinterpret_cast<const std::byte*>(operands.in_undefined[i]);
      needs_zeros = needs_zeros || (in_marks[i] && marks == nullptr);
      in[i] = !in_marks[i] ? operands.in[i] : marks == nullptr ? zero : marks;
    }
    if (needs_zeros) std::fill_n(zero, zeros, std::byte{0});
    kernel.run(kernel.params.get(), {.in = in, .out = out_list(operands.scratch), .scratch = own});
  }
};

absl::StatusOr<MarkKernel> MakeMarkKernel(const OpRow& row, const Instr& op, const ValueTypes& types,
                                          std::vector<bool> in_marks, const std::vector<bool>& out_marks) {
  MarkKernel mark{.kernel = {}, .in_marks = std::move(in_marks), .out_elements = {}};
  ValueTypes bytes = types;
  for (std::size_t i = 0; i < types.in.size(); ++i) {
    if (!mark.in_marks[i]) continue;
    bytes.in[i] = ByteType(types.in[i]);
    mark.zeros = std::max(mark.zeros, Elements(types.in[i]));
  }
  for (std::size_t i = 0; i < types.out.size(); ++i) {
    mark.out_elements.push_back(Elements(types.out[i]));
    if (out_marks[i]) bytes.out[i] = ByteType(types.out[i]);
  }
  mark.lists_bytes = Aligned((types.in.size() + types.out.size()) * sizeof(void*));
  PALLADION_ASSIGN_OR_RETURN(mark.kernel, row.prepare(op, bytes));
  return mark;
}

void PointToResults(const MarkKernel& kernel, const ShadowOperands& operands) {
  std::byte** out = kernel.out_list(operands.scratch);
  for (std::size_t i = 0; i < kernel.out_elements.size(); ++i) {
    out[i] = reinterpret_cast<std::byte*>(operands.out_undefined[i]);
  }
}

struct MoveParams {
  MarkKernel marks;
  std::vector<std::size_t> index_elements;  // of the operands behind those that are moved
};

// An undefined index may have put any element anywhere, and nothing but its mark is known of the result.
void EvalMove(const MoveParams& p, const ShadowOperands& operands) {
  Mark index = 0;
  const std::size_t first = p.marks.in_marks.size() - p.index_elements.size();
  for (std::size_t i = 0; i < p.index_elements.size(); ++i) {
    const Mark* marks = operands.in_undefined[first + i];
    if (marks != nullptr) index = ComputedMark(Merge(index, MergeAll(marks, p.index_elements[i])));
  }
  if (index != 0) {
    for (std::size_t i = 0; i < p.marks.out_elements.size(); ++i) {
      std::fill_n(operands.out_undefined[i], p.marks.out_elements[i], index);
    }
    return;
  }
  PointToResults(p.marks, operands);
  p.marks.Run(operands);
}

// gather: each slice is placed by an index vector of its own. `spread` merges the indices' marks into the elements of
// their slices.
struct GatherParams {
  MarkKernel marks;
  MergeBox spread;
};
void EvalGather(const GatherParams& p, const ShadowOperands& operands) {
  PointToResults(p.marks, operands);
  p.marks.Run(operands);
  if (operands.in_undefined[1] == nullptr) return;
  const std::size_t n = p.marks.out_elements[0];
  Mark* misplaced = reinterpret_cast<Mark*>(operands.scratch + p.marks.scratch_bytes());
  std::fill_n(misplaced, n, Mark{0});
  p.spread(operands.in_undefined[1], misplaced);
  Compute(misplaced, n);
  Mark* out = operands.out_undefined[0];
  for (std::size_t i = 0; i < n; ++i) out[i] = misplaced[i] != 0 ? misplaced[i] : out[i];
}

MergeBox SpreadOfGather(const Instr& op, const ValueTypes& types) {
  const Axes offset = Ints(op, "offset_dims");
  const std::vector<std::int64_t> from = ElementStrides(types.in[1].shape);
  const std::vector<std::int64_t> to = ElementStrides(types.out[0].shape);
  std::vector<MergeDim> dims;
  std::size_t point = 0;  // dimension of the indices
  for (std::size_t d = 0; d < to.size(); ++d) {
    const bool in_slice = Contains(offset, static_cast<std::int64_t>(d));
    dims.push_back({types.out[0].shape[d], in_slice ? 0 : from[point++], to[d]});
  }
  dims.push_back({types.in[1].shape.back(), 1, 0});
  return MergeBox(dims);
}

// What is outside is filled with a defined value.
Instr WithDefinedFill(const Instr& op) {
  Instr filled;
  filled.dialect = op.dialect;
  filled.name = op.name;
  for (const AttrEntry& entry : op.attrs) {
    if (entry.first != "fill_value") filled.attrs.push_back(entry);
  }
  AttrEntry& fill = filled.attrs.emplace_back();
  fill.first = "fill_value";
  fill.second.value = std::int64_t{0};
  return filled;
}

// Of every line, the merged marks of its keys cover all results; the sorted order is known elsewhere.
struct SortParams {
  MarkKernel marks;
  std::size_t keys;
  std::vector<std::size_t> key_bytes;  // sorted keys, which are thrown away
  std::size_t outer, length, inner;
};

void CoverLines(const SortParams& p, const Mark* keys, const ShadowOperands& operands) {
  const std::size_t plane = p.length * p.inner;
  for (Mark* out : absl::MakeSpan(operands.out_undefined, p.marks.out_elements.size())) {
    for (std::size_t line = 0; line < p.outer * p.inner; ++line) {
      if (keys[line] == 0) continue;
      Mark* first = out + line / p.inner * plane + line % p.inner;
      for (std::size_t k = 0; k < p.length; ++k) first[k * p.inner] = keys[line];
    }
  }
}

void EvalSort(const SortParams& p, const ShadowOperands& operands) {
  std::byte* thrown_away = operands.scratch + p.marks.scratch_bytes();
  std::byte** out = p.marks.out_list(operands.scratch);
  PointToResults(p.marks, operands);
  for (std::size_t k = 0; k < p.keys; ++k) {
    out[k] = thrown_away;
    thrown_away += Aligned(p.key_bytes[k]);
    std::fill_n(operands.out_undefined[k], p.marks.out_elements[k], Mark{0});
  }
  if (p.keys < p.marks.in_marks.size()) p.marks.Run(operands);
  Mark* lines = reinterpret_cast<Mark*>(thrown_away);
  std::fill_n(lines, p.outer * p.inner, Mark{0});
  for (std::size_t k = 0; k < p.keys; ++k) {
    const Mark* marks = operands.in_undefined[k];
    if (marks == nullptr) continue;
    for (std::size_t row = 0; row < p.outer * p.length; ++row) {
      MergeInto(marks + row * p.inner, lines + row / p.length * p.inner, p.inner);
    }
  }
  Compute(lines, p.outer * p.inner);
  CoverLines(p, lines, operands);
}

// Piece j of wide element (g, c) is narrow element (g, j, c).
struct PartsParams {
  std::size_t groups, ratio, columns;
  bool joins;
  bool moves;  // element for element, and no key
};
void EvalParts(const PartsParams& p, const ShadowOperands& operands) {
  const Mark* in = operands.in_undefined[0];
  Mark* out = operands.out_undefined[0];
  if (p.joins) std::fill_n(out, p.groups * p.columns, Mark{0});
  for (std::size_t g = 0; g < p.groups; ++g) {
    for (std::size_t j = 0; j < p.ratio; ++j) {
      const std::size_t wide = g * p.columns, narrow = (g * p.ratio + j) * p.columns;
      if (p.joins) {
        MergeInto(in + narrow, out + wide, p.columns);
      } else {
        std::copy_n(in + wide, p.columns, out + narrow);
      }
    }
  }
  if (!p.moves) Compute(out, p.groups * p.columns * (p.joins ? 1 : p.ratio));
}

}  // namespace

absl::StatusOr<ShadowKernel> PrepareMove(const OpRow& row, const Instr& op, const ValueTypes& types) {
  const std::size_t moved = row.moved == 0 ? types.in.size() : row.moved;
  std::vector<bool> in_marks(types.in.size(), false);
  std::fill_n(in_marks.begin(), moved, true);
  const std::vector<bool> out_marks(types.out.size(), true);
  if (row.name == "gather") {
    GatherParams params{.marks = {}, .spread = SpreadOfGather(op, types)};
    PALLADION_ASSIGN_OR_RETURN(params.marks,
                               MakeMarkKernel(row, WithDefinedFill(op), types, std::move(in_marks), out_marks));
    const std::size_t scratch = params.marks.scratch_bytes() + Elements(types.out[0]);
    return Bind<EvalGather>(std::move(params), scratch);
  }
  MoveParams params;
  for (std::size_t i = moved; i < types.in.size(); ++i) params.index_elements.push_back(Elements(types.in[i]));
  PALLADION_ASSIGN_OR_RETURN(params.marks, MakeMarkKernel(row, op, types, std::move(in_marks), out_marks));
  const std::size_t scratch = params.marks.scratch_bytes();
  return Bind<EvalMove>(std::move(params), scratch);
}

absl::StatusOr<ShadowKernel> PrepareSort(const OpRow& row, const Instr& op, const ValueTypes& types) {
  SortParams params{.marks = {}, .keys = 0, .key_bytes = {}, .outer = 1, .length = 1, .inner = 1};
  params.keys = static_cast<std::size_t>(IntAttrOr(op, "num_keys", 1));
  std::vector<bool> carried(types.in.size(), true);
  std::fill_n(carried.begin(), params.keys, false);
  PALLADION_ASSIGN_OR_RETURN(params.marks, MakeMarkKernel(row, op, types, carried, carried));
  const std::int64_t dim = Int(op, "dim");
  const Shape& shape = types.in[0].shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto place = static_cast<std::int64_t>(d);
    std::size_t& part = place < dim ? params.outer : place == dim ? params.length : params.inner;
    part *= static_cast<std::size_t>(shape[d]);
  }
  std::size_t scratch = params.marks.scratch_bytes() + params.outer * params.inner;
  for (std::size_t k = 0; k < params.keys; ++k) {
    params.key_bytes.push_back(Bytes(types.in[k]));
    scratch += Aligned(params.key_bytes.back());
  }
  return Bind<EvalSort>(std::move(params), scratch);
}

ShadowKernel PrepareParts(const Instr& op, const ValueTypes& types) {
  const std::size_t in = Elements(types.in[0]), out = Elements(types.out[0]);
  if (in == 0 || out == 0)
    return Bind<EvalParts>(PartsParams{.groups = 0, .ratio = 0, .columns = 0, .joins = false, .moves = true});
  // Mosaic's bitcast stacks the pieces along the second-minor dimension; elsewhere they lie next to each other.
  const bool stacks = op.dialect == "tpu" && op.name == "bitcast";
  const std::size_t columns = stacks ? static_cast<std::size_t>(types.in[0].shape.back()) : 1;
  const std::size_t wide = std::min(in, out);
  const bool keys = !types.in[0].key_impl.empty() || !types.out[0].key_impl.empty();
  return Bind<EvalParts>(PartsParams{.groups = wide / columns,
                                     .ratio = std::max(in, out) / wide,
                                     .columns = columns,
                                     .joins = out < in,
                                     .moves = in == out && !keys});
}

}  // namespace palladion::shadow
