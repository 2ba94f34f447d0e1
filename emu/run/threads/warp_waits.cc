// Waits for the end of the warps that a thread has become (Machine::Spawn).
#include <utility>

#include "emu/run/threads/schedule_objects.h"
#include "emu/run/threads/thread_touches.h"
#include "emu/run/threads/waitables.h"

namespace palladion::threads {
namespace {

class OfWarps final : public Waitable {
 public:
  explicit OfWarps(const MachineBase& base) : base_(base) {}

  bool CanWait(AgentId thread, const WaitTarget&) const override {
    return base_.residents.Of(thread).warps_running == 0;
  }
  void Wait(AgentId thread, const WaitTarget&, const Site&) override {
    const std::vector<AgentId> warps = std::exchange(base_.residents.Of(thread).warps, {});
    base_.model.JoinWarps(thread, warps);
    for (const AgentId warp : warps) base_.residents.RetireThread(warp);
  }
  ShownWait ShowWait(AgentId agent, const WaitTarget& target) const override {
    ShownWait shown = Waitable::ShowWait(agent, target);
    shown.acquires = ShownWait::Acquires::kChildren;
    return shown;
  }
  std::string Describe(AgentId, const WaitTarget&) const override { return "its warps"; }
  std::int64_t Object(AgentId thread, const WaitTarget&) const override { return WarpsObjectOf(thread); }
  // What the warps have seen of every barrier, too.
  void ReportTouches(AgentId, const WaitTarget&, ThreadTouches* touches) const override { touches->Everything(); }
  std::optional<bool> ThreadMaySignal(AgentId waiter, const Other& other) const override {
    return other.is_warp && base_.residents.Of(waiter).index == other.index;
  }

 private:
  const MachineBase base_;
};

}  // namespace

std::unique_ptr<Waitable> WarpWaits(const WaitableParts& parts) { return std::make_unique<OfWarps>(parts.base); }

}  // namespace palladion::threads
