// The arithmetic of one matrix instruction whose operands have scales, whose a is sparse, or both (docs/spec/
// gpu-tcgen05.md#tcgen05_mma): as Mma, with products (a * scale of a) * (b * scale of b), which are exact in double.
// Based on: OCP Microscaling Formats v1.0, the PTX ISA's block scaling and sparse matrices of tcgen05.mma. What it does
// not check: shapes and types (the verifier), and that the two positions of a group increase, as PTX demands.
#ifndef PALLADION_SEMANTICS_OPS_GPU_SCALED_MMA_H_
#define PALLADION_SEMANTICS_OPS_GPU_SCALED_MMA_H_

#include <cstdint>
#include <vector>

#include "semantics/ops/gpu/tmem_packing.h"
#include "semantics/port/machine.h"

namespace palladion {

// k is b's: a sparse a has k/2 columns.
struct ScaledMmaForm {
  std::int64_t m = 0, n = 0, k = 0;
  DType a = DType::kF8E4M3FN, b = DType::kF8E4M3FN, acc = DType::kF32;
  std::int64_t block = 0;  // elements along k that have one scale; 0: no scales
  DType scale = DType::kF8E8M0FNU;
  TmemLayoutName b_scales = TmemLayoutName::kScales;
  bool sparse = false;
};

// Values of refs, each dense and row-major. Scales have k / block columns, and at least the rows of their operand.
struct ScaledMmaOperands {
  const AsyncValue& a;
  const AsyncValue& b;
  const AsyncValue& acc;
  const AsyncValue* a_scale = nullptr;
  const AsyncValue* b_scale = nullptr;
  const AsyncValue* positions = nullptr;  // of a sparse a, as its ref of TMEM has them
};

class ScaledMma {
 public:
  explicit ScaledMma(const ScaledMmaForm& form);

  // Bytes and marks of the accumulator after, from all operands before. Allocates its scratch; any thread may call it.
  void Run(const ScaledMmaOperands& in, AsyncValue* out) const;

 private:
  // Where along b's k the stored elements of a's row belong.
  std::vector<std::int64_t> KeptOf(std::int64_t row, const AsyncValue* positions) const;
  std::vector<double> ScaledA(const ScaledMmaOperands& in) const;
  std::vector<double> ScaledB(const ScaledMmaOperands& in) const;
  void Multiply(const ScaledMmaOperands& in, AsyncValue* out) const;
  void MarkUndefined(const ScaledMmaOperands& in, AsyncValue* out) const;
  std::uint8_t MarkOfRow(std::int64_t row, const ScaledMmaOperands& in) const;
  std::vector<std::uint8_t> MarksOfColumns(const std::vector<std::int64_t>& kept, const ScaledMmaOperands& in) const;
  std::int64_t BlockOf(std::int64_t k) const { return k / form_.block; }

  ScaledMmaForm form_;
  std::int64_t stored_ = 0;         // columns of a
  std::int64_t scale_columns_ = 0;  // k / block
  std::int64_t pair_ = 1;           // elements that one position places: two of four bits
  std::vector<std::int64_t> dense_, scale_row_;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_GPU_SCALED_MMA_H_
