// Waits for the next phase of a barrier, of a block or of a cluster (memory_model/sync/barrier.h).
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "emu/run/threads/schedule_objects.h"
#include "emu/run/threads/thread_touches.h"
#include "emu/run/threads/waitables.h"
#include "semantics/base/cat.h"

namespace palladion::threads {
namespace {

class OfBarriers final : public Waitable {
 public:
  OfBarriers(const MachineBase& base, SyncArrays& syncs) : base_(base), syncs_(syncs) {}

  absl::Status Arrive(const Asker& asker, const Arrival& arrival) override {
    if (asker.touches != nullptr) asker.touches->Arrives(arrival.at.object);
    syncs_.Arrive(asker.agent, arrival.at.object, asker.site, &asker.changes);
    return absl::OkStatus();
  }
  absl::StatusOr<std::int64_t> Poll(const Asker& asker, const WaitTarget& target) override {
    if (asker.touches != nullptr) asker.touches->Looks(target.object);
    if (!CanWait(asker.agent, target)) return 0;
    asker.changes.Add(Object(asker.agent, target));
    Wait(asker.agent, target, asker.site);
    return 1;
  }
  bool CanWait(AgentId thread, const WaitTarget& target) const override {
    return base_.model.CanWait(thread, syncs_.BarrierOf(target.object));
  }
  void Wait(AgentId thread, const WaitTarget& target, const Site& site) override {
    const BarrierId barrier = syncs_.BarrierOf(target.object);
    base_.memory.NotifyLanesMetUntil(base_.model.Of(barrier).ReleasedTimeOf(thread));
    base_.model.Wait(thread, barrier, CodeSite::Of(site));
  }
  ShownArrival ShowArrival(AgentId agent, const Arrival& arrival) const override {
    ShownArrival shown = Waitable::ShowArrival(agent, arrival);
    const memory_model::Barrier& barrier = At(arrival.at);
    shown.phase = barrier.completed() + 1;
    Append(&shown.words, ", phase ", shown.phase, " (", barrier.arrived() + 1, " of ", barrier.spec().num_arrivals,
           ")");
    const ReleaseKey cluster = ClusterKeyOf(arrival.at);
    shown.by_clock = !cluster.empty();
    if (shown.by_clock) shown.key = cluster;
    return shown;
  }
  ShownWait ShowWait(AgentId agent, const WaitTarget& target) const override {
    ShownWait shown = Waitable::ShowWait(agent, target);
    const std::optional<std::uint64_t> next = At(target).NeededBy(agent, base_.model.agents());
    shown.phase = next.has_value() ? *next - 1 : At(target).completed();
    if (next.has_value()) Append(&shown.words, ", phase ", shown.phase);
    if (ReleaseKey cluster = ClusterKeyOf(target); !cluster.empty())
      shown.keys.insert(shown.keys.begin(), std::move(cluster));
    return shown;
  }
  std::string Describe(AgentId thread, const WaitTarget& target) const override {
    return WordsFor(At(target).Waiting(thread, {}));
  }
  std::string Name(AgentId, const WaitTarget& target) const override { return Cat("barrier ", At(target).spec().name); }
  std::int64_t Object(AgentId, const WaitTarget& target) const override { return syncs_.ObjectOf(target.object); }
  // A wait for a phase changes nothing that another one sees.
  void ReportTouches(AgentId, const WaitTarget& target, ThreadTouches* touches) const override {
    touches->Looks(target.object);
  }
  std::optional<scheduler::Need> Needs(AgentId thread, const WaitTarget& target) const override {
    const std::optional<std::uint64_t> needed = At(target).NeededBy(thread, base_.model.agents());
    if (!needed.has_value()) return std::nullopt;
    return scheduler::Need{syncs_.ObjectOf(target.object), static_cast<std::int64_t>(*needed)};
  }
  bool EngineMaySignal(AgentId, const WaitTarget& target, const AsyncRequest& request) const override {
    return Completes(request, syncs_.ObjectOf(target.object));
  }
  std::optional<bool> ThreadMaySignal(AgentId, const Other&) const override { return std::nullopt; }
  // Has its next phase come?
  std::int64_t Look(AgentId thread, const WaitTarget& target) const override {
    if (!syncs_.Lives(target.object.array)) return kGone;
    return CanWait(thread, target) ? 1 : 0;
  }
  // A test of a barrier that has come takes the phase.
  bool LookTakes(AgentId thread, const WaitTarget& target) const override { return Look(thread, target) != 0; }

 private:
  const memory_model::Barrier& At(const WaitTarget& target) const {
    return base_.model.Of(syncs_.BarrierOf(target.object));
  }
  // Of a barrier that blocks of a cluster have together: an arrival in one is for waits in all. Else empty.
  ReleaseKey ClusterKeyOf(const WaitTarget& target) const {
    const SyncArray& array = syncs_[target.object.array];
    if (array.request.kind != SyncKind::kClusterBarrier || array.number < 0) return {};
    return {array.name.step, array.name.occurrence, target.object.element, array.number / base_.shape.cluster_size()};
  }

  const MachineBase base_;
  SyncArrays& syncs_;
};

}  // namespace

std::unique_ptr<Waitable> BarrierWaits(const WaitableParts& parts) {
  return std::make_unique<OfBarriers>(parts.base, parts.syncs);
}

}  // namespace palladion::threads
