// Waits for a semaphore to hold a count, of values or of a DMA's bytes (memory_model/sync/semaphore.h).
#include "emu/run/threads/schedule_objects.h"
#include "emu/run/threads/thread_touches.h"
#include "emu/run/threads/waitables.h"
#include "semantics/base/cat.h"

namespace palladion::threads {
namespace {

class OfSemaphores final : public Waitable {
 public:
  OfSemaphores(const MachineBase& base, const SyncArrays& syncs) : base_(base), syncs_(syncs) {}

  absl::Status Arrive(const Asker& asker, const Arrival& arrival) override {
    const SyncElement& semaphore = arrival.at.object;
    if (asker.touches != nullptr) asker.touches->Signals(semaphore);
    syncs_.ExpectEntered(asker.agent, semaphore, asker.site);
    asker.changes.Add(syncs_.ObjectOf(semaphore));
    base_.model.Signal(asker.agent, syncs_.SemaphoreOf(semaphore), CodeSite::Of(asker.site), arrival.amount);
    return absl::OkStatus();
  }
  absl::StatusOr<std::int64_t> Poll(const Asker& asker, const WaitTarget& target) override {
    if (asker.touches != nullptr) asker.touches->Looks(target.object);
    return base_.model.Read(asker.agent, syncs_.SemaphoreOf(target.object));
  }
  bool CanWait(AgentId, const WaitTarget& target) const override {
    return base_.model.CanWait(syncs_.SemaphoreOf(target.object), target.value);
  }
  void Wait(AgentId thread, const WaitTarget& target, const Site&) override {
    base_.memory.NotifyLanesMet();
    base_.model.Wait(thread, syncs_.SemaphoreOf(target.object), target.value,
                     {.decrement = target.decrement, .scope = target.scope});
  }
  bool OneLaneArrives() const override { return true; }
  ShownArrival ShowArrival(AgentId agent, const Arrival& arrival) const override {
    ShownArrival shown = Waitable::ShowArrival(agent, arrival);
    shown.words = Cat("signals ", shown.name, " +", arrival.amount);
    shown.by_clock = false;
    return shown;
  }
  ShownWait ShowWait(AgentId agent, const WaitTarget& target) const override {
    ShownWait shown = Waitable::ShowWait(agent, target);
    Append(&shown.words, " ≥ ", target.value, target.decrement ? ", and takes it" : "");
    shown.acquires = ShownWait::Acquires::kCredits;
    shown.amount = target.value, shown.takes = target.decrement;
    return shown;
  }
  std::string Describe(AgentId thread, const WaitTarget& target) const override {
    return WordsFor(At(target).Waiting(thread, target.value, {}));
  }
  std::string Name(AgentId, const WaitTarget& target) const override {
    return Cat("semaphore ", At(target).spec().name);
  }
  std::int64_t Object(AgentId, const WaitTarget& target) const override { return syncs_.ObjectOf(target.object); }
  // A wait that leaves its credits changes nothing that another one sees.
  void ReportTouches(AgentId, const WaitTarget& target, ThreadTouches* touches) const override {
    target.decrement ? touches->Signals(target.object) : touches->Looks(target.object);
  }
  std::optional<scheduler::Need> Needs(AgentId, const WaitTarget& target) const override {
    return scheduler::Need{syncs_.ObjectOf(target.object), target.value};
  }
  bool EngineMaySignal(AgentId, const WaitTarget& target, const AsyncRequest& request) const override {
    return Completes(request, syncs_.ObjectOf(target.object));
  }
  std::optional<bool> ThreadMaySignal(AgentId, const Other&) const override { return std::nullopt; }
  std::int64_t Look(AgentId, const WaitTarget& target) const override {
    return syncs_.Lives(target.object.array) ? At(target).count() : kGone;
  }
  std::string DescribeChange(AgentId, const WaitTarget& target) const override {
    const memory_model::Semaphore& semaphore = At(target);
    return Cat(semaphore.spec().name, " to change (it is ", semaphore.count(), ")");
  }

 private:
  const memory_model::Semaphore& At(const WaitTarget& target) const {
    return base_.model.Of(syncs_.SemaphoreOf(target.object));
  }

  const MachineBase base_;
  const SyncArrays& syncs_;
};

}  // namespace

std::unique_ptr<Waitable> SemaphoreWaits(const WaitableParts& parts) {
  return std::make_unique<OfSemaphores>(parts.base, parts.syncs);
}

}  // namespace palladion::threads
