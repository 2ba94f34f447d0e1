#include "memory_model/sync/rendezvous.h"

#include <algorithm>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion::memory_model {

std::size_t Rendezvous::IndexOf(AgentId agent) const {
  return static_cast<std::size_t>(std::find(members_.begin(), members_.end(), agent) - members_.begin());
}

void Rendezvous::Enter(AgentId agent, JointWork work, const CodeSite& site, AgentTable* agents, FindingLog* log) {
  ++entered_[IndexOf(agent)];
  gathering_.JoinWithoutTensorCore(agents->ClockOf(agent));  // no fence of tcgen05 lies there
  agents->Tick(agent, site);
  waiting_.push_back({agent, std::move(work.what), work.place, site});
  if (const Entry& first = waiting_.front(), &mine = waiting_.back();
      mine.what != first.what || mine.place != first.place) {
    Report(first, mine,
           Cat(agents->NameOf(agent), " does ", mine.what, " where ", agents->NameOf(first.who), " does ", first.what),
           *agents, log);
  }
  if (waiting_.size() < members_.size()) return CheckEnded(*agents, log);
  waiting_.clear();
  ++met_;
  swap(last_, gathering_);
  gathering_.Clear();
}

void Rendezvous::Leave(AgentId agent, AgentTable* agents) { agents->Acquire(agent, last_); }

WaitRecord Rendezvous::Waiting(AgentId agent, const CodeSite& site, const AgentTable& agents) const {
  std::string missing;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (entered_[i] <= met_) Append(&missing, missing.empty() ? "" : ", ", agents.NameOf(members_[i]));
  }
  return {agent, name_, Cat("all ", members_.size(), " to enter"), Cat("not seen ", missing), site};
}

void Rendezvous::MemberEnds(AgentId agent, const AgentTable& agents, FindingLog* log) {
  const auto at = std::find(members_.begin(), members_.end(), agent);
  if (at == members_.end()) return;
  ended_[static_cast<std::size_t>(at - members_.begin())] = true;
  CheckEnded(agents, log);
}

void Rendezvous::CheckEnded(const AgentTable& agents, FindingLog* log) const {
  for (std::size_t i = 0; !waiting_.empty() && i < members_.size(); ++i) {
    if (!ended_[i] || entered_[i] > met_) continue;
    Report(waiting_.front(), {members_[i], "", 0, waiting_.front().site},  // an end has no line of its own
           Cat(agents.NameOf(members_[i]), " ends without ", waiting_.front().what, ", for which ",
               agents.NameOf(waiting_.front().who), " waits"),
           agents, log);
  }
}

void Rendezvous::Report(const Entry& first, const Entry& second, std::string message, const AgentTable& agents,
                        FindingLog* log) const {
  if (!log->IsNew({FindingCode::kCollectiveMismatch,
                   {first.site.loc, first.site.text_line},
                   {second.site.loc, second.site.text_line},
                   (std::int64_t{1} << 34) + id_.value})) {
    return;
  }
  Finding finding{
      .code = FindingCode::kCollectiveMismatch,
      .message = std::move(message),
      .loc = second.site.loc,
      .text_line = second.site.text_line,
      .fix = Cat("let all of ", name_, " do the same equally often, not in a branch that some of them skip")};
  const auto side = [&](const Entry& entry) {
    return FindingAccess{.kind = AccessKind::kAtomic,
                         .agent = agents.NameOf(entry.who),
                         .object = name_,
                         .loc = entry.site.loc,
                         .text_line = entry.site.text_line};
  };
  finding.first = side(first);
  finding.second = side(second);
  log->Add(std::move(finding));
}

}  // namespace palladion::memory_model
