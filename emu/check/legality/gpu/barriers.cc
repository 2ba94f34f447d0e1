// Which barriers an operation may use, and the requirements of cluster launch control. Sources: JAX 0.10.2,
// jax/_src/pallas/mosaic_gpu/primitives.py (the lowering of each operation, _get_barrier_base_index),
// jax/experimental/mosaic/gpu/utils.py (BarrierRef, CollectiveBarrierRef, DialectBarrierRef) and the dialect's verifier
// of try_cluster_cancel. How barriers are allocated: mesh.cc. Does not catch: phases, which the run knows.
#include <algorithm>

#include "emu/check/legality/gpu/limits.h"
#include "semantics/base/cat.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

// The barrier that an operation arrives at, tests or waits for; nullptr: it has none.
const Arg* BarrierOf(const OpSite& site) {
  static const RuleRows kAtBarriers("barrier_arrive", "barrier_wait", "barrier_test", "tcgen05_mma",
                                    "tcgen05_commit_arrive", "copy_gmem_to_smem", "try_cluster_cancel");
  if (!kAtBarriers.Has(site.op)) return nullptr;
  const Arg* const barrier = layouts::ArgNamed(site.op, "barrier");
  return barrier != nullptr && layouts::IsRefArg(*site.scope.facts->kernel, *barrier) ? barrier : nullptr;
}

const Type& TypeOf(const OpSite& site, const Arg& ref) {
  return site.scope.facts->kernel->values[ref.value.index()].type;
}

std::optional<std::string> ClusterUse(const OpSite& site) {
  static const RuleRows kOfClusters("barrier_arrive", "barrier_wait");
  const Arg* const barrier = BarrierOf(site);
  if (barrier == nullptr || kOfClusters.Has(site.op)) return std::nullopt;
  if (TypeOf(site, *barrier).element != ElementKind::kClusterBarrier) return std::nullopt;
  return ToString(TypeOf(site, *barrier));
}

std::optional<std::string> OneBarrier(const OpSite& site) {
  const Arg* const barrier = BarrierOf(site);
  if (barrier == nullptr || !barrier->transforms.empty() || NumElements(TypeOf(site, *barrier).shape) == 1)
    return std::nullopt;
  return ToString(TypeOf(site, *barrier));
}

// ---- cluster launch control

constexpr std::int64_t kAnswerBits = 128;

bool RequestsWork(const OpSite& site) {
  static const RuleRows kRequests("try_cluster_cancel");
  return kRequests.Has(site.op);
}

const Arg* AnswerOf(const OpSite& site) {
  static const RuleRows kLaunchControl("try_cluster_cancel", "query_cluster_cancel");
  if (!kLaunchControl.Has(site.op)) return nullptr;
  const Arg* const answer = layouts::ArgNamed(site.op, "result");
  return answer != nullptr && layouts::IsRefArg(*site.scope.facts->kernel, *answer) ? answer : nullptr;
}

std::optional<std::string> Answer(const OpSite& site) {
  const Arg* const answer = AnswerOf(site);
  if (answer == nullptr) return std::nullopt;
  const layouts::GpuView view = layouts::GpuViewOf(*site.scope.facts->kernel, *answer);
  if (!view.shape.has_value()) return std::nullopt;
  const std::int64_t bits = NumElements(*view.shape) * (IsBool(view.dtype) ? 1 : view.bits());
  if (view.ref.space == Space::kSmem && bits == kAnswerBits) return std::nullopt;
  return Cat(bits, " bits: ", Name(view.dtype), ToString(*view.shape), " of ", ToString(view.ref));
}

std::optional<std::string> AnswerView(const OpSite& site) {
  const Arg* const answer = AnswerOf(site);
  if (answer == nullptr) return std::nullopt;
  const bool lanes = site.scope.facts->lanes;
  for (const Transform& transform : answer->transforms) {
    const bool moves = transform.kind == Transform::Kind::kReshape || transform.kind == Transform::Kind::kCluster;
    if (transform.kind == Transform::Kind::kBitcast || (moves && !lanes)) return Cat(".", Name(transform.kind));
  }
  return std::nullopt;
}

std::optional<std::string> AnswerBytes(const OpSite& site) {
  const Arg* const answer = AnswerOf(site);
  if (answer == nullptr || site.scope.facts->lanes || Answer(site).has_value()) return std::nullopt;
  const layouts::GpuView view = layouts::GpuViewOf(*site.scope.facts->kernel, *answer);
  const bool bytes = IsInteger(view.dtype) && view.bits() == 8;
  if (!view.shape.has_value() || (bytes && view.shape->size() == 1)) return std::nullopt;
  return Cat(Name(view.dtype), ToString(*view.shape));
}

std::optional<std::string> TensorBarrier(const OpSite& site) {
  const Arg* const barrier = BarrierOf(site);
  if (barrier == nullptr || !RequestsWork(site) || site.scope.facts->lanes) return std::nullopt;
  if (!layouts::BarrierFactsOf(TypeOf(site, *barrier)).orders_tensor_core) return std::nullopt;
  return ToString(TypeOf(site, *barrier));
}

std::optional<std::string> QueriedAxes(const OpSite& site) {
  if (AnswerOf(site) == nullptr || RequestsWork(site)) return std::nullopt;
  const std::vector<std::string> grid = layouts::NamesOf(site.scope.facts->kernel->launch.mesh_attrs, "grid_names");
  for (const std::string& name : layouts::NamesOf(site.op.attrs, "grid_names")) {
    if (std::find(grid.begin(), grid.end(), name) == grid.end()) return Cat("the axis '", name, "'");
  }
  return std::nullopt;
}

constexpr std::string_view kCancel = "Mosaic GPU lowering, try_cluster_cancel and query_cluster_cancel";
constexpr std::string_view kDialect = "Mosaic GPU, the verifier of try_cluster_cancel and query_cluster_cancel";
constexpr std::string_view kAllocateAnswer = "allocate it as plgpu.TryClusterCancelResult()";

constexpr GpuLimit<OpSite> kBarrierUseLimits[] = {
    {{"barrier.cluster-use",
      "a cluster barrier is arrived at by barrier_arrive and waited for by barrier_wait; no copy, product, "
      "tcgen05_commit_arrive, try_cluster_cancel or barrier_test uses one",
      "Mosaic GPU, CollectiveBarrierRef", "use a plgpu.Barrier for it, and arrive at the cluster's by barrier_arrive"},
     ClusterUse},
    {{"barrier.one", "an operation uses one barrier of a group", "Mosaic GPU, BarrierRef", "index the group"},
     OneBarrier},
    {{"cancel.answer", "the answer of a cancelled launch has 128 bits, in SMEM", kCancel, kAllocateAnswer}, Answer},
    {{"cancel.answer-view",
      "the answer of a cancelled launch keeps the type of its allocation; with warpgroup semantics it is neither "
      "reshaped nor in another block",
      kCancel, kAllocateAnswer},
     AnswerView},
    {{"cancel.answer-bytes", "with warpgroup semantics the answer of a cancelled launch is an array of 16 i8 or u8",
      kDialect, kAllocateAnswer},
     AnswerBytes},
    {{"cancel.barrier", "with warpgroup semantics the barrier of try_cluster_cancel does not order the tensor core",
      "Mosaic GPU, DialectBarrierRef.arrive", "allocate a plgpu.Barrier for it without orders_tensor_core"},
     TensorBarrier},
    {{"cancel.axes", "query_cluster_cancel names axes of the grid", "Mosaic GPU lowering, block_id_to_grid_id",
      "name axes of grid_names; those of the cluster and of the threads are not cancelled"},
     QueriedAxes},
};

}  // namespace

absl::Span<const GpuLimit<OpSite>> BarrierUseLimits() { return kBarrierUseLimits; }

}  // namespace palladion::legality
