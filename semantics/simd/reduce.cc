#include "semantics/simd/reduce.h"

#include <algorithm>
#include <cstring>

#include "semantics/simd/moves.h"
#include "semantics/simd/reduce_internal.h"

namespace palladion::simd {
namespace {

constexpr std::size_t kBlock = 64;  // outputs whose sums are held before they are rounded

BinaryOp ElementOp(ReduceOp op) {
  constexpr BinaryOp kOps[kReduceOpCount] = {BinaryOp::kAdd, BinaryOp::kMul,    BinaryOp::kMax,
                                             BinaryOp::kMin, BinaryOp::kMaxNum, BinaryOp::kMinNum,
                                             BinaryOp::kAnd, BinaryOp::kOr,     BinaryOp::kXor};
  return kOps[static_cast<std::size_t>(op)];
}

void SumRows(const ReduceKernel& kernel, const std::byte* x, const MiddleAxis& shape, std::byte* out) {
  const std::size_t size = StorageBytes(kernel.dtype);
  double sums[kBlock];
  for (std::size_t o = 0; o < shape.outer; o += kBlock) {
    const std::size_t rows = std::min(kBlock, shape.outer - o);
    kernel.row_sums(x + o * shape.length * size, rows, shape.length, sums);
    kernel.round(sums, out + o * size, rows);
  }
}

void SumColumns(const ReduceKernel& kernel, const std::byte* x, const MiddleAxis& shape, std::byte* out) {
  const std::size_t size = StorageBytes(kernel.dtype);
  double sums[kBlock];
  for (std::size_t o = 0; o < shape.outer; ++o) {
    for (std::size_t i = 0; i < shape.inner; i += kBlock) {
      const std::size_t columns = std::min(kBlock, shape.inner - i);
      kernel.column_sums(x + (o * shape.length * shape.inner + i) * size, shape.length, shape.inner, columns, sums);
      kernel.round(sums, out + (o * shape.inner + i) * size, columns);
    }
  }
}

// Row after row into the output: exact operations, so that the order is of no consequence.
void AccumulateColumns(const ReduceKernel& kernel, const std::byte* x, const MiddleAxis& shape, std::byte* out) {
  const std::size_t row = shape.inner * StorageBytes(kernel.dtype);
  for (std::size_t o = 0; o < shape.outer; ++o, out += row) {
    kernel.start(x, &kernel.identity, out, shape.inner);
    x += row;
    for (std::size_t k = 1; k < shape.length; ++k, x += row) kernel.accumulate(out, x, out, shape.inner);
  }
}

void RunSimd(const ReduceKernel& kernel, const void* in, const MiddleAxis& shape, void* out) {
  const auto* x = static_cast<const std::byte*>(in);
  auto* z = static_cast<std::byte*>(out);
  if (shape.length == 0) {
    Fill(&kernel.empty, StorageBytes(kernel.dtype), out, shape.outer * shape.inner);
  } else if (kernel.rows != nullptr && shape.inner == 1) {
    kernel.rows(in, shape.outer, shape.length, out);
  } else if (kernel.rows != nullptr) {
    AccumulateColumns(kernel, x, shape, z);
  } else if (shape.inner == 1) {
    SumRows(kernel, x, shape, z);
  } else {
    SumColumns(kernel, x, shape, z);
  }
}

}  // namespace

ReduceKernel FindReduce(ReduceOp op, DType dtype, Target target) {
  ReduceKernel kernel = FindReduceScalar(op, dtype);
  if (!kernel.valid) return kernel;
  AddReduceSimd(op, dtype, target, kernel);
  kernel.accumulate = FindBinary(ElementOp(op), dtype, Form::kVV, target);
  kernel.start = FindBinary(ElementOp(op), dtype, Form::kVS, target);
  if (kernel.rows != nullptr || kernel.row_sums != nullptr) kernel.run = &RunSimd;
  return kernel;
}

}  // namespace palladion::simd
