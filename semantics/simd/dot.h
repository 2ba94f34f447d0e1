// The contraction behind dot_general: out[i][j] = sum over k of a[i][k] * b[k][j], with `exact` semantics
// (docs/spec/dot.md). The bits depend on the operands' values only, never on the SIMD target, the blocking or the host.
//
// - Float: exact products, accumulated in one double per output over strictly increasing k, rounded once to the output
//   type. Where a product may need more than a double's 53 bits (an f64 operand, i32 x f32), each step is one fused
//   multiply-add, so that only the accumulation rounds. A 64-bit integer next to a float is rounded to double first.
// - Integer operands, integer or bool output: the exact sum modulo 2^bits of the output; bool is "not 0".
// - Integer operands, float output: as float. Float operands, integer output: the double is truncated toward zero and
//   clamped to the type; NaN gives 0.
// - A NaN in the result is the output type's one quiet NaN. Nothing to sum (k = 0) gives +0.
//
// Based on: Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication (panels and blocks). It does not
// batch (shift the data pointers), and does not form the modes of a named chip's matrix unit.
#ifndef PALLADION_SEMANTICS_SIMD_DOT_H_
#define PALLADION_SEMANTICS_SIMD_DOT_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "semantics/base/dtype.h"
#include "semantics/base/run_control.h"
#include "semantics/simd/parallel.h"
#include "semantics/simd/target.h"

namespace palladion::simd {

// Element (i, k) lies at data[outer_offset[i] + k_offset[k]], offsets in elements. Any tables are right; runs of
// consecutive offsets in either table are fast.
struct DotOperand {
  const void* data;
  DType dtype;
  const std::int64_t* outer_offset;  // m entries for a, n for b
  const std::int64_t* k_offset;      // k entries
};

struct DotShape {
  std::size_t m;
  std::size_t n;
  std::size_t k;
};

double WorkOf(DotShape shape);  // multiply-adds
// So many take as long as an elementwise operation on one element.
inline constexpr double kMultiplyAddsOfElement = 16;

// The helpers, and the caller's way to say that the result is not wanted any more: `out` then holds anything.
struct DotHelp {
  Parallel* parallel = nullptr;
  const RunControl* control = nullptr;
};

// Large enough that Dot splits it over the threads it is given.
bool WorthSharing(DotShape shape);

// Bytes of scratch that Dot needs for this shape, any types and any target, when it may split its work over `threads`;
// about 1.5 MiB a thread at most.
std::size_t DotScratchBytes(DotShape shape, std::size_t threads = 1);

// Where the m x n elements go, row-major, `stride` elements from one row to the next; 0: n. A single
// column has no other stride.
struct DotResult {
  DType dtype;
  void* data;
  // Where `dtype` is a float: elements of it as in `data`. Each sum is added to its element, in double, before the one
  // rounding. May be `data` itself.
  const void* addend = nullptr;
  std::size_t stride = 0;
};

// The result overlaps neither operand.
struct DotCall {
  DotOperand a, b;
  DotShape shape;
  DotResult result;
};

// `scratch` has at least DotScratchBytes(shape, parallel's threads) bytes, any alignment; nothing is allocated. With
// `help.parallel`, a large product is computed on its threads; the bits are the same.
void Dot(const DotCall& call, absl::Span<std::byte> scratch, Target target = ActiveTarget(), DotHelp help = {});

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_DOT_H_
