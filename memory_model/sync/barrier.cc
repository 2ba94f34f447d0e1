#include "memory_model/sync/barrier.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion::memory_model {

void Barrier::Arrive(const Arrival& arrival, const AgentTable& agents, FindingLog* log) {
  last_arrival_ = {arrival.by, arrival.site};
  arrivals_race_ |= !arrival.clock[ClockPart::kGeneric].Covers(last_[ClockPart::kGeneric]);
  for (std::int64_t amount = arrival.amount; amount > 0;) {
    if (spec_->orders_tensor_core) {
      gathering_.Join(arrival.clock);
    } else {
      gathering_.JoinWithoutTensorCore(arrival.clock);
    }
    const std::int64_t all = spec_->num_arrivals * spec_->units, now = std::min(amount, all - arrived_);
    arrived_ += now;
    amount -= now;
    if (arrived_ == all) Complete(last_arrival_, agents, log);
  }
}

void Barrier::Complete(const By& by, const AgentTable& agents, FindingLog* log) {
  CheckOrder(by, agents, log);
  const bool seen = completed_ == forgiven_ || std::any_of(waiters_.begin(), waiters_.end(), [&](const Waiter& waiter) {
                      return waiter.seen == completed_;
                    });
  if (!seen) {
    forgiven_ = completed_;
    Report({.code = FindingCode::kBarrierDouble,
            .first = last_by_,
            .second = by,
            .message = Cat("barrier ", spec_->name, " completes for the ", completed_ + 1,
                           ". time, and nobody has waited for the completion before"),
            .fix = Cat(WaitCall(), " for each completion before the arrivals of the next")},
           agents, log);
  }
  const auto is_past = [&](const Waiter& waiter) { return waiter.ended && waiter.seen < completed_; };
  waiters_.erase(std::remove_if(waiters_.begin(), waiters_.end(), is_past), waiters_.end());
  ++completed_;
  arrived_ = 0;
  swap(last_, gathering_);
  gathering_.Clear();
  last_by_ = by;
}

// What would happen in another order: the wait for the last completion comes after this one.
void Barrier::CheckOrder(const By& by, const AgentTable& agents, FindingLog* log) const {
  bool any = false, ordered = false;
  for (const Waiter& waiter : waiters_) {
    if (waiter.seen != completed_ || waiter.seen == 0 || waiter.time == 0) continue;
    any = true;
    ordered |= gathering_[ClockPart::kGeneric].Covers(Epoch{waiter.who, waiter.time});
  }
  if (!any) return;
  for (const Waiter& waiter : waiters_) {
    if (waiter.seen != completed_ || gathering_[ClockPart::kGeneric].Covers(Epoch{waiter.who, waiter.time})) continue;
    Report({.code = ordered ? FindingCode::kBarrierPhaseSkip : FindingCode::kBarrierDouble,
            .confidence = Confidence::kPredicted,
            .first = {waiter.who, waiter.site},
            .second = by,
            .message = Cat("barrier ", spec_->name, " may complete for the ", completed_ + 1, ". time before ",
                           agents.NameOf(waiter.who), " has waited for the completion before"),
            .why = Cat("the wait of ", agents.NameOf(waiter.who),
                       " came first in this run, but nothing orders the arrival after it"),
            .fix = Cat("let ", agents.NameOf(waiter.who), " arrive at another barrier after its ", WaitCall(),
                       ", and whoever arrives wait for that")},
           agents, log);
    if (!ordered) return;
  }
}

const Barrier::Waiter* Barrier::Find(AgentId agent) const {
  for (const Waiter& waiter : waiters_) {
    if (waiter.who == agent) return &waiter;
  }
  return nullptr;
}

std::uint64_t Barrier::SeenBy(AgentId agent, const AgentTable* agents) const {
  const Waiter* waiter = Find(agent);
  if (waiter != nullptr) return std::max(waiter->seen, forgiven_);
  if (agents == nullptr || !agents->ParentOf(agent).valid()) return forgiven_;
  const Waiter* thread = Find(agents->ParentOf(agent));
  if (thread == nullptr) return forgiven_;
  const auto warp = static_cast<std::size_t>(std::max(0, agents->PlaceOf(agent).at(PlaceLevel::kWarp)));
  return std::max(warp < thread->by_warp.size() ? thread->by_warp[warp] : thread->seen, forgiven_);
}

Barrier::Waiter& Barrier::WaiterOf(AgentId agent) {
  for (Waiter& waiter : waiters_) {
    if (waiter.who == agent) return waiter;
  }
  return waiters_.emplace_back(Waiter{.who = agent});
}

void Barrier::Wait(AgentId agent, const CodeSite& site, AgentTable* agents, FindingLog* log) {
  const std::uint64_t seen = SeenBy(agent, agents);
  Waiter& waiter = WaiterOf(agent);
  if (!waiter.by_warp.empty()) {
    CheckWarps(waiter, site, *agents, log);
    waiter.by_warp.clear();
  } else if (completed_ - seen > 1) {
    Report({.code = FindingCode::kBarrierPhaseSkip,
            .first = last_by_,
            .second = {agent, site},
            .message = Cat(agents->NameOf(agent), " waits for completion ", seen + 1, " of barrier ", spec_->name,
                           ", which has ", completed_),
            .why = "hardware keeps only whether that number is odd: the wait would hang, or be taken for another one",
            .fix = Cat(WaitCall(), " once for each completion, in everyone who waits")},
           *agents, log);
  }
  agents->Acquire(agent, last_);
  waiter.seen = completed_;
  waiter.time = agents->NowOf(agent);
  waiter.site = site;
}

void Barrier::CheckWarps(const Waiter& waiter, const CodeSite& site, const AgentTable& agents, FindingLog* log) const {
  std::string seen;
  for (std::size_t w = 0; w < waiter.by_warp.size(); ++w) {
    Append(&seen, w == 0 ? "" : ", ", "warp ", w, ": ", waiter.by_warp[w]);
  }
  Report({.code = FindingCode::kBarrierPhaseSkip,
          .first = {waiter.who, waiter.site},
          .second = {waiter.who, site},
          .message = Cat(agents.NameOf(waiter.who), " waits for barrier ", spec_->name,
                         ", of which its warps have seen different completions (", seen, ")"),
          .why = "each warp waits for the completion after the last that it has seen: they would wait for different "
                 "ones",
          .fix = "let all warps wait equally often, or only one warp wait from then on"},
         agents, log);
}

void Barrier::Join(AgentId thread, absl::Span<const AgentId> warps, const AgentTable& agents) {
  std::vector<std::uint64_t> seen;
  Waiter* latest = nullptr;
  for (const AgentId warp : warps) {
    seen.push_back(SeenBy(warp, &agents));
    Waiter* const waiter = const_cast<Waiter*>(Find(warp));
    if (waiter == nullptr) continue;
    waiter->ended = true;
    if (latest == nullptr || latest->seen < waiter->seen) latest = waiter;
  }
  if (latest == nullptr) return;
  const CodeSite site = latest->site;  // before there is one waiter more
  Waiter& mine = WaiterOf(thread);
  const auto [least, most] = std::minmax_element(seen.begin(), seen.end());
  mine.seen = *least;
  mine.time = 0;  // the warps' own times tell what has to come after their waits
  mine.site = site;
  const bool differ = *least != *most;
  mine.by_warp = differ ? std::move(seen) : std::vector<std::uint64_t>();
}

std::string Barrier::Arrivals(std::int64_t units) const {
  const std::int64_t whole = units / spec_->units, rest = units % spec_->units, common = std::gcd(rest, spec_->units);
  if (rest == 0) return Cat(whole);
  return Cat(whole == 0 ? "" : Cat(whole, " "), rest / common, "/", spec_->units / common);
}

std::string Barrier::WaitCall() const { return Cat("plgpu.barrier_wait(", spec_->python, ")"); }

WaitRecord Barrier::Waiting(AgentId agent, const CodeSite& site, const AgentTable* agents) const {
  return {agent, Cat("barrier ", spec_->name), Cat("completion ", SeenBy(agent, agents) + 1),
          Cat(completed_, " completions and ", Arrivals(arrived_), " of ", spec_->num_arrivals, " arrivals"), site};
}

void Barrier::End(Ends ends, const CodeSite& site, const AgentTable& agents, FindingLog* log) {
  ended_ = true;
  const By end{{}, site};
  const Severity unawaited = ends == Ends::kBlock ? Severity::kNote : Severity::kDefect;
  if (arrived_ > 0) {
    Report({.code = FindingCode::kBarrierPending,
            .first = last_arrival_,
            .second = end,
            .message = Cat("barrier ", spec_->name, " ends with ", Arrivals(arrived_), " of ", spec_->num_arrivals,
                           " arrivals of completion ", completed_ + 1),
            .fix = Cat("let as many arrive as num_arrivals of ", spec_->name, " says")},
           agents, log);
  }
  const auto all_of = [&](const Waiter& waiter) {  // whatever any of its warps has seen
    const std::vector<std::uint64_t>& warps = waiter.by_warp;
    return std::max(forgiven_, warps.empty() ? waiter.seen : *std::max_element(warps.begin(), warps.end()));
  };
  std::uint64_t most = forgiven_;
  for (const Waiter& waiter : waiters_) most = std::max(most, all_of(waiter));
  if (most < completed_) {
    Report({.code = FindingCode::kBarrierUnawaited,
            .severity = unawaited,
            .first = last_by_,
            .second = end,
            .message =
                Cat("barrier ", spec_->name, " ends with ", completed_, " completions, and only ", most, " waited for"),
            .fix = Cat(WaitCall(), " for the last completion, or no arrival for it")},
           agents, log);
    return;
  }
  for (const Waiter& waiter : waiters_) {
    const std::uint64_t seen = all_of(waiter);
    if (waiter.ended || seen == completed_) continue;
    Report({.code = FindingCode::kBarrierPhaseSkip,
            .severity = completed_ - seen == 1 ? unawaited : Severity::kDefect,
            .first = last_by_,
            .second = {waiter.who, waiter.site},
            .message = Cat(agents.NameOf(waiter.who), " has waited for barrier ", spec_->name,
                           ", but not for its completion ", completed_),
            .fix = Cat(WaitCall(), " once for each completion, in everyone who waits")},
           agents, log);
  }
}

void Barrier::Report(Fault fault, const AgentTable& agents, FindingLog* log) const {
  const CodeSite &first = fault.first.site, &second = fault.second.site;
  if (!log->IsNew({fault.code,
                   {first.loc, first.text_line},
                   {second.loc, second.text_line},
                   (std::int64_t{1} << 32) + id_.value})) {
    return;
  }
  const auto side = [&](const By& by) {
    return FindingAccess{.kind = AccessKind::kAtomic,
                         .agent = by.who.valid() ? agents.NameOf(by.who) : "the end of its scope",
                         .object = spec_->name,
                         .loc = by.site.loc,
                         .text_line = by.site.text_line};
  };
  log->Add({.code = fault.code,
            .severity = fault.severity,
            .message = std::move(fault.message),
            .loc = second.loc,
            .text_line = second.text_line,
            .first = side(fault.first),
            .second = side(fault.second),
            .why = std::move(fault.why),
            .fix = std::move(fault.fix),
            .confidence = fault.confidence});
}

}  // namespace palladion::memory_model
