// Primitives that at least one backend accepts and Palladion does not run yet: each a row with its reason, so that a
// kernel that uses one is refused by name and line. Based on: the lowering rules of the three Pallas backends of JAX
// 0.8 to 0.12. Dialects separate names that JAX uses twice: `sc` is SparseCore, `mgpu` is Mosaic GPU. SparseCore
// counts as Mosaic TPU.
#include <string_view>

#include "absl/types/span.h"
#include "semantics/ops/families.h"
#include "semantics/registry/op_row.h"

namespace palladion {
namespace {

// The backends that accept it, and what it does there.
struct Kind {
  Backends backends;
  Effect effect;
  Unit unit;
};

constexpr OpRow Later(std::string_view dialect, std::string_view name, std::string_view spec, Kind kind,
                      std::string_view reason) {
  // Of others the worst, until they are done.
  const bool pure = kind.effect == Effect::kPure || kind.effect == Effect::kPrints;
  return {.dialect = dialect,
          .name = name,
          .spec = spec,
          .effect = kind.effect,
          .waits = pure ? Waits::kNever : Waits::kUnsaid,
          .signals = pure ? Signals::kNever : Signals::kMay,
          .decides = pure ? Decides::kNever : Decides::kAlways,
          .backends = kind.backends,
          .unit = kind.unit,
          .status = OpStatus::kUnsupported,
          .reason = reason};
}

constexpr std::string_view kMma = "the queues of a TPU's matrix unit: not modelled yet";
constexpr std::string_view kOpaque = "opaque code: no meaning outside its compiler";
constexpr std::string_view kCompilerInternal =
    "a detail of the compiler that kernels do not write themselves: not modelled yet";
constexpr std::string_view kWrittenOtherwise =
    "palladion.export writes what it means with other operations; kernel text has no such thing";
constexpr std::string_view kBeforeHopper =
    "JAX's lowering takes it for GPUs before Hopper only (cp.async), of which there is no target here";
constexpr std::string_view kOfLowering =
    "JAX's lowering makes it of an operation that kernel text has; no kernel that it traces contains it";
constexpr std::string_view kConvolution = "convolutions and the greatest k elements: not modelled yet";

constexpr OpRow kUnsupportedOps[] = {
    Later("", "wgmma", "unsupported.md#wgmma", {kGpu, Effect::kReads, Unit::kMatrix}, kOfLowering),
    Later("", "prng_split", "unsupported.md#prng_split", {kTpu, Effect::kPure, Unit::kVector}, kWrittenOtherwise),
    Later("", "prng_join", "unsupported.md#prng_join", {kTpu, Effect::kPure, Unit::kVector}, kWrittenOtherwise),
    Later("sc", "load", "unsupported.md#sc.load", {kTpu, Effect::kReads, Unit::kMemory},
          "SparseCore, which is not modelled (docs/reference/sparsecore.md): a vector load with a mask or expansion"),
    Later("sc", "swap", "unsupported.md#sc.swap", {kTpu, Effect::kReadsWrites, Unit::kMemory},
          "SparseCore, which is not modelled (docs/reference/sparsecore.md): a vector store with a mask, compression "
          "or addition"),
    Later("sc", "gather", "unsupported.md#sc.gather", {kTpu, Effect::kReads, Unit::kMemory},
          "SparseCore, which is not modelled (docs/reference/sparsecore.md): a load at a vector of indices"),
    Later(
        "sc", "scatter", "unsupported.md#sc.scatter", {kTpu, Effect::kReadsWrites, Unit::kMemory},
        "SparseCore, which is not modelled (docs/reference/sparsecore.md): a store or addition at a vector of indices"),
    Later("sc", "bitcast", "unsupported.md#sc.bitcast", {kTpu, Effect::kPure, Unit::kVector},
          "SparseCore, which is not modelled (docs/reference/sparsecore.md): a vector register seen as another type"),
    Later("sc", "barrier", "unsupported.md#sc.barrier", {kTpu, Effect::kSynchronises, Unit::kControl},
          "SparseCore, which is not modelled (docs/reference/sparsecore.md): a barrier of a core's subcores"),
    Later("sc", "unique", "unsupported.md#sc.unique", {kTpu, Effect::kPure, Unit::kVector},
          "SparseCore, which is not modelled (docs/reference/sparsecore.md): counts of equal lanes so far"),
    Later("sc", "masked_cumsum", "unsupported.md#sc.masked_cumsum", {kTpu, Effect::kPure, Unit::kVector},
          "SparseCore, which is not modelled (docs/reference/sparsecore.md): a running sum of the selected lanes"),
    Later("sc", "masked_cummax", "unsupported.md#sc.masked_cummax", {kTpu, Effect::kPure, Unit::kVector},
          "SparseCore, which is not modelled (docs/reference/sparsecore.md): a running maximum of the selected lanes"),
    Later("sc", "masked_cummin", "unsupported.md#sc.masked_cummin", {kTpu, Effect::kPure, Unit::kVector},
          "SparseCore, which is not modelled (docs/reference/sparsecore.md): a running minimum of the selected lanes"),
    Later("sc", "masked_sort", "unsupported.md#sc.masked_sort", {kTpu, Effect::kPure, Unit::kVector},
          "SparseCore, which is not modelled (docs/reference/sparsecore.md): a sort of the selected lanes by key"),
    Later("sc", "pack", "unsupported.md#sc.pack", {kTpu, Effect::kPure, Unit::kVector},
          "SparseCore, which is not modelled (docs/reference/sparsecore.md): two vectors as one of half the width"),
    Later("sc", "unpack", "unsupported.md#sc.unpack", {kTpu, Effect::kPure, Unit::kVector},
          "SparseCore, which is not modelled (docs/reference/sparsecore.md): one vector as two of twice the width"),
    Later("sc", "parallel_loop", "unsupported.md#sc.parallel_loop", {kTpu, Effect::kControl, Unit::kControl},
          "SparseCore, which is not modelled (docs/reference/sparsecore.md): a loop whose turns have no order"),
    Later("sc", "all_reduce_population_count", "unsupported.md#sc.all_reduce_population_count",
          {kTpu, Effect::kPure, Unit::kVector},
          "SparseCore, which is not modelled (docs/reference/sparsecore.md): how many lanes are true"),
    Later("sc", "all_reduce_ffs", "unsupported.md#sc.all_reduce_ffs", {kTpu, Effect::kPure, Unit::kVector},
          "SparseCore, which is not modelled (docs/reference/sparsecore.md): the first true lane"),
    Later("sc", "sc_fetch_and_add", "unsupported.md#sc.sc_fetch_and_add", {kTpu, Effect::kReadsWrites, Unit::kMemory},
          "SparseCore, which is not modelled (docs/reference/sparsecore.md): an atomic addition in another subcore's "
          "scalar "
          "memory"),
    Later("", "mpmd_map", "unsupported.md#mpmd_map", {kGpu, Effect::kControl, Unit::kControl}, kWrittenOtherwise),
    Later("", "emit_pipeline", "unsupported.md#emit_pipeline", {kTpu, Effect::kControl, Unit::kControl},
          kWrittenOtherwise),
    Later("", "pipeline_body", "unsupported.md#pipeline_body", {kTpu, Effect::kControl, Unit::kControl},
          kWrittenOtherwise),
    Later("", "jaxpr_call", "unsupported.md#jaxpr_call", {kGpu, Effect::kControl, Unit::kControl}, kWrittenOtherwise),
    Later("", "debug_callback", "unsupported.md#debug_callback", {kTpu, Effect::kPrints, Unit::kControl}, kOpaque),
    Later("", "_copysign", "unsupported.md#_copysign", {kGpu, Effect::kPure, Unit::kVector}, kOfLowering),
    Later("", "add_dependency", "unsupported.md#add_dependency", {kTpu, Effect::kPure, Unit::kNone}, kWrittenOtherwise),
    Later("", "trace_value", "unsupported.md#trace_value", {kTpu, Effect::kPrints, Unit::kNone}, kWrittenOtherwise),
    Later("", "with_memory_space_constraint", "unsupported.md#with_memory_space_constraint",
          {kTpu, Effect::kPure, Unit::kNone}, kWrittenOtherwise),
    Later("", "einshape_lo", "unsupported.md#einshape_lo", {kTpu, Effect::kPure, Unit::kVector}, kWrittenOtherwise),
    Later("", "dim_as_value", "unsupported.md#dim_as_value", {kTpu, Effect::kPure, Unit::kScalar}, kCompilerInternal),
    Later("", "wait_gmem_to_smem", "unsupported.md#wait_gmem_to_smem", {kGpu, Effect::kSynchronises, Unit::kMemory},
          kBeforeHopper),
    Later("", "matmul_lhs_fifo", "unsupported.md#matmul_lhs_fifo", {kTpu, Effect::kReadsWrites, Unit::kMatrix}, kMma),
    Later("", "matmul_pop_fifo", "unsupported.md#matmul_pop_fifo", {kTpu, Effect::kReads, Unit::kMatrix}, kMma),
    Later("", "conv", "unsupported.md#conv", {kTpu, Effect::kPure, Unit::kMatrix}, kConvolution),
    Later("", "conv_general_dilated", "unsupported.md#conv_general_dilated", {kTpu, Effect::kPure, Unit::kMatrix},
          kConvolution),
    Later("", "top_k", "unsupported.md#top_k", {kTpu, Effect::kPure, Unit::kVector}, kConvolution),
    Later("", "approx_top_k", "unsupported.md#approx_top_k", {kTpu, Effect::kPure, Unit::kVector}, kConvolution),
    Later("", "has_memory_space", "unsupported.md#has_memory_space", {kTpu, Effect::kPure, Unit::kNone},
          kCompilerInternal),
    Later("sc", "scan_count", "unsupported.md#sc.scan_count", {kTpu, Effect::kPure, Unit::kVector},
          "SparseCore, which is not modelled (docs/reference/sparsecore.md): counts of equal lanes so far"),
};

}  // namespace

absl::Span<const OpRow> UnsupportedOps() { return kUnsupportedOps; }

}  // namespace palladion
