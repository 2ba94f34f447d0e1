#include "scheduler/virtual_clock.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace palladion::scheduler {

void VirtualClock::Appoint(AgentOrdinal agent, std::vector<Ticks> times) {
  Agent& at = At(agent);
  at.appointed = std::move(times);
  at.kept = 0;
  KeepAppointment(at);
  at.requested = at.time;
  Queue(agent, at.time);
}

// Its next operation begins no earlier than that.
void VirtualClock::KeepAppointment(Agent& at) {
  if (at.kept < at.appointed.size())
    Pass(at, at.appointed[at.kept++] - at.time, {.what = at.doing, .how = 0, .appointed = true});
}

Ticks VirtualClock::Of(AgentOrdinal agent) const { return agents_.at(agent.value).time; }

Ticks VirtualClock::first_request() const {
  Ticks first{std::numeric_limits<std::int64_t>::max()};
  for (const auto& [id, agent] : agents_) first = std::min(first, agent.requested);
  return first;
}

void VirtualClock::Enter(AgentOrdinal agent, bool spawned) {
  const Ticks time = spawned ? now() : entry_;
  agents_[agent.value] = {.id = agent, .time = time, .requested = time};
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
  at.requested = at.time;
  at.ended_by = kNone;
  Queue(agent, at.time);
}

void VirtualClock::Begin(AgentOrdinal agent) {
  Agent& at = At(agent);
  running_ = began_last_ = &at;
  began_ = at.time;
  waited_ = at.time - at.requested;
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
  recent_ = {.waited = std::max(recent_.waited, end - at - time), .served = recent_.served + time};
  return end;
}

// Pieces that touch are one, so a busy server has few of them: what it gets fills the gaps from `at` on, and joins all
// pieces between them.
Ticks Server::Take(Ticks at, Ticks time, std::vector<Piece>* pieces) {
  if (past_ == taken_.size()) {
    taken_.clear();
    past_ = 0;
  }
  const auto later = std::upper_bound(taken_.begin() + static_cast<std::ptrdiff_t>(past_), taken_.end(), at,
                                      [](Ticks from, const Piece& piece) { return from < piece.begin; });
  auto first = static_cast<std::size_t>(later - taken_.begin()), follows = first;
  Piece whole{at, at};
  if (first > past_ && taken_[first - 1].end >= at) whole = taken_[--first];  // it is busy at `at`, or just was
  Ticks last;
  for (;;) {
    const bool more = follows < taken_.size();
    const Ticks room = more ? std::min(time, taken_[follows].begin - whole.end) : time;
    if (pieces != nullptr && room.value > 0) pieces->push_back({whole.end, whole.end + room});
    last = whole.end = whole.end + room;
    time = time - room;
    if (more && taken_[follows].begin == whole.end) whole.end = taken_[follows++].end;
    if (time.value == 0) break;
  }
  if (first == follows) {
    Insert(first, whole);
  } else {
    taken_[first] = whole;
    const auto joined = taken_.begin() + static_cast<std::ptrdiff_t>(first) + 1;
    taken_.erase(joined, taken_.begin() + static_cast<std::ptrdiff_t>(follows));
  }
  return last;
}

void Server::Insert(std::size_t at, const Piece& piece) {
  if (past_ > 0 && at == past_) {  // in the place of one that is forgotten
    taken_[--past_] = piece;
    return;
  }
  if (past_ > taken_.size() / 2) {
    taken_.erase(taken_.begin(), taken_.begin() + static_cast<std::ptrdiff_t>(past_));
    at -= std::exchange(past_, 0);
  }
  taken_.insert(taken_.begin() + static_cast<std::ptrdiff_t>(at), piece);
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
