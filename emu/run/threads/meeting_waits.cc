// Waits for all threads of the block to come to the same collective operation (memory_model/sync/rendezvous.h).
#include "emu/run/threads/schedule_objects.h"
#include "emu/run/threads/thread_touches.h"
#include "emu/run/threads/waitables.h"

namespace palladion::threads {
namespace {

class OfMeetings final : public Waitable {
 public:
  explicit OfMeetings(const MachineBase& base) : base_(base) {}

  bool CanWait(AgentId thread, const WaitTarget&) const override {
    return base_.model.CanLeave(thread, MeetingOf(thread));
  }
  void Wait(AgentId thread, const WaitTarget&, const Site&) override { base_.model.Leave(thread, MeetingOf(thread)); }
  std::string Describe(AgentId thread, const WaitTarget&) const override {
    return WordsFor(base_.model.Of(MeetingOf(thread)).Waiting(thread, {}, base_.model.agents()));
  }
  std::int64_t Object(AgentId thread, const WaitTarget&) const override { return ObjectOf(MeetingOf(thread)); }
  void TellTouches(AgentId thread, const WaitTarget&, ThreadTouches* touches) const override {
    touches->LeavesMeeting(MeetingOf(thread));
  }
  std::optional<bool> ThreadMaySignal(AgentId waiter, const Other& other) const override {
    return base_.residents.IsOf(waiter, other.index);
  }

 private:
  memory_model::RendezvousId MeetingOf(AgentId thread) const { return base_.residents.BlockOf(thread).meeting; }

  const MachineBase base_;
};

}  // namespace

std::unique_ptr<Waitable> MeetingWaits(const MachineBase& base) { return std::make_unique<OfMeetings>(base); }

}  // namespace palladion::threads
