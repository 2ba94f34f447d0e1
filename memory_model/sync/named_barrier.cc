#include "memory_model/sync/named_barrier.h"

#include <algorithm>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion::memory_model {
namespace {

Finding Mismatch(std::string message, std::string fix, const CodeSite& site) {
  return {.code = FindingCode::kCollectiveMismatch,
          .message = std::move(message),
          .loc = site.loc,
          .text_line = site.text_line,
          .fix = std::move(fix)};
}

}  // namespace

std::optional<Finding> NamedBarrier::Arrive(const Arrival& arrival, AgentTable* agents) {
  std::optional<Finding> wrong;
  const auto again =
      std::find_if(arrived_.begin(), arrived_.end(), [&](const Arrival& other) { return other.by == arrival.by; });
  if (again != arrived_.end()) {
    wrong = Mismatch(Cat(agents->NameOf(arrival.by), " arrives at ", name_,
                         " a second time before the first phase is over: ", lanes_, " of ", arrived_.front().of,
                         " lanes have arrived"),
                     "let it wait for the others between two arrivals, or use another barrier for the second",
                     arrival.site);
  } else if (!arrived_.empty() && arrived_.front().of != arrival.of) {
    wrong = Mismatch(Cat(agents->NameOf(arrival.by), " arrives at ", name_, " for ", arrival.of, " lanes, where ",
                         first_, " arrived for ", arrived_.front().of),
                     "give all who meet at one barrier the same count", arrival.site);
  }
  gathering_.JoinWithoutTensorCore(agents->ClockOf(arrival.by));
  agents->Tick(arrival.by, arrival.site);
  if (arrived_.empty()) first_ = agents->NameOf(arrival.by);
  arrived_.push_back(arrival);
  lanes_ += arrival.lanes;
  if (arrival.waits) waiters_.push_back({.who = arrival.by, .over = false, .released = {}});
  const std::int64_t of = arrived_.front().of;
  if (lanes_ > of && !wrong.has_value()) {
    wrong = Mismatch(Cat(lanes_, " lanes have arrived at ", name_, ", which is for ", of),
                     "count the lanes of all who arrive: 128 of a thread of Pallas, 32 of a warp", arrival.site);
  }
  if (lanes_ >= of) Complete();
  return wrong;
}

void NamedBarrier::Complete() {
  for (Waiter& waiter : waiters_) {
    if (std::exchange(waiter.over, true)) continue;
    waiter.released = gathering_;
  }
  arrived_.clear();
  lanes_ = left_;
  gathering_.Clear();
}

void NamedBarrier::Leave(AgentId thread, std::int64_t lanes) {
  left_ += lanes;
  lanes_ += lanes;
  for (const Arrival& arrival : arrived_) {
    if (arrival.thread == thread) lanes_ -= arrival.lanes;
  }
  if (!arrived_.empty() && lanes_ >= arrived_.front().of) Complete();
}

bool NamedBarrier::CanWait(AgentId agent) const {
  return std::none_of(waiters_.begin(), waiters_.end(),
                      [&](const Waiter& waiter) { return waiter.who == agent && !waiter.over; });
}

void NamedBarrier::Wait(AgentId agent, AgentTable* agents) {
  const auto at =
      std::find_if(waiters_.begin(), waiters_.end(), [&](const Waiter& waiter) { return waiter.who == agent; });
  if (at == waiters_.end()) return;  // an arrival that was refused
  agents->Acquire(agent, at->released);
  waiters_.erase(at);
}

WaitRecord NamedBarrier::Waiting(AgentId agent, const CodeSite& site) const {
  return {agent, name_, Cat(arrived_.empty() ? 0 : arrived_.front().of, " lanes"), Cat(lanes_), site};
}

std::optional<Finding> NamedBarrier::End() const {
  if (arrived_.empty()) return std::nullopt;
  const Arrival& last = arrived_.back();
  return Finding{.code = FindingCode::kBarrierPending,
                 .message = Cat(name_, " ends with ", lanes_, " of ", arrived_.front().of, " lanes arrived"),
                 .loc = last.site.loc,
                 .text_line = last.site.text_line,
                 .fix = "let as many lanes arrive as its count says"};
}

}  // namespace palladion::memory_model
