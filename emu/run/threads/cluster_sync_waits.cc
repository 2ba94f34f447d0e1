// Waits for all threads of the cluster to arrive at its barrier, which every cluster has without allocating it. An
// agent arrives and waits alternately: PTX leaves anything else undefined, and here it is a finding. A thread that has
// ended is not waited for. Based on: barrier.cluster.arrive and barrier.cluster.wait of PTX. Limits: a wait acquires
// nothing from a thread that ended without having arrived: PTX does not say that an end releases.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "emu/run/threads/schedule_objects.h"
#include "emu/run/threads/thread_touches.h"
#include "emu/run/threads/waitables.h"
#include "memory_model/sync/named_barrier.h"
#include "semantics/base/cat.h"

namespace palladion::threads {
namespace {

constexpr std::int64_t kLanesOfThread = 128, kLanesOfWarp = 32;

class OfClusters final : public Waitable {
 public:
  explicit OfClusters(const MachineBase& base) : base_(base) {}

  absl::Status Arrive(const Asker& asker, const Arrival&) override {
    const std::int64_t cluster = ClusterOf(asker.agent);
    const std::int64_t object = ObjectOfKind(WaitTarget::Kind::kClusterSync, cluster);
    if (asker.touches != nullptr) asker.touches->Object(object);
    asker.changes.Add(object);
    if (!arrived_.insert(asker.agent).second) {
      Report(
          "arrives at the cluster's barrier again without a wait for the arrivals before; this arrival is not counted",
          "put barrier.cluster.wait between two arrivals", asker.agent, asker.site);
      return absl::OkStatus();
    }
    const Thread& thread = base_.residents.Of(asker.agent);
    std::optional<Finding> wrong = At(cluster).Arrive({.by = asker.agent,
                                                       .thread = thread.is_warp() ? thread.parent : asker.agent,
                                                       .lanes = thread.is_warp() ? kLanesOfWarp : kLanesOfThread,
                                                       .of = LanesOfCluster(),
                                                       .waits = true,
                                                       .site = CodeSite::Of(asker.site)},
                                                      &base_.model.agents());
    if (wrong.has_value()) Report(*std::move(wrong));
    return absl::OkStatus();
  }
  bool CanWait(AgentId agent, const WaitTarget&) const override {
    const auto at = barriers_.find(ClusterOf(agent));
    return at == barriers_.end() || at->second.CanWait(agent);
  }
  void Wait(AgentId agent, const WaitTarget&, const Site& site) override {
    if (arrived_.erase(agent) == 0)
      return Report("waits at the cluster's barrier without an arrival of its own; it goes on at once",
                    "put barrier.cluster.arrive before each barrier.cluster.wait", agent, site);
    base_.memory.NotifyLanesMet();
    At(ClusterOf(agent)).Wait(agent, &base_.model.agents());
  }
  std::string Describe(AgentId agent, const WaitTarget&) const override {
    const auto at = barriers_.find(ClusterOf(agent));
    return at == barriers_.end() ? "the cluster's barrier" : WordsFor(at->second.Waiting(agent, {}));
  }
  std::string Name(AgentId, const WaitTarget&) const override { return "the barrier of the cluster"; }
  std::int64_t Object(AgentId agent, const WaitTarget& target) const override {
    return ObjectOfKind(target.kind, ClusterOf(agent));
  }
  // No phase is left when the last thread of a cluster ends.
  void ThreadEnds(const Asker& asker) override {
    arrived_.erase(asker.agent);
    const std::int64_t cluster = ClusterOf(asker.agent);
    const std::int64_t object = ObjectOfKind(WaitTarget::Kind::kClusterSync, cluster);
    if (asker.touches != nullptr) asker.touches->Object(object);
    asker.changes.Add(object);
    At(cluster).Leave(asker.agent, kLanesOfThread);
  }
  void Retire(BlockId block) override { barriers_.erase(base_.residents.Of(block).cluster); }
  std::optional<bool> ThreadMaySignal(AgentId waiter, const Other& other) const override {
    return base_.shape.ClusterOf(other.index) == ClusterOf(waiter);
  }

 private:
  std::int64_t ClusterOf(AgentId agent) const { return base_.residents.BlockOf(agent).cluster; }
  std::int64_t LanesOfCluster() const {
    return kLanesOfThread * base_.shape.cluster_size() * static_cast<std::int64_t>(base_.shape.threads_of_block());
  }
  memory_model::NamedBarrier& At(std::int64_t cluster) {
    return barriers_.try_emplace(cluster, Cat("the barrier of cluster ", cluster)).first->second;
  }
  void Report(Finding finding) const {
    finding.severity = RowOf(finding.code).severity;
    base_.memory.Report(std::move(finding));
  }
  void Report(std::string_view what, std::string_view fix, AgentId agent, const Site& site) const {
    Report({.code = FindingCode::kCollectiveMismatch,
            .message = Cat(base_.model.agents().NameOf(agent), " ", what),
            .loc = site.loc,
            .text_line = site.text_line,
            .fix = std::string(fix)});
  }

  const MachineBase base_;
  std::map<std::int64_t, memory_model::NamedBarrier> barriers_;  // by cluster
  std::set<AgentId> arrived_;                                    // and have not waited since
};

}  // namespace

std::unique_ptr<Waitable> ClusterSyncWaits(const WaitableParts& parts) {
  return std::make_unique<OfClusters>(parts.base);
}

}  // namespace palladion::threads
