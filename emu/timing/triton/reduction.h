// How a block of a Triton kernel reduces a value: what each lane folds, how many rounds of shuffles there are, and
// whether warps have to synchronise. Based on: Triton's blocked layout of a value that was loaded, whose last dimension
// lies over lanes first and whose first one over warps, four elements to a lane; of a product's result, a row lies over
// four lanes, and rows over warps. Limits: a value of more than two dimensions counts as rows of its last one.
#ifndef PALLADION_EMU_TIMING_TRITON_REDUCTION_H_
#define PALLADION_EMU_TIMING_TRITON_REDUCTION_H_

#include <cstdint>
#include <vector>

#include "semantics/ir/module.h"

namespace palladion::timing::triton {

struct TritonTree {
  std::int64_t of_lane = 1;  // results that a lane takes part in
  std::int64_t rounds = 0;   // of shuffles for each
  std::int64_t warps = 1;    // that hold parts of one result
};

struct TritonLayout {
  std::int64_t warps = 4;
  bool product = false;  // as a product's result
};

TritonTree TreeOf(const Shape& shape, const std::vector<bool>& reduced, const TritonLayout& layout);

// Which dimensions an instruction reduces; all where its text does not say.
std::vector<bool> ReducedAxes(const Instr& instr, const Shape& shape);

}  // namespace palladion::timing::triton

#endif  // PALLADION_EMU_TIMING_TRITON_REDUCTION_H_
