// What JAX's lowering for a TPU's TensorCore refuses, each rule a row (limit_row.h): blocks, memory, copies, values,
// contractions, control flow, launches. `palladion explain ILLEGAL` lists them, docs/spec/tpu-limits.md is made of
// them, and a finding carries the name. Based on: JAX 0.10.2,
// jax/_src/pallas/mosaic/{lowering,pallas_call_registration}.py, and the verifiers of the MLIR dialects tpu, vector,
// arith and memref that it writes. What is known from the text alone, so a kernel that cannot be prepared is judged
// too. Does not catch: what the TPU's compiler behind it refuses, and what is right only inside of shard_map.
#ifndef PALLADION_EMU_CHECK_LEGALITY_TPU_LIMITS_H_
#define PALLADION_EMU_CHECK_LEGALITY_TPU_LIMITS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "emu/check/legality/legality.h"
#include "emu/check/legality/limit_row.h"

namespace palladion::legality {

// ---- what rules are about

struct TpuOperandSite {
  const Legality& legality;
  std::size_t index = 0;
  const Operand& operand;
  const Type& array;
  Space space;           // of what the kernel sees
  bool trivial = false;  // all of the array, which never moves
};

struct TpuOpSite {
  const Legality& legality;
  const Instr& op;

  Type In(std::size_t i) const;   // of an operand: a value's type; of a ref its own. An i32 where there is none
  Type Out(std::size_t i) const;  // of a result
  std::size_t Operands() const { return op.args.size(); }
};

// One ref operand of any operation, with its chain of views.
struct TpuViewSite {
  const Legality& legality;
  const Instr& op;
  const Arg& view;
  const Type& ref;         // the ref's type, without the chain
  bool is_loaded = false;  // of a load or a store: its last index is the access itself
};

// A load or a store.
struct TpuAccessSite {
  const Legality& legality;
  const Instr& op;
  const Arg& view;
  Space space;
  Type value;
  bool is_store = false;
  const Arg* mask = nullptr;
};

// ---- the tables, each in a file of this folder
absl::Span<const Limit<TpuOperandSite>> TpuHbmBlockLimits();  // looked at in plain runs too, as are direct accesses
absl::Span<const Limit<TpuOperandSite>> TpuBlockLimits();
absl::Span<const Limit<TpuOperandSite>> TpuOperandLimits();
absl::Span<const Limit<Kernel>> TpuLaunchLimits();
absl::Span<const Limit<TpuViewSite>> TpuViewLimits();
absl::Span<const Limit<TpuAccessSite>> TpuDirectAccessLimits();
absl::Span<const Limit<TpuAccessSite>> TpuAccessLimits();
absl::Span<const Limit<TpuOpSite>> TpuCopyLimits();
absl::Span<const Limit<TpuOpSite>> TpuArithmeticLimits();
absl::Span<const Limit<TpuOpSite>> TpuReductionLimits();
absl::Span<const Limit<TpuOpSite>> TpuShapeLimits();
absl::Span<const Limit<TpuOpSite>> TpuDotLimits();
absl::Span<const Limit<TpuOpSite>> TpuMatrixUnitLimits();
absl::Span<const Limit<TpuOpSite>> TpuControlLimits();

std::vector<LimitText> AllTpuLimits();

// ---- used by several of them

Space TpuSpace(Space space);  // what a memory space means to a TensorCore
std::string TpuBlockText(const BlockSpec& block);
bool HasSqueezedDims(const Legality& legality, ValueId ref);
bool IsStrided(const Transform& at);

// The tables, on a kernel of Mosaic TPU.
void CheckTpu(Legality& legality);
void CheckTpuDirectAccess(Legality& legality);  // of them, only loads, stores and blocks of HBM

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_TPU_LIMITS_H_
