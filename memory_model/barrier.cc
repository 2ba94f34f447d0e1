#include "memory_model/barrier.h"

#include <algorithm>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion {

void Barrier::Arrive(ClockId by, const ClockBundle& clock, std::int64_t amount, const CodeSite& site,
                     const AgentTable& agents, FindingLog* log) {
  last_arrival_ = {by, site};
  arrivals_race_ |= !clock[ClockPart::kGeneric].Covers(last_[ClockPart::kGeneric]);
  while (amount > 0) {
    if (spec_.orders_tensor_core) {
      gathering_.Join(clock);
    } else {
      gathering_.JoinWithoutTensorCore(clock);
    }
    const std::int64_t now = std::min(amount, spec_.num_arrivals - arrived_);
    arrived_ += now;
    amount -= now;
    if (arrived_ == spec_.num_arrivals) Complete({by, site}, agents, log);
  }
}

void Barrier::Complete(const By& by, const AgentTable& agents, FindingLog* log) {
  CheckOrder(by, agents, log);
  const bool seen = completed_ == forgiven_ || std::any_of(waiters_.begin(), waiters_.end(), [&](const Waiter& waiter) {
                      return waiter.seen == completed_;
                    });
  if (!seen) {
    forgiven_ = completed_;
    Report(FindingCode::kBarrierDouble, Confidence::kProved, last_by_, by,
           Cat("barrier ", spec_.name, " completes for the ", completed_ + 1,
               ". time, and nobody has waited for the completion before"),
           "", "wait for each completion before the arrivals of the next", agents, log);
  }
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
    if (waiter.seen != completed_ || waiter.seen == 0) continue;
    any = true;
    ordered |= gathering_[ClockPart::kGeneric].Covers(Epoch{waiter.who, waiter.time});
  }
  if (!any) return;
  for (const Waiter& waiter : waiters_) {
    if (waiter.seen != completed_ || gathering_[ClockPart::kGeneric].Covers(Epoch{waiter.who, waiter.time})) continue;
    Report(ordered ? FindingCode::kBarrierPhaseSkip : FindingCode::kBarrierDouble, Confidence::kPredicted,
           {waiter.who, waiter.site}, by,
           Cat("barrier ", spec_.name, " may complete for the ", completed_ + 1, ". time before ",
               agents.NameOf(waiter.who), " has waited for the completion before"),
           Cat("the wait of ", agents.NameOf(waiter.who),
               " came first in this run, but nothing orders the arrival after it"),
           "let the waiter signal the arriver after its wait", agents, log);
    if (!ordered) return;
  }
}

std::uint64_t Barrier::SeenBy(ClockId agent) const {
  for (const Waiter& waiter : waiters_) {
    if (waiter.who == agent) return std::max(waiter.seen, forgiven_);
  }
  return forgiven_;
}

Barrier::Waiter& Barrier::WaiterOf(ClockId agent) {
  for (Waiter& waiter : waiters_) {
    if (waiter.who == agent) return waiter;
  }
  return waiters_.emplace_back(Waiter{.who = agent});
}

void Barrier::Wait(ClockId agent, const CodeSite& site, AgentTable* agents, FindingLog* log) {
  const std::uint64_t seen = SeenBy(agent);
  Waiter& waiter = WaiterOf(agent);
  if (completed_ - seen > 1) {
    Report(FindingCode::kBarrierPhaseSkip, Confidence::kProved, last_by_, {agent, site},
           Cat(agents->NameOf(agent), " waits for completion ", seen + 1, " of barrier ", spec_.name, ", which has ",
               completed_),
           "hardware keeps only whether that number is odd: the wait would hang, or be taken for another one",
           "let every waiter wait for each completion before the next", *agents, log);
  }
  agents->Acquire(agent, last_);
  waiter.seen = completed_;
  waiter.time = agents->NowOf(agent);
  waiter.site = site;
}

WaitRecord Barrier::Waiting(ClockId agent, const CodeSite& site) const {
  return {agent, Cat("barrier ", spec_.name), Cat("completion ", SeenBy(agent) + 1),
          Cat(completed_, " completions and ", arrived_, " of ", spec_.num_arrivals, " arrivals"), site};
}

void Barrier::End(Ends ends, const CodeSite& site, const AgentTable& agents, FindingLog* log) const {
  const By end{{}, site};
  const bool tolerated = ends == Ends::kBlock;
  if (arrived_ > 0) {
    Report(FindingCode::kBarrierPending, Confidence::kProved, last_arrival_, end,
           Cat("barrier ", spec_.name, " ends with ", arrived_, " of ", spec_.num_arrivals, " arrivals of completion ",
               completed_ + 1),
           "", "make arrivals and num_arrivals agree", agents, log);
  }
  std::uint64_t most = forgiven_;
  for (const Waiter& waiter : waiters_) most = std::max(most, waiter.seen);
  if (most < completed_) {
    Report(FindingCode::kBarrierUnawaited, Confidence::kProved, last_by_, end,
           Cat("barrier ", spec_.name, " ends with ", completed_, " completions, and only ", most, " waited for"), "",
           "wait for the last completion, or do not arrive for it", agents, log, tolerated);
    return;
  }
  for (const Waiter& waiter : waiters_) {
    if (std::max(waiter.seen, forgiven_) == completed_) continue;
    Report(FindingCode::kBarrierPhaseSkip, Confidence::kProved, last_by_, {waiter.who, waiter.site},
           Cat(agents.NameOf(waiter.who), " has waited for barrier ", spec_.name, ", but not for its completion ",
               completed_),
           "", "let every waiter wait for each completion", agents, log, tolerated);
  }
}

void Barrier::Report(FindingCode code, Confidence confidence, const By& first, const By& second, std::string message,
                     std::string why, std::string fix, const AgentTable& agents, FindingLog* log,
                     bool tolerated) const {
  if (!log->IsNew({code, first.site.loc, second.site.loc, first.site.text_line, second.site.text_line,
                   (std::int64_t{1} << 32) + id_.value})) {
    return;
  }
  Finding finding{.code = code,
                  .severity = tolerated ? Severity::kNote : RowOf(code).severity,
                  .message = std::move(message),
                  .loc = second.site.loc,
                  .text_line = second.site.text_line,
                  .why = std::move(why),
                  .fix = std::move(fix),
                  .confidence = confidence};
  const auto side = [&](const By& by) {
    return FindingAccess{.kind = AccessKind::kAtomic,
                         .agent = by.who.valid() ? agents.NameOf(by.who) : "the end of its scope",
                         .object = spec_.name,
                         .loc = by.site.loc,
                         .text_line = by.site.text_line};
  };
  finding.first = side(first);
  finding.second = side(second);
  log->Add(std::move(finding));
}

}  // namespace palladion
