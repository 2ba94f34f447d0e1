#include "memory_model/sync/semaphore.h"

#include <algorithm>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion::memory_model {

void Semaphore::Signal(AgentId by, const ClockBundle& clock, std::int64_t amount, const CodeSite& site) {
  if (amount < 1) {
    layers_.Withhold();  // no wait shows that the semaphore was there for it
    return;
  }
  ended_ = false;  // by an agent that is not ordered after its end
  count_ += amount;
  credits_.push_back({amount, {}, by, site});
  credits_.back().clock.JoinWithoutTensorCore(clock);
  const VectorClock& known = clock[ClockPart::kGeneric];
  layers_.Signal({by, known.TimeOf(by)}, known, amount);
}

void Semaphore::ForgetReleased() {
  released_.Clear();
  released_by_ = 0;
  released_amount_ = 0;
}

const ClockBundle& Semaphore::ReleasedBy(std::int64_t amount) {
  if (released_by_ > 0 && amount <= released_amount_ - credits_[released_by_ - 1].left) ForgetReleased();
  for (; released_amount_ < amount && released_by_ < credits_.size(); ++released_by_) {
    released_.Join(credits_[released_by_].clock);
    released_amount_ += credits_[released_by_].left;
  }
  return released_;
}

void Semaphore::AcquireFromEach(AgentId agent, std::int64_t value, MemoryScope scope, AgentTable* agents) const {
  const auto device_of = [&](AgentId who) { return agents->PlaceOf(who).at(PlaceLevel::kDevice); };
  for (std::size_t i = 0; value > 0 && i < credits_.size(); ++i) {
    const Credit& credit = credits_[i];
    value -= credit.left;
    if (value < 0 && UnitOf(spec_.kind) == CompletionUnit::kBytes) return;  // a part of a copy: it is not known which
    const bool reaches = scope == MemoryScope::kSystem || device_of(credit.by) == device_of(agent);
    reaches ? agents->Acquire(agent, credit.clock) : agents->KeepFrom(agent, credit.clock);
  }
}

void Semaphore::NoteTaken(AgentId agent, std::int64_t value, const AgentTable& agents) {
  const auto is = [agent](const Taken& taken) { return taken.by == agent; };
  auto at = std::find_if(taken_.begin(), taken_.end(), is);
  if (at == taken_.end()) at = taken_.insert(at, Taken{.by = agent, .of = {}});
  at->issued = agents.issued();
  at->of.clear();
  for (std::size_t i = 0; value > 0 && i < credits_.size(); ++i) {
    value -= credits_[i].left;
    at->of.push_back(credits_[i].by);
  }
}

const Semaphore::Taken* Semaphore::LastTaken(AgentId agent) const {
  const auto is = [agent](const Taken& taken) { return taken.by == agent; };
  const auto at = std::find_if(taken_.begin(), taken_.end(), is);
  return at == taken_.end() ? nullptr : &*at;
}

// The semaphore's count is of bytes that copies bring, and JAX takes no pl.semaphore_wait for them.
std::string Semaphore::WaitForTheRest(const AgentTable& agents) const {
  const std::string_view when = "before the kernel ends";
  if (UnitOf(spec_.kind) != CompletionUnit::kBytes)
    return Cat("pl.semaphore_wait(", spec_.python, ", ", count_, ") ", when, ", or signal ", count_, " less");
  const AgentId by = credits_.back().by;
  const bool remote = agents.SemaphoreOf(by, Half::kRead).valid();
  const bool sent = remote && !credits_.back().clock[ClockPart::kGeneric].Covers(Epoch{by, 2});
  const std::string_view call = !remote ? "copy.wait()" : sent ? "copy.wait_send()" : "copy.wait_recv()";
  return Cat(call, remote ? sent ? " in the sender" : " in the receiver" : "", " for every copy that ", spec_.name,
             " counts, ", when);
}

void Semaphore::Wait(AgentId agent, std::int64_t value, const SemaphoreWait& how, AgentTable* agents) {
  const bool in_bytes = UnitOf(spec_.kind) == CompletionUnit::kBytes;
  layers_.Take({.at = {agent, agents->NowOf(agent)},
                .known = agents->ClockOf(agent)[ClockPart::kGeneric],
                .acts = how.acts,
                .first = how.first,
                .value = value,
                .decrement = how.decrement,
                .whole = in_bytes});
  if (how.decrement || how.scope != MemoryScope::kSystem || in_bytes) {
    AcquireFromEach(agent, value, how.scope, agents);
  } else if (value > 0 && !credits_.empty()) {
    agents->Acquire(agent, ReleasedBy(value));
  }
  if (in_bytes && value > 0) NoteTaken(agent, value, *agents);
  if (!how.decrement) left_by_waits_ = std::max(left_by_waits_, value);
  if (!how.decrement || value < 1) return;
  count_ -= value;
  ForgetReleased();
  std::int64_t left = value;
  for (; left > 0 && left >= credits_.front().left;) {
    left -= credits_.front().left;
    credits_.pop_front();
  }
  if (left > 0) credits_.front().left -= left;
}

std::int64_t Semaphore::Read(AgentId agent, AgentTable* agents) {
  if (!credits_.empty()) agents->Acquire(agent, ReleasedBy(count_));
  return count_;
}

WaitRecord Semaphore::Waiting(AgentId agent, std::int64_t value, const CodeSite& site) const {
  const std::string_view unit = UnitOf(spec_.kind) == CompletionUnit::kBytes ? " bytes" : "";
  return {agent, Cat("semaphore ", spec_.name), Cat(value, unit), Cat(count_, unit), site};
}

bool Semaphore::Leaks(const AgentTable& agents) const {
  return !ended_ && count_ != 0 && !(agents.proxies() && count_ <= left_by_waits_);
}

void Semaphore::End(const CodeSite& site, const AgentTable& agents, FindingLog* log) {
  const bool leaks = Leaks(agents);
  ended_ = true;
  if (!leaks) return;
  const Credit& last = credits_.back();
  if (!log->IsNew(FindingLog::Key::OfOne(FindingCode::kSemaphoreLeak, {last.site.loc, last.site.text_line},
                                         (std::int64_t{1} << 33) + id_.value))) {
    return;
  }
  const std::string_view unit = UnitOf(spec_.kind) == CompletionUnit::kBytes ? " bytes" : "";
  Finding finding{.code = FindingCode::kSemaphoreLeak,
                  .message = Cat("semaphore ", spec_.name, " is ", count_, unit,
                                 site.text_line > 0 ? " when its scope ends" : " when the kernel ends", ", not 0"),
                  .loc = last.site.loc,
                  .text_line = last.site.text_line,
                  .fix = WaitForTheRest(agents)};
  finding.first = FindingAccess{.kind = AccessKind::kAtomic,
                                .agent = agents.NameOf(last.by),
                                .object = spec_.name,
                                .loc = last.site.loc,
                                .text_line = last.site.text_line};
  if (UnitOf(spec_.kind) != CompletionUnit::kBytes)
    finding.mend = {
        .kind = Mend::Kind::kTakeRest, .line = last.site.text_line, .object = spec_.python, .amount = count_};
  log->Add(std::move(finding));
}

}  // namespace palladion::memory_model
