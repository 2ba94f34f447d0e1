// The arithmetic of one matrix instruction: accumulator plus product. The one place that says how its numbers come
// about, so that a mode that gives the bits of a chip's matrix unit has one place to be in. Today: exact (docs/spec/
// gpu-wgmma.md#wgmma_ref).
#ifndef PALLADION_SEMANTICS_OPS_MATRIX_MMA_H_
#define PALLADION_SEMANTICS_OPS_MATRIX_MMA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/types/span.h"
#include "semantics/port/machine.h"
#include "semantics/registry/value_kernel.h"
#include "semantics/simd/dot.h"

namespace palladion {

// What one instruction multiplies. b's columns may be in several values, side by side and of equal width.
struct MmaOperands {
  const AsyncValue& a;
  absl::Span<const AsyncValue* const> b;
  const AsyncValue* acc = nullptr;  // nullptr: zeros
};

// acc[m,n] += sum over k of a[m,k] * b[k,n]; all three row-major, dense or where their views say.
class Mma {
 public:
  struct Form {
    std::int64_t m, n, k;
    DType a, b, acc;
  };
  explicit Mma(const Form& form);

  // The elements alone, of dense operands, with at least scratch_bytes() of scratch; nothing is allocated. `out` is
  // none of the operands.
  void Multiply(const std::byte* a, const std::byte* b, const std::byte* acc, std::byte* out,
                absl::Span<std::byte> scratch) const;
  std::size_t scratch_bytes() const;

  // Elements and marks of the accumulator after, from all before. Of the operands acc alone may be where `out` is, and
  // is there then in the same view. Any thread may call it.
  void Run(const MmaOperands& in, AsyncValue* out) const;

 private:
  // What a run needs of its own, kept for the next one.
  struct Room {
    std::vector<std::byte> scratch, a, b, sum;
    // Offsets of the views that were last, which most often are the next ones' too.
    std::vector<std::int64_t> a_form, a_row, a_k, b_form, b_column, b_k;
  };
  struct Rooms {
    std::mutex mutex;
    std::vector<std::unique_ptr<Room>> free;
  };

  std::unique_ptr<Room> TakeRoom() const;
  simd::DotShape shape() const;
  simd::DotOperand Left(const AsyncValue& a, Room* room) const;
  simd::DotOperand Right(absl::Span<const AsyncValue* const> b, Room* room) const;
  bool InOneTable(absl::Span<const ValueView> parts, Room* room) const;
  void AddTo(const simd::DotOperand& a, const simd::DotOperand& b, const AsyncValue* acc, Room* room,
             AsyncValue* out) const;
  void MarkUndefined(const MmaOperands& in, AsyncValue* out) const;

  std::int64_t m_, n_, k_;
  DType a_, b_, acc_;
  // Offsets of rows and columns, as simd::Dot takes them.
  std::vector<std::int64_t> a_row_, a_k_, b_column_, b_k_;
  std::shared_ptr<Rooms> rooms_;
};

// What wgmma and tcgen05 take an operand's bytes for: JAX's lowering names every integer operand s8.
DType Multiplied(DType dtype);

// Adds `acc` to `out`, which are integers of this type, as many as their bytes hold; sums wrap.
void AddWrapped(DType dtype, const std::byte* acc, absl::Span<std::byte> out);

// Offsets of a dimension, as simd::Dot takes them: 0, stride, ...
std::vector<std::int64_t> Multiples(std::int64_t count, std::int64_t stride);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_MATRIX_MMA_H_
