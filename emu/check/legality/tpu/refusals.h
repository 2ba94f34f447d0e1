// Known refusals of the TPU's compiler (libtpu) for kernels that JAX's lowering accepts, each rule a row. The compiler
// is closed source, and differs by release, so a broken rule is the warning COMPILER, "the compiler may refuse this",
// with the source of the rule and how certain it is; a rule that later releases reportedly lifted is a note. `palladion
// explain COMPILER` and docs/spec/tpu-limits.md are made of the rows. Based on: Mosaic's passes, public in
// jaxlib/mosaic until November 2025; the verifiers of its dialect, which still are; messages of the compiler in public
// issues. Does not catch: what depends on the compiler's layouts of values, or on its registers.
#ifndef PALLADION_EMU_CHECK_LEGALITY_TPU_REFUSALS_H_
#define PALLADION_EMU_CHECK_LEGALITY_TPU_REFUSALS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "emu/check/legality/legality.h"
#include "emu/check/legality/limit_row.h"
#include "emu/check/legality/refusal_text.h"
#include "emu/check/legality/tpu/limits.h"
#include "emu/check/legality/tpu/multiples.h"
#include "emu/check/legality/tpu/tiles.h"

namespace palladion::legality {

// A slice of a ref: a part of a view, or what a load or a store takes.
struct SliceSite {
  const Legality& legality;
  const Multiples& multiples;
  const Instr& op;
  const Slicing& slicing;
};

template <class Site>
struct Refusal {
  RefusalText text;
  std::optional<std::string> (*found)(const Site& site);  // what breaks the rule, none where nothing does
};

// ---- the tables, each in its file refusals_*.cc
absl::Span<const Refusal<SliceSite>> SliceRefusals();   // of a part of a view, a copy's too
absl::Span<const Refusal<SliceSite>> AccessRefusals();  // of a load or a store
absl::Span<const Refusal<TpuOpSite>> TypeRefusals();
absl::Span<const Refusal<TpuOpSite>> ShapeRefusals();
absl::Span<const Refusal<TpuOperandSite>> BlockRefusals();

std::vector<RefusalText> AllRefusals();

// COMPILER, on a kernel of a TensorCore; needs no program.
void CheckRefusals(Legality& legality);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_TPU_REFUSALS_H_
