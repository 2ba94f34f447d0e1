// The rules of operations that bring many elements together: reductions, cumulative operations, contractions.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "semantics/base/status.h"
#include "semantics/ops/flow/shadow_rules.h"
#include "semantics/ops/shape/shape_common.h"
#include "semantics/registry/attrs.h"

namespace palladion::shadow {
namespace {

// The box that merges an array into one of the dimensions `kept`, dense in the order of that list.
MergeBox Onto(const Shape& shape, const Axes& kept) {
  const std::vector<std::int64_t> from = ElementStrides(shape);
  std::vector<MergeDim> dims;
  for (std::size_t d = 0; d < shape.size(); ++d) dims.push_back({shape[d], from[d], 0});
  std::int64_t step = 1;
  for (std::size_t i = kept.size(); i-- > 0;) {
    const auto d = static_cast<std::size_t>(kept[i]);
    dims[d].to = step;
    step *= shape[d];
  }
  return MergeBox(dims);
}

// The axes below `rank` that none of the lists has.
Axes Others(int rank, const Axes& a, const Axes& b = {}) {
  Axes others;
  for (int d = 0; d < rank; ++d) {
    if (!Contains(a, d) && !Contains(b, d)) others.push_back(d);
  }
  return others;
}

struct ReduceParams {
  MergeBox box;
  std::size_t results;
};
void EvalReduce(const ReduceParams& p, const ShadowOperands& operands) {
  std::fill_n(operands.out_undefined[0], p.results, Mark{0});
  p.box(operands.in_undefined[0], operands.out_undefined[0]);
  Compute(operands.out_undefined[0], p.results);
}

struct PrefixParams {
  std::size_t outer, length, inner;
  bool reverse;
};
void EvalPrefix(const PrefixParams& p, const ShadowOperands& operands) {
  const std::size_t plane = p.length * p.inner;
  Mark* out = operands.out_undefined[0];
  std::copy_n(operands.in_undefined[0], p.outer * plane, out);
  Compute(out, p.outer * plane);
  for (std::size_t o = 0; o < p.outer; ++o, out += plane) {
    for (std::size_t k = 1; k < p.length; ++k) {
      const std::size_t row = p.reverse ? p.length - 1 - k : k;
      const std::size_t before = p.reverse ? row + 1 : row - 1;
      MergeInto(out + before * p.inner, out + row * p.inner, p.inner);
    }
  }
}

struct DotParams {
  MergeBox a, b;                     // onto [batch, m] and [batch, n]
  std::size_t batch, rows, columns;  // rows and columns of one batch
  std::size_t first;                 // which operand A is; one before it is added to the product
};
void EvalDot(const DotParams& p, const ShadowOperands& operands) {
  Mark* rows = reinterpret_cast<Mark*>(operands.scratch);
  Mark* columns = rows + p.batch * p.rows;
  std::fill_n(rows, p.batch * (p.rows + p.columns), Mark{0});
  if (operands.in_undefined[p.first] != nullptr) p.a(operands.in_undefined[p.first], rows);
  if (operands.in_undefined[p.first + 1] != nullptr) p.b(operands.in_undefined[p.first + 1], columns);
  Compute(rows, p.batch * (p.rows + p.columns));
  Mark* out = operands.out_undefined[0];
  for (std::size_t batch = 0; batch < p.batch; ++batch, columns += p.columns) {
    for (std::size_t m = 0; m < p.rows; ++m, ++rows, out += p.columns) {
      std::copy_n(columns, p.columns, out);
      MergeInto(*rows, out, p.columns);
    }
  }
  if (p.first == 0 || operands.in_undefined[0] == nullptr) return;
  out = operands.out_undefined[0];
  const std::size_t results = p.batch * p.rows * p.columns;
  for (std::size_t i = 0; i < results; ++i) out[i] = MergeMarks(out[i], ComputedMark(operands.in_undefined[0][i]));
}

}  // namespace

ShadowKernel PrepareReduce(const Instr& op, const ValueTypes& types) {
  const Type& x = types.in[0];
  const Axes axes = HasAttr(op, "axes") ? Ints(op, "axes") : Axes{Int(op, "axis")};
  return Bind<EvalReduce>(
      ReduceParams{.box = Onto(x.shape, Others(x.rank(), axes)), .results = Elements(types.out[0])});
}

ShadowKernel PreparePrefix(const Instr& op, const ValueTypes& types) {
  PrefixParams params{.outer = 1, .length = 1, .inner = 1, .reverse = BoolAttrOr(op, "reverse", false)};
  const std::int64_t axis = Int(op, "axis");
  const Shape& shape = types.in[0].shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto place = static_cast<std::int64_t>(d);
    std::size_t& part = place < axis ? params.outer : place == axis ? params.length : params.inner;
    part *= static_cast<std::size_t>(shape[d]);
  }
  return Bind<EvalPrefix>(params);
}

absl::StatusOr<ShadowKernel> PrepareDot(const Instr& op, const ValueTypes& types) {
  std::vector<Axes> contract = {{1}, {0}}, batch = {{}, {}};  // of matrices, where nothing else is said
  if (HasAttr(op, "contract")) {
    PALLADION_ASSIGN_OR_RETURN(contract, IntListsAttr(op, "contract"));
    PALLADION_ASSIGN_OR_RETURN(batch, IntListsAttr(op, "batch"));
  }
  DotParams params{.a = {}, .b = {}, .batch = 1, .rows = 1, .columns = 1, .first = types.in.size() - 2};
  for (std::size_t i = 0; i < 2; ++i) {
    const Shape& shape = types.in[params.first + i].shape;
    const Axes free = Others(types.in[params.first + i].rank(), contract[i], batch[i]);
    Axes kept = batch[i];
    kept.insert(kept.end(), free.begin(), free.end());
    (i == 0 ? params.a : params.b) = Onto(shape, kept);
    for (std::int64_t d : free) {
      (i == 0 ? params.rows : params.columns) *= static_cast<std::size_t>(shape[static_cast<std::size_t>(d)]);
    }
  }
  for (std::int64_t d : batch[0]) {
    params.batch *= static_cast<std::size_t>(types.in[params.first].shape[static_cast<std::size_t>(d)]);
  }
  const std::size_t scratch = params.batch * (params.rows + params.columns);
  return Bind<EvalDot>(std::move(params), scratch);
}

}  // namespace palladion::shadow
