// How an instruction uses a TensorCore, by the facts of its row and the types of its operands: which slots of the
// bundles, how often. Based on: costs.h, and JAX's pages on how Pallas lowers to Mosaic: elementwise operations on the
// vector unit at 32 bits and once for registers that are alike, moves across lanes and sublanes on the XLU, products on
// the matrix units. Limits: a division, a power, a sine count as one operation; where a compiler moves nothing because
// of the layout that it chose, a move is counted all the same, and vice versa.
#ifndef PALLADION_EMU_TIMING_TPU_WORK_H_
#define PALLADION_EMU_TIMING_TPU_WORK_H_

#include <cstdint>
#include <unordered_map>

#include "absl/status/statusor.h"
#include "emu/timing/tpu/costs.h"
#include "semantics/ir/module.h"

namespace palladion::timing::tpu {

// Of values: how their registers differ. A dimension along which they do not is 1: the rows of an iota along columns
// are all alike, and what is computed of such values is computed once for all of them.
using TpuDistinct = std::unordered_map<std::int32_t, Shape>;  // by value; one that is not there differs everywhere

struct TpuInstruction {
  TpuWork work;
  Shape distinct;             // of its result
  double registers = 0;       // that its results take
  bool across_lanes = false;  // reduces within a register
  double flops = 0;           // a multiplication and an addition are two
  double products = 0;        // of these, in matrix products
  DType product_type = DType::kBF16;
  bool several = false;  // may be more than one operation to a compiler
  bool prints = false;
  bool closes = false;  // bundles before it and after it are not shared: its regions are branches or turns
};

// Of an instruction that the verifier has seen. Unimplemented: it has no cost; NotFound: a number that the machine
// lacks.
absl::StatusOr<TpuInstruction> InstructionOf(const TpuCosts& costs, const Kernel& kernel, const Instr& instr,
                                             const TpuDistinct& distinct = {});

}  // namespace palladion::timing::tpu

#endif  // PALLADION_EMU_TIMING_TPU_WORK_H_
