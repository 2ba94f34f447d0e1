#include "memory_model/sync/semaphore.h"

#include <algorithm>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion::memory_model {

void Semaphore::Signal(AgentId by, const ClockBundle& clock, std::int64_t amount, const CodeSite& site) {
  if (amount < 1) return;
  ended_ = false;  // by somebody who does not know of its end
  count_ += amount;
  credits_.push_back({amount, {}, by, site});
  credits_.back().clock.JoinWithoutTensorCore(clock);
}

const ClockBundle& Semaphore::ToldBy(std::size_t credits) {
  if (joined_ > credits) told_.Clear(), joined_ = 0;
  for (; joined_ < credits; ++joined_) told_.Join(credits_[joined_].clock);
  return told_;
}

void Semaphore::Wait(AgentId agent, std::int64_t value, const SemaphoreWait& how, AgentTable* agents) {
  const auto device_of = [&](AgentId who) { return agents->PlaceOf(who).at(PlaceLevel::kDevice); };
  const bool together = !how.decrement && how.scope == MemoryScope::kSystem;
  std::size_t taken = 0;
  for (std::int64_t left = value; left > 0 && taken < credits_.size(); ++taken) {
    const Credit& credit = credits_[taken];
    left -= credit.left;
    const bool tells = how.scope == MemoryScope::kSystem || device_of(credit.by) == device_of(agent);
    if (!together && tells) agents->Acquire(agent, credit.clock);
  }
  if (together && taken > 0) agents->Acquire(agent, ToldBy(taken));
  if (!how.decrement) left_by_waits_ = std::max(left_by_waits_, value);
  if (!how.decrement || value < 1) return;
  count_ -= value;
  told_.Clear(), joined_ = 0;
  std::int64_t left = value;
  for (; left > 0 && left >= credits_.front().left;) {
    left -= credits_.front().left;
    credits_.pop_front();
  }
  if (left > 0) credits_.front().left -= left;
}

std::int64_t Semaphore::Read(AgentId agent, AgentTable* agents) {
  if (!credits_.empty()) agents->Acquire(agent, ToldBy(credits_.size()));
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
                  .fix = Cat("pl.semaphore_wait(", spec_.python, ", value) for all that is signalled, or signal less")};
  finding.first = FindingAccess{.kind = AccessKind::kAtomic,
                                .agent = agents.NameOf(last.by),
                                .object = spec_.name,
                                .loc = last.site.loc,
                                .text_line = last.site.text_line};
  log->Add(std::move(finding));
}

}  // namespace palladion::memory_model
