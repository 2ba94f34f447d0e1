// Known divisors of the integer scalars of a TPU kernel, as far as its compiler knows them: constants, what
// pl.multiple_of promises, sums, products and choices of such. A grid index, a counter of a loop, a carry and a loaded
// number are multiples of 1. Based on: isGuaranteedDivisible of the compiler's public source
// (jaxlib/mosaic/dialect/tpu, until November 2025), and more permissive: remainders, shifts and masks count too, so an
// offset that a later release may prove is not reported.
#ifndef PALLADION_EMU_CHECK_LEGALITY_TPU_MULTIPLES_H_
#define PALLADION_EMU_CHECK_LEGALITY_TPU_MULTIPLES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "semantics/ir/module.h"

namespace palladion::legality {

struct KnownMultiple {
  std::int64_t of = 1;                   // it divides the number; 0: the number is 0
  std::optional<std::int64_t> number{};  // of a constant
  bool is_static = false;  // the compiler has the number, and we do not: a counter of a loop that is written out
};

class Multiples {
 public:
  explicit Multiples(const Kernel& kernel);  // which outlives this

  KnownMultiple Of(const Arg& arg) const;

 private:
  void Walk(const Region& region);
  void EnterRegions(const Instr& op);
  void EnterLoop(const Instr& op);
  void LeaveRegions(const Instr& op);
  KnownMultiple Result(const Instr& op) const;
  KnownMultiple OfGrid(const Instr& op) const;
  KnownMultiple OfTwo(const Instr& op, const KnownMultiple& a, const KnownMultiple& b) const;
  void Set(ValueId id, const KnownMultiple& known);

  const Kernel& kernel_;
  std::vector<KnownMultiple> known_;  // by value
};

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_TPU_MULTIPLES_H_
