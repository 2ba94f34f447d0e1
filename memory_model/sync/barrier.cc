#include "memory_model/sync/barrier.h"

#include <algorithm>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion::memory_model {

// Its release is acquired by every wait for the current phase. An arrival beyond those that this phase needs is of the
// next.
Barrier::HalfOfFlow Barrier::Gather(const Arrival& arrival) {
  last_arrival_ = {arrival.by, arrival.site};
  const bool ordered = arrival.clock[ClockPart::kGeneric].Covers(last_[ClockPart::kGeneric]);
  arrivals_race_ |= !ordered;
  if (spec_->orders_tensor_core) {
    gathering_.Join(arrival.clock);
  } else {
    gathering_.JoinWithoutTensorCore(arrival.clock);
  }
  return {.by = last_arrival_, .phase = completed_, .ordered = ordered};
}

void Barrier::MayComplete(const AgentTable& agents, FindingLog* log) {
  arrivals_race_ |= arrived_ > spec_->num_arrivals;
  while (arrived_ >= spec_->num_arrivals && bytes_ == 0) Complete(last_arrival_, agents, log);
}

void Barrier::Arrive(const Arrival& arrival, const AgentTable& agents, FindingLog* log) {
  Gather(arrival);
  ++arrived_;
  MayComplete(agents, log);
}

void Barrier::Expect(const Arrival& arrival, const ExpectedBytes& expected, const AgentTable& agents, FindingLog* log) {
  const HalfOfFlow expects = Gather(arrival);
  for (const std::int64_t sender : expected.senders) {
    Flow& flow = FlowOf(sender);
    if (flow.early.empty()) {
      flow.expected.push_back(expects);
      continue;
    }
    CheckPhase(expects, flow.early.front(), agents, log);
    flow.early.pop_front();
  }
  ++arrived_;
  bytes_ += expected.bytes;
  MayComplete(agents, log);
}

void Barrier::Land(const Arrival& by, const Landing& landing, const AgentTable& agents, FindingLog* log) {
  const HalfOfFlow lands = Gather(by);
  Flow& flow = FlowOf(landing.sender);
  if (flow.expected.empty()) {
    flow.early.push_back(lands);
  } else {
    CheckPhase(flow.expected.front(), lands, agents, log);
    flow.expected.pop_front();
  }
  bytes_ -= landing.bytes;
  MayComplete(agents, log);
}

Barrier::Flow& Barrier::FlowOf(std::int64_t sender) {
  for (Flow& flow : flows_) {
    if (flow.sender == sender) return flow;
  }
  return flows_.emplace_back(Flow{.sender = sender, .expected = {}, .early = {}});
}

// The block's own waits report what its own copy does out of order. Only this check reports another block's copy.
void Barrier::CheckPhase(const HalfOfFlow& expects, const HalfOfFlow& lands, const AgentTable& agents,
                         FindingLog* log) const {
  const bool wrong = lands.phase < expects.phase;  // later: bytes of another copy have completed its phase
  if (lands.phase > expects.phase || (!wrong && (lands.ordered || !expects.ordered))) return;
  const std::string who = agents.NameOf(lands.by.who);
  Report(
      {.code = FindingCode::kBarrierBytes,
       .confidence = wrong ? Confidence::kProved : Confidence::kPredicted,
       .first = expects.by,
       .second = lands.by,
       .message = wrong ? Cat("bytes of ", who, " land in phase ", lands.phase + 1, " of barrier ", spec_->name,
                              ", and phase ", expects.phase + 1, " expects them")
                        : Cat("bytes of ", who, " may land in phase ", lands.phase, " of barrier ", spec_->name,
                              ", and phase ", expects.phase + 1, " expects them"),
       .why = Cat("a block's barrier counts whatever lands there for the current phase, which then completes before "
                  "all of its own bytes have landed: nothing orders the issue of ",
                  who, " after the completion of phase ", expects.phase),
       .fix = "a plgpu.ClusterBarrier of the blocks that copy together, after each has waited for its own barrier and "
              "read what came, before the next copy"},
      agents, log);
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
            .message = Cat("barrier ", spec_->name, " reaches completion ", completed_ + 1,
                           " before any agent has waited for completion ", completed_),
            .fix = Cat(WaitCall(), " for each completion before the arrivals of the next")},
           agents, log);
  }
  const auto is_past = [&](const Waiter& waiter) { return waiter.ended && waiter.seen < completed_; };
  waiters_.erase(std::remove_if(waiters_.begin(), waiters_.end(), is_past), waiters_.end());
  ++completed_;
  arrived_ -= spec_->num_arrivals;
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
            .message = Cat("barrier ", spec_->name, " may reach completion ", completed_ + 1, " before ",
                           agents.NameOf(waiter.who), " has waited for completion ", completed_),
            .why = Cat("the wait of ", agents.NameOf(waiter.who),
                       " came first in this run, but nothing orders the arrival after it"),
            .fix = Cat("let ", agents.NameOf(waiter.who), " arrive at another barrier after its ", WaitCall(),
                       ", and let the arriving agents wait for that")},
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

bool Barrier::Hands(const Epoch& epoch, AgentId from, AgentId to) const {
  const Waiter* const waiter = Find(to);
  return waiter != nullptr && waiter->seen == completed_ && completed_ > 0 && last_by_.who == from &&
         last_[ClockPart::kGeneric].Covers(epoch);
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
                           ", which already has ", completed_),
            .why = "hardware keeps only whether that number is odd: the wait would hang, or be taken for another one",
            .fix = Cat(WaitCall(), " once for each completion, in every thread that waits")},
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
  mine.time = 0;  // the warps' own times show what has to come after their waits
  mine.site = site;
  const bool differ = *least != *most;
  mine.by_warp = differ ? std::move(seen) : std::vector<std::uint64_t>();
}

std::string Barrier::Came() const {
  const std::string arrivals = Cat(arrived_, " of ", spec_->num_arrivals, " arrivals");
  if (bytes_ == 0) return arrivals;
  return bytes_ > 0 ? Cat(arrivals, ", ", bytes_, " bytes to come")
                    : Cat(arrivals, ", ", -bytes_, " bytes that no copy of its own expects");
}

std::string Barrier::WaitCall() const { return Cat("plgpu.barrier_wait(", spec_->python, ")"); }

WaitRecord Barrier::Waiting(AgentId agent, const CodeSite& site, const AgentTable* agents) const {
  return {agent, Cat("barrier ", spec_->name), Cat("completion ", SeenBy(agent, agents) + 1),
          Cat(completed_, " completions and ", Came()), site};
}

void Barrier::End(Ends ends, const CodeSite& site, const AgentTable& agents, FindingLog* log) {
  ended_ = true;
  const By end{{}, site};
  const Severity unawaited = ends == Ends::kBlock ? Severity::kNote : Severity::kDefect;
  if (arrived_ > 0 || bytes_ != 0) {
    Report({.code = FindingCode::kBarrierPending,
            .first = last_arrival_,
            .second = end,
            .message = Cat("barrier ", spec_->name, " ends with ", Came(),
                           bytes_ == 0 ? " of completion " : ", for completion ", completed_ + 1),
            .fix = bytes_ == 0 ? Cat("let as many arrive as num_arrivals of ", spec_->name, " says")
                               : "let all blocks along collective_axes issue the same copies"},
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
            .message = Cat("barrier ", spec_->name, " ends after completion ", completed_, "; ",
                           most == 0 ? Cat("no agent has waited for any of its completions")
                                     : Cat("the last one that an agent has waited for is ", most)),
            .fix = Cat(WaitCall(), " for the last completion, or no arrival for it"),
            .mend = {.kind = Mend::Kind::kAwaitCompletion, .line = last_by_.site.text_line, .object = spec_->python}},
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
            .fix = Cat(WaitCall(), " once for each completion, in every thread that waits")},
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
            .confidence = fault.confidence,
            .mend = std::move(fault.mend)});
}

}  // namespace palladion::memory_model
