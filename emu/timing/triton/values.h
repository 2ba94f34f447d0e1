// What Triton's compiler decides about the values of a kernel, as far as kernel text says it: which loads its pipeliner
// fetches ahead, which values are in shared memory when a product reads them, which have the layout of a product's
// result. Based on: Triton's software pipelining, which takes every load of a loop that a product of the same loop
// depends on (AssignLatencies, loadOpsToIndirectionLevel), as JAX 0.10.2 lowers loops with a counter to scf.for; with
// one stage nothing is fetched ahead. Limits: a load of a few bytes, which Triton leaves where it is, counts as any
// other; the layouts that Triton would choose elsewhere are not followed.
#ifndef PALLADION_EMU_TIMING_TRITON_VALUES_H_
#define PALLADION_EMU_TIMING_TRITON_VALUES_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "semantics/ir/module.h"

namespace palladion::timing::triton {

class TritonValues {
 public:
  // `kernel` is verified and outlives it.
  explicit TritonValues(const Kernel& kernel);

  bool Prefetched(const Instr& load) const { return prefetched_.contains(&load); }
  // It goes from global to shared memory, and nothing but products read it there.
  bool OnlyMultiplied(const Instr& load) const { return only_multiplied_.contains(&load); }
  // Where an operand of a product comes from, through transposes: the load, or nullptr.
  const Instr* LoadOf(const Arg& operand) const;
  // As a product's result lies over the lanes of a block, not as a load's.
  bool LiesAsProduct(ValueId value) const { return as_product_.contains(value.value); }
  // A sum with the result of a product that nothing else reads: the product adds it.
  bool JoinsProduct(const Instr& sum) const { return joined_.contains(&sum); }
  // The product whose result nothing but such a sum reads.
  bool AddedUp(const Instr& product) const;
  // Of a loop, those inside of its inner loops left out.
  std::vector<const Instr*> ProductsOf(const Instr* loop) const;
  // The innermost loop around it; nullptr: none.
  const Instr* LoopOf(const Instr& instr) const;

 private:
  struct Made {
    const Instr* by = nullptr;
    const Instr* loop = nullptr;
  };
  void Walk(const Region& region, const Instr* loop);
  void FindPrefetched(const Instr& product, const Instr* loop);
  void FindProducts(const Region& region);
  const Made* MadeOf(ValueId value) const;

  std::map<std::int32_t, Made> made_;  // by value
  std::map<const Instr*, const Instr*> loop_of_;
  std::set<const Instr*> prefetched_, only_multiplied_, joined_;
  std::set<std::int32_t> as_product_, elsewhere_;
};

}  // namespace palladion::timing::triton

#endif  // PALLADION_EMU_TIMING_TRITON_VALUES_H_
