// What is legal in a core_map over plgpu.WarpMesh, where each warp runs by itself. Sources: JAX 0.10.2,
// jax/_src/pallas/mosaic_gpu/primitives.py and lowering.py (which operations are registered for warps, the rules of
// core_map and axis_index). An operation that only newer releases have there is let pass.
#include <algorithm>

#include "emu/check/legality/gpu/limits.h"
#include "semantics/base/cat.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

std::optional<std::string> Operation(const OpSite& site) {
  // Of all lanes of the warpgroup together, or with a barrier among its warps.
  static const RuleRows kOfWarpgroups("run_scoped", "run_state", "commit_smem", "commit_tmem", "async_load_tmem",
                                      "async_store_tmem", "wait_load_tmem", "wgmma", "wgmma_ref", "wgmma_wait",
                                      "wgmma_accumulator_deref", "wgmma_accumulator_store", "mma", "set_max_registers",
                                      "async_store_smem", "atomic_store", "multimem_store", "multimem_load_reduce",
                                      "try_cluster_cancel", "query_cluster_cancel", "semaphore_signal_parallel",
                                      "semaphore_read", "get_global", "layout_cast");
  return site.scope.warp != nullptr && kOfWarpgroups.Has(site.op) ? std::optional(site.op.name) : std::nullopt;
}

std::optional<std::string> NextGrid(const OpSite& site) {
  static const RuleRows kNextGrids("griddepcontrol_wait", "griddepcontrol_launch_dependents");
  return site.scope.warp != nullptr && kNextGrids.Has(site.op) ? std::optional(site.op.name) : std::nullopt;
}

std::optional<std::string> Scales(const OpSite& site) {
  static const RuleRows kScales("async_copy_scales_to_tmem");
  if (site.scope.warp == nullptr || site.scope.facts->lanes || !kScales.Has(site.op)) return std::nullopt;
  return site.op.name;
}

std::optional<std::string> Nested(const OpSite& site) {
  static const RuleRows kMaps("core_map", "mpmd_map");
  if (site.scope.warp == nullptr || !kMaps.Has(site.op)) return std::nullopt;
  return site.op.name;
}

std::optional<std::string> Scalars(const OpSite& site) {
  if (site.scope.warp == nullptr || Operation(site).has_value()) return std::nullopt;
  for (const Type& type : site.op.types) {
    if (type.is_array() && !type.shape.empty()) return Cat("a result ", ToString(type));
  }
  return std::nullopt;
}

std::optional<std::string> Closure(const OpSite& site) {
  if (site.scope.warp == nullptr) return std::nullopt;
  const Kernel& kernel = *site.scope.facts->kernel;
  for (const Arg& arg : site.op.args) {
    if (arg.kind != Arg::Kind::kValue || site.scope.defined_in_warp[arg.value.index()]) continue;
    const ValueInfo& value = kernel.values[arg.value.index()];
    if (value.type.is_array() && !value.type.shape.empty()) return Cat("%", value.name, ": ", ToString(value.type));
  }
  return std::nullopt;
}

std::optional<std::string> Axis(const OpSite& site) {
  static const RuleRows kIndices("axis_index");
  if (site.scope.warp == nullptr || !kIndices.Has(site.op)) return std::nullopt;
  const std::string axis = layouts::WordOf(site.op.attrs, "axis");
  const std::vector<std::string> axes = layouts::NamesOf(site.scope.warp->attrs, "axes");
  if (std::find(axes.begin(), axes.end(), axis) != axes.end()) return std::nullopt;
  return Cat("the axis '", axis, "'");
}

std::optional<std::string> ClusterArrive(const OpSite& site) {
  static const RuleRows kArrivals("barrier_arrive");
  if (site.scope.warp == nullptr || !kArrivals.Has(site.op)) return std::nullopt;
  const Kernel& kernel = *site.scope.facts->kernel;
  const Arg* barrier = layouts::ArgNamed(site.op, "barrier");
  if (barrier == nullptr || !layouts::IsRefArg(kernel, *barrier)) return std::nullopt;
  const Type& type = kernel.values[barrier->value.index()].type;
  if (type.element != ElementKind::kClusterBarrier) return std::nullopt;
  return ToString(type);
}

std::optional<std::string> Test(const OpSite& site) {
  static const RuleRows kTests("barrier_test");
  if (site.scope.warp != nullptr || !kTests.Has(site.op)) return std::nullopt;
  return "a test by the whole warpgroup";
}

constexpr std::string_view kOutside = "do it outside of the core_map, in the warpgroup";

constexpr GpuLimit<OpSite> kWarpLimits[] = {
    {{"warp.operation",
      "in a warp there are scalars, control flow, copies, barriers, tcgen05, semaphore_signal and semaphore_wait; "
      "operations of a whole warpgroup are refused",
      "Mosaic GPU lowering, the rules registered for warps", kOutside},
     Operation},
    {{"warp.next-grid", "only the whole warpgroup waits for the previous grid and lets the next one begin",
      "Mosaic GPU lowering, the rules registered for warps", kOutside, true},
     NextGrid},
    {{"warp.scales", "with warpgroup semantics no single warp copies scales",
      "Mosaic GPU lowering, the rules registered for warps", kOutside, true},
     Scales},
    {{"warp.nested", "a core_map over warps holds no other", "Mosaic GPU lowering, core_map",
      "put them one after another"},
     Nested},
    {{"warp.scalars", "a warp computes, loads and stores scalars only", "Mosaic GPU lowering, get and swap", kOutside},
     Scalars},
    {{"warp.closure", "a core_map over warps uses only scalars and refs from outside, no arrays",
      "Mosaic GPU lowering, core_map", "pass the array through SMEM"},
     Closure},
    {{"warp.axis", "in a warp only the warps' own axis has an index", "Mosaic GPU lowering, axis_index",
      "take the index before the core_map", true},
     Axis},
    {{"warp.cluster-arrive", "a warp does not arrive at a cluster barrier", "Mosaic GPU lowering, barrier_arrive",
      kOutside},
     ClusterArrive},
    {{"warp.test", "a barrier is tested in a core_map over warps only", "plgpu.barrier_test",
      "test it in a core_map over plgpu.WarpMesh, or wait with plgpu.barrier_wait", true},
     Test},
};

}  // namespace

absl::Span<const GpuLimit<OpSite>> WarpLimits() { return kWarpLimits; }

}  // namespace palladion::legality
