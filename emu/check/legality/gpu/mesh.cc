// How a GPU kernel is launched, and its barriers. Sources: JAX 0.10.2, jax/_src/pallas/mosaic_gpu/core.py (Mesh,
// Barrier, ClusterBarrier), jax/experimental/mosaic/gpu/utils.py (BarrierRef, CollectiveBarrierRef); the CUDA C++
// Programming Guide, "Compute Capabilities", "Thread Block Clusters"; PTX, "mbarrier".
#include <algorithm>

#include "emu/check/legality/gpu/limits.h"
#include "semantics/base/cat.h"
#include "semantics/base/saturating.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kMaxClusterRank = 3, kMaxClusterSize = 16, kMaxThreadsOfBlock = 1024;
constexpr std::int64_t kMaxGridX = (std::int64_t{1} << 31) - 1, kMaxGridYZ = 65535;
constexpr std::int64_t kMaxBarriers = 32, kMaxBarrierCount = (std::int64_t{1} << 20) - 1;

std::optional<std::string> ClusterRank(const KernelSite& site) {
  if (site.facts.cluster.size() <= kMaxClusterRank) return std::nullopt;
  return Cat("cluster=", ToString(site.facts.cluster));
}

std::optional<std::string> ClusterBlocks(const KernelSite& site) {
  if (site.facts.ClusterSize() <= kMaxClusterSize) return std::nullopt;
  return Cat("cluster=", ToString(site.facts.cluster), ", ", site.facts.ClusterSize(), " blocks");
}

std::optional<std::string> BlockThreads(const KernelSite& site) {
  const std::int64_t threads = site.facts.ThreadCount();
  if (threads <= kMaxThreadsOfBlock / layouts::kLanesOfWarpgroup) return std::nullopt;
  return Cat("num_threads=", threads, ", ", SaturatingMultiply(threads, layouts::kLanesOfWarpgroup), " CUDA threads");
}

// The grid of CUDA: the last dimension is x, the one before y, the product of the others z, each times the cluster's.
std::optional<std::string> GridSize(const KernelSite& site) {
  std::int64_t dims[] = {1, 1, 1};
  const auto multiply = [&](const std::vector<std::int64_t>& sizes) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::int64_t& dim = dims[std::min<std::size_t>(2, sizes.size() - 1 - i)];
      dim = std::min(dim, kMaxGridX + 1) * std::clamp<std::int64_t>(sizes[i], 0, kMaxGridX + 1);
    }
  };
  multiply(site.facts.grid);
  if (site.facts.cluster.size() <= kMaxClusterRank) multiply(site.facts.cluster);
  if (dims[0] <= kMaxGridX && dims[1] <= kMaxGridYZ && dims[2] <= kMaxGridYZ) return std::nullopt;
  return Cat("grid=", ToString(site.facts.grid), site.facts.cluster.empty() ? "" : ", cluster=",
             site.facts.cluster.empty() ? "" : ToString(site.facts.cluster));
}

constexpr GpuLimit<KernelSite> kMeshLimits[] = {
    {{"mesh.cluster-rank", "a cluster has at most 3 dimensions", "plgpu.Mesh", "merge dimensions of the cluster"},
     ClusterRank},
    {{"mesh.cluster-size",
      "a cluster has at most 16 blocks (8 on every chip, more by a launch attribute that Mosaic GPU sets)",
      "CUDA guide, Thread Block Clusters", "use a smaller cluster"},
     ClusterBlocks},
    {{"mesh.threads", "a block has at most 1024 CUDA threads: 8 Pallas threads of 128 (plgpu.Mesh itself lets 16 pass)",
      "CUDA guide, Compute Capabilities", "use fewer Pallas threads"},
     BlockThreads},
    {{"mesh.grid-size",
      "the last dimension of the grid is below 2^31, and the one before it and the product of the others are at "
      "most 65535, each multiplied by the cluster's",
      "CUDA guide, Compute Capabilities", "make the last dimension the largest"},
     GridSize},
};

// ---- barriers

std::optional<std::string> GroupSize(const BarrierSite& site) {
  const std::int64_t count = NumElements(site.type.shape);
  if (count <= kMaxBarriers) return std::nullopt;
  return Cat("num_barriers=", count);
}

std::optional<std::string> Arrivals(const BarrierSite& site) {
  const std::int64_t arrivals = layouts::BarrierFactsOf(site.type).arrivals;
  if (arrivals >= 1) return std::nullopt;
  return Cat("num_arrivals=", arrivals);
}

std::optional<std::string> ArrivalCount(const BarrierSite& site) {
  const layouts::BarrierFacts barrier = layouts::BarrierFactsOf(site.type);
  const bool each_lane = site.facts.lanes && site.type.element == ElementKind::kBarrier && !barrier.orders_tensor_core;
  if (barrier.arrivals <= kMaxBarrierCount / (each_lane ? layouts::kLanesOfWarpgroup : 1)) return std::nullopt;
  return Cat("num_arrivals=", barrier.arrivals, each_lane ? ", by each of 128 lanes" : "");
}

std::optional<std::string> ClusterAxes(const BarrierSite& site) {
  for (const std::vector<std::string>& axis : layouts::BarrierFactsOf(site.type).axes) {
    for (const std::string& name : axis) {
      if (!site.facts.IsClusterAxis(name)) return Cat("the axis '", name, "'");
    }
  }
  return std::nullopt;
}

std::optional<std::string> LeaderAxes(const BarrierSite& site) {
  const layouts::BarrierFacts barrier = layouts::BarrierFactsOf(site.type);
  if (!barrier.leader_tracked || (barrier.axes.size() == 1 && barrier.axes[0].size() == 1)) return std::nullopt;
  return barrier.axes.size() == 1 ? "a composite axis" : Cat(barrier.axes.size(), " axes");
}

constexpr GpuLimit<BarrierSite> kBarrierLimits[] = {
    {{"barrier.group", "a group has at most 32 barriers, whose phases one 32-bit mask of each thread holds",
      "Mosaic GPU, BarrierRef.initialize", "allocate several groups"},
     GroupSize},
    {{"barrier.arrivals", "a barrier completes after one arrival or more", "plgpu.Barrier", "give num_arrivals=1"},
     Arrivals},
    {{"barrier.arrivals-max", "the hardware counts at most 2^20 - 1 arrivals, of every lane with lane semantics",
      "PTX, mbarrier", "let fewer arrive"},
     ArrivalCount},
    {{"barrier.cluster-axes", "collective_axes of a cluster barrier are axes of the mesh's cluster",
      "Mosaic GPU lowering, _resolve_cluster_axis", "name axes of cluster_names"},
     ClusterAxes},
    {{"barrier.leader", "leader_tracked goes with exactly one axis that is not composite",
      "Mosaic GPU, CollectiveBarrierRef.initialize", "give one axis, or several barriers"},
     LeaderAxes},
};

}  // namespace

absl::Span<const GpuLimit<KernelSite>> MeshLimits() { return kMeshLimits; }
absl::Span<const GpuLimit<BarrierSite>> BarrierLimits() { return kBarrierLimits; }

}  // namespace palladion::legality
