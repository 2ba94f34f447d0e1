#include "scheduler/virtual_clock.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace palladion::scheduler {

void VirtualClock::Appoint(AgentOrdinal agent, std::vector<Ticks> times) {
  Agent& at = At(agent);
  at.appointed = std::move(times);
  at.kept = 0;
  KeepAppointment(at);
  at.asked = at.time;
  Queue(agent, at.time);
}

// Its next operation begins no earlier than that.
void VirtualClock::KeepAppointment(Agent& at) {
  if (at.kept < at.appointed.size())
    Pass(at, at.appointed[at.kept++] - at.time, {.what = at.doing, .how = 0, .appointed = true});
}

Ticks VirtualClock::Of(AgentOrdinal agent) const { return agents_.at(agent.value).time; }

void VirtualClock::Enter(AgentOrdinal agent, bool spawned) {
  const Ticks time = spawned ? now() : entry_;
  agents_[agent.value] = {.id = agent, .time = time, .asked = time};
  if (listener_ != nullptr) {
    const bool from_running = spawned && running_ != nullptr;
    listener_->Entered(agent, from_running ? running_->id : AgentOrdinal());
    if (!from_running && time.value > 0) listener_->Spent(agent, time, {});
  }
  if (!spawned || !next_.has_value()) return;
  At(agent).doing = next_->what;
  Appoint(agent, std::move(next_->times));
  next_.reset();
}

void VirtualClock::Ask(AgentOrdinal agent) {
  Agent& at = At(agent);
  at.asked = at.time;
  at.ended_by = kNone;
  Queue(agent, at.time);
}

void VirtualClock::Begin(AgentOrdinal agent) {
  Agent& at = At(agent);
  running_ = began_last_ = &at;
  began_ = at.time;
  waited_ = at.time - at.asked;
  ended_by_ = waited_.value > 0 ? at.ended_by : kNone;
  if (listener_ != nullptr) listener_->Began(agent);
  KeepAppointment(at);
}

void VirtualClock::EndWait(AgentOrdinal agent) {
  Agent& at = At(agent);
  if (began_ > at.time && began_last_ != nullptr && listener_ != nullptr) {
    listener_->Followed(agent, began_last_->id);
    at.time = began_;
  }
  Pass(at, began_ - at.time, {});
  if (began_last_ != nullptr) at.ended_by = began_last_->doing;
  Queue(agent, at.time);
}

void VirtualClock::Leave(AgentOrdinal agent) {
  const auto at = agents_.find(agent.value);
  end_ = std::max(end_, at->second.time);
  if (listener_ != nullptr) listener_->Left(agent, at->second.time);
  if (running_ == &at->second) running_ = nullptr;
  if (began_last_ == &at->second) began_last_ = nullptr;
  agents_.erase(at);
}

void VirtualClock::Queue(AgentOrdinal agent, Ticks time) {
  turns_.push_back({time, agent.value});
  std::push_heap(turns_.begin(), turns_.end(), std::greater<>());
}

// An agent that has to wait loses its turn, and gets another when its wait ends.
const Candidate& VirtualClock::TakeEarliest(const Candidates& can_go) {
  while (!turns_.empty()) {
    const Turn turn = turns_.front();
    std::pop_heap(turns_.begin(), turns_.end(), std::greater<>());
    turns_.pop_back();
    const auto agent = agents_.find(turn.agent);
    if (agent == agents_.end() || agent->second.time != turn.time) continue;
    if (const Candidate* found = can_go.Find(AgentOrdinal{turn.agent}); found != nullptr) return *found;
  }
  return Earliest(can_go);
}

const Candidate& VirtualClock::Earliest(const Candidates& can_go) const {
  const Candidate* best = nullptr;
  Ticks earliest;
  for (const Candidate& candidate : can_go) {
    const Ticks time = Of(candidate.id);
    if (best != nullptr && time >= earliest) continue;
    earliest = time;
    best = &candidate;
  }
  return *best;
}

Ticks Server::Serve(Ticks at, Ticks time, std::vector<Piece>* pieces) {
  if (time.value <= 0) return at;
  const Ticks end = Take(at, time, pieces);
  busy_ = busy_ + time;
  asked_ = {.waited = std::max(asked_.waited, end - at - time), .served = asked_.served + time};
  return end;
}

// Pieces that touch are one, so a busy server has few of them.
Ticks Server::Take(Ticks at, Ticks time, std::vector<Piece>* pieces) {
  auto next = taken_.upper_bound(at);  // the first that begins later
  if (next != taken_.begin() && std::prev(next)->second >= at) {
    --next;  // it is busy at `at`, or just was
  } else {
    next = taken_.emplace_hint(next, at, at);
  }
  for (;;) {
    const auto follows = std::next(next);
    const Ticks room = follows == taken_.end() ? time : std::min(time, follows->first - next->second);
    if (pieces != nullptr && room.value > 0) pieces->push_back({next->second, next->second + room});
    next->second = next->second + room;
    time = time - room;
    if (follows != taken_.end() && follows->first == next->second) {
      const Ticks reached = next->second;
      next->second = follows->second;
      taken_.erase(follows);
      if (time.value == 0) return reached;
    } else if (time.value == 0) {
      return next->second;
    }
  }
}

void Server::Forget(Ticks before) {
  for (auto at = taken_.begin(); at != taken_.end() && at->second < before;) at = taken_.erase(at);
}

namespace {

class Timed final : public Policy {
 public:
  explicit Timed(VirtualClock& clock) : clock_(clock) {}
  const Candidate& Choose(const Choice& choice) override {
    // An agent that is left out keeps its turn.
    return choice.tired.valid() ? clock_.Earliest(choice.candidates) : clock_.TakeEarliest(choice.candidates);
  }

 private:
  VirtualClock& clock_;
};

}  // namespace

std::unique_ptr<Policy> MakeTimed(VirtualClock& clock) { return std::make_unique<Timed>(clock); }

}  // namespace palladion::scheduler
