#include "emu/run/threads/waitables.h"

#include <algorithm>

#include "emu/run/threads/schedule_objects.h"
#include "emu/run/threads/thread_touches.h"
#include "semantics/base/cat.h"

namespace palladion::threads {
namespace {

// Of ids with nothing behind them: an element that is not there, which a finding has told, and copies of blocks, which
// the memory has completed where they were asked for. A loop that looks there never sees a change.
class AlwaysThere final : public Waitable {
 public:
  bool CanWait(AgentId, const WaitTarget&) const override { return true; }
  void Wait(AgentId, const WaitTarget&, const Site&) override {}
  std::string Describe(AgentId, const WaitTarget&) const override { return "an element that does not exist"; }
  std::int64_t Object(AgentId, const WaitTarget&) const override { return kNoObject; }
  std::optional<bool> ThreadMaySignal(AgentId, const Other&) const override { return false; }

 private:
  static constexpr std::int64_t kNoObject = -2;  // no object's number, nor scheduler::Operation::kUnknown
};

}  // namespace

void Waitable::TellTouches(AgentId thread, const WaitTarget& target, ThreadTouches* touches) const {
  touches->Object(Object(thread, target));
}

bool Completes(const AsyncRequest& request, std::int64_t object) {
  return std::any_of(request.completions.begin(), request.completions.end(),
                     [&](const Completion& completion) { return ObjectOf(completion) == object; });
}

std::string WordsFor(const memory_model::WaitRecord& wait) {
  return Cat(wait.object, " (needs ", wait.needs, ", has ", wait.has, ")");
}

Waitables::Waitables(const MachineBase& base, const SyncArrays& syncs, AsyncQueues& queues, NamedBarriers& named) {
  using Kind = WaitTarget::Kind;
  constexpr std::size_t kMost = 8;  // made for every schedule of a check: as few allocations as can be
  own_.reserve(kMost);
  rows_.reserve(kMost);
  Add(Kind::kNothing, std::make_unique<AlwaysThere>());
  Add(Kind::kQueue, *own_.back());
  Add(Kind::kBarrier, BarrierWaits(base, syncs));
  Add(Kind::kSemaphore, SemaphoreWaits(base, syncs));
  Add(Kind::kGroups, GroupWaits(base, queues));
  Add(Kind::kMeeting, MeetingWaits(base));
  Add(Kind::kSpawned, WarpWaits(base));
  Add(Kind::kNamedBarrier, named);
}

void Waitables::Add(WaitTarget::Kind id, Waitable& row) {
  const auto at = static_cast<std::size_t>(id);
  if (rows_.size() <= at) rows_.resize(at + 1);
  rows_[at] = &row;
}

}  // namespace palladion::threads
