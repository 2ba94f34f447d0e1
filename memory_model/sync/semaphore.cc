#include "memory_model/sync/semaphore.h"

#include <utility>

#include "semantics/base/cat.h"

namespace palladion::memory_model {

void Semaphore::Signal(AgentId by, const ClockBundle& clock, std::int64_t amount, const CodeSite& site) {
  if (amount < 1) return;
  count_ += amount;
  credits_.push_back({amount, clock, by, site});
}

void Semaphore::Wait(AgentId agent, std::int64_t value, bool decrement, AgentTable* agents) {
  std::int64_t left = value;
  for (const Credit& credit : credits_) {
    if (left <= 0) break;
    agents->Acquire(agent, credit.clock);
    left -= credit.left;
  }
  if (!decrement || value < 1) return;
  count_ -= value;
  for (left = value; left > 0 && left >= credits_.front().left;) {
    left -= credits_.front().left;
    credits_.pop_front();
  }
  if (left > 0) credits_.front().left -= left;
}

std::int64_t Semaphore::Read(AgentId agent, AgentTable* agents) const {
  for (const Credit& credit : credits_) agents->Acquire(agent, credit.clock);
  return count_;
}

WaitRecord Semaphore::Waiting(AgentId agent, std::int64_t value, const CodeSite& site) const {
  const std::string_view unit = UnitOf(spec_.kind) == CompletionUnit::kBytes ? " bytes" : "";
  return {agent, Cat("semaphore ", spec_.name), Cat(value, unit), Cat(count_, unit), site};
}

void Semaphore::End(const CodeSite& site, const AgentTable& agents, FindingLog* log) {
  ended_ = true;
  if (count_ == 0) return;
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
