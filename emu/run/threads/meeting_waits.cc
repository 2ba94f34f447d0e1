// Waits for all threads of the block to come to the same collective operation (memory_model/sync/rendezvous.h).
#include <string>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "emu/run/threads/schedule_objects.h"
#include "emu/run/threads/thread_touches.h"
#include "emu/run/threads/waitables.h"
#include "semantics/base/cat.h"

namespace palladion::threads {
namespace {

class OfMeetings final : public Waitable {
 public:
  explicit OfMeetings(const MachineBase& base) : base_(base) {}

  absl::Status Arrive(const Asker& asker, const Arrival& arrival) override {
    const memory_model::RendezvousId meeting = MeetingOf(asker.agent);
    const CodeSite site = CodeSite::Of(asker.site);
    asker.changes.Add(ObjectOf(meeting));
    std::string& words = words_[{std::string(arrival.what), site.loc.value, site.text_line}];
    if (words.empty()) words = Cat(arrival.what, " at ", base_.model.PlaceOf(site));
    base_.model.Enter(asker.agent, meeting, {words, site.text_line}, site);
    if (asker.touches != nullptr)
      asker.touches->Meets(asker.agent, Cat(words, site.text_line), base_.model.CanLeave(asker.agent, meeting));
    return absl::OkStatus();
  }
  bool CanWait(AgentId thread, const WaitTarget&) const override {
    return base_.model.CanLeave(thread, MeetingOf(thread));
  }
  void Wait(AgentId thread, const WaitTarget&, const Site&) override { base_.model.Leave(thread, MeetingOf(thread)); }
  ShownArrival ShowArrival(AgentId agent, const Arrival& arrival) const override {
    const std::string name(arrival.what);
    return {.name = name, .words = Cat("arrives at ", name), .key = {Object(agent, arrival.at)}};
  }
  std::string Describe(AgentId thread, const WaitTarget&) const override {
    return WordsFor(base_.model.Of(MeetingOf(thread)).Waiting(thread, {}, base_.model.agents()));
  }
  std::string Name(AgentId, const WaitTarget&) const override { return "the other threads of the block"; }
  std::int64_t Object(AgentId thread, const WaitTarget&) const override { return ObjectOf(MeetingOf(thread)); }
  void ReportTouches(AgentId thread, const WaitTarget&, ThreadTouches* touches) const override {
    touches->LeavesMeeting(MeetingOf(thread));
  }
  std::optional<bool> ThreadMaySignal(AgentId waiter, const Other& other) const override {
    return base_.residents.IsOf(waiter, other.index);
  }

 private:
  memory_model::RendezvousId MeetingOf(AgentId thread) const { return base_.residents.BlockOf(thread).meeting; }

  const MachineBase base_;
  // What threads meet for, in words, by what and where: every thread of every block comes there.
  absl::flat_hash_map<std::tuple<std::string, std::int32_t, int>, std::string> words_;
};

}  // namespace

std::unique_ptr<Waitable> MeetingWaits(const WaitableParts& parts) { return std::make_unique<OfMeetings>(parts.base); }

}  // namespace palladion::threads
