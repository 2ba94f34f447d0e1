// What threads wait for (thread_machine.h): may they go on, what that is in words, and what a wait that is over does.
#include <string_view>

#include "emu/run/threads/thread_machine.h"
#include "semantics/base/cat.h"

namespace palladion::threads {
namespace {

std::string_view WordFor(AsyncQueue queue) {
  switch (queue) {
    case AsyncQueue::kMma:
      return "wgmma";
    case AsyncQueue::kTmemLoads:
      return "reads of tensor memory";
    case AsyncQueue::kTmemStores:
      return "writes of tensor memory";
    case AsyncQueue::kFetches:
      return "copies of blocks from their arrays";
    case AsyncQueue::kFlushes:
      return "copies of blocks to their arrays";
    default:
      return "copies to global memory";
  }
}

}  // namespace

bool ThreadMachine::CanWait(AgentId id, const WaitTarget& target) const {
  switch (target.kind) {
    case WaitTarget::Kind::kNothing:
    case WaitTarget::Kind::kQueue:  // of blocks, which are copied where that is asked for
      return true;
    case WaitTarget::Kind::kBarrier:
      return model_.CanWait(id, syncs_.BarrierOf(target.object));
    case WaitTarget::Kind::kSemaphore:
      return model_.CanWait(syncs_.SemaphoreOf(target.object), target.value);
    case WaitTarget::Kind::kGroups:
      return queues_.CanAwait(id, target);
    case WaitTarget::Kind::kMeeting:
      return model_.CanLeave(id, MeetingOf(id));
    case WaitTarget::Kind::kSpawned:
      return residents_.Of(id).warps_running == 0;
    case WaitTarget::Kind::kNamedBarrier:
      return named_.CanWait(id, target.value);
  }
  return true;
}

std::string ThreadMachine::DescribeWait(AgentId id, const WaitTarget& target) const {
  const auto words = [](const memory_model::WaitRecord& wait) {
    return Cat(wait.object, " (needs ", wait.needs, ", has ", wait.has, ")");
  };
  switch (target.kind) {
    case WaitTarget::Kind::kBarrier:
      return words(model_.Of(syncs_.BarrierOf(target.object)).Waiting(id, {}));
    case WaitTarget::Kind::kSemaphore:
      return words(model_.Of(syncs_.SemaphoreOf(target.object)).Waiting(id, target.value, {}));
    case WaitTarget::Kind::kGroups:
      return Cat("all but ", target.value, " of its groups of ", WordFor(target.queue));
    case WaitTarget::Kind::kMeeting:
      return words(model_.Of(MeetingOf(id)).Waiting(id, {}, model_.agents()));
    case WaitTarget::Kind::kNamedBarrier:
      return named_.DescribeWait(id, target.value);
    default:
      return "its warps";
  }
}

std::int64_t ThreadMachine::ObjectOf(AgentId id, const WaitTarget& target) const {
  switch (target.kind) {
    case WaitTarget::Kind::kBarrier:
    case WaitTarget::Kind::kSemaphore:
      return syncs_.ObjectOf(target.object);
    case WaitTarget::Kind::kGroups:
      return queues_.ObjectOf(id, target.queue);
    case WaitTarget::Kind::kSpawned:
      return WarpsObjectOf(id);
    case WaitTarget::Kind::kNamedBarrier:
      return named_.ObjectOf(id, target.value);
    default:
      return threads::ObjectOf(MeetingOf(id));
  }
}

// What brings the lanes of a thread together without JAX's automatic barriers: waits for copies, tensor memory and
// semaphores end with a barrier of the warpgroup, and every lane takes part in its thread's arrivals, so a wait for a
// barrier knows of all that was before an arrival of the thread's own. A wgmma is each warp's own to wait for. Limits:
// a commit of the tensor core is one lane's arrival, and counts as all of them; who proves something of lanes has to
// look at it (emu/check/lane_races.h).
void ThreadMachine::TellLanes(const WaitTarget& target) {
  using Kind = WaitTarget::Kind;
  const bool copies = target.kind == Kind::kGroups && target.queue != AsyncQueue::kMma;
  if (copies || target.kind == Kind::kSemaphore || target.kind == Kind::kNamedBarrier) return memory_.TellLanesMet();
  if (target.kind == Kind::kBarrier)
    memory_.TellLanesMetUntil(model_.Of(syncs_.BarrierOf(target.object)).TellsOf(current_));
}

absl::Status ThreadMachine::Wait(const WaitTarget& target, const Site& site) {
  using Kind = WaitTarget::Kind;
  if (touches_ != nullptr) touches_->Waits(current_, target);
  if (target.kind != Kind::kNothing && target.kind != Kind::kQueue) changes_.Add(ObjectOf(current_, target));
  TellLanes(target);
  switch (target.kind) {
    case Kind::kQueue:
      return memory_.Wait(target, site);
    case Kind::kBarrier:
      model_.Wait(current_, syncs_.BarrierOf(target.object), CodeSite::Of(site));
      break;
    case WaitTarget::Kind::kSemaphore:
      model_.Wait(current_, syncs_.SemaphoreOf(target.object), target.value,
                  {.decrement = target.decrement, .scope = target.scope});
      break;
    case WaitTarget::Kind::kGroups:
      queues_.Await(current_, target, CodeSite::Of(site));
      break;
    case WaitTarget::Kind::kMeeting:
      model_.Leave(current_, MeetingOf(current_));
      break;
    case WaitTarget::Kind::kSpawned:
      JoinWarps();
      break;
    case WaitTarget::Kind::kNamedBarrier:
      named_.Wait(current_, target.value);
      break;
    case Kind::kNothing:
      return absl::OkStatus();
  }
  memory_.watchers().Each(memory_model::EventKind::kWait,
                          [&](memory_model::MemoryWatcher& watcher) { watcher.Awaited(memory_.who(), target); });
  return absl::OkStatus();
}

}  // namespace palladion::threads
