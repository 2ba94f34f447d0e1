#include "emu/run/threads/named_barriers.h"

#include <optional>

#include "emu/run/threads/schedule_objects.h"
#include "semantics/base/cat.h"

namespace palladion::threads {
namespace {

constexpr std::int64_t kLanesOfThread = 128, kLanesOfWarp = 32;

}  // namespace

void NamedBarriers::Report(Finding finding) const {
  finding.severity = RowOf(finding.code).severity;
  base_.memory.Report(std::move(finding));
}

void NamedBarriers::Arrive(AgentId agent, const NamedArrival& arrival, const Site& site) {
  const Key key = KeyOf(agent, arrival.barrier);
  const std::string name =
      Cat("named barrier ", arrival.barrier, " of ", base_.shape.BlockNameOf(base_.residents.Of(key.first).index));
  const auto at = barriers_.try_emplace(key, name).first;
  const bool warp = base_.residents.Of(agent).is_warp();
  std::optional<Finding> wrong = at->second.Arrive({.by = agent,
                                                    .lanes = warp ? kLanesOfWarp : kLanesOfThread,
                                                    .of = arrival.lanes,
                                                    .waits = arrival.waits,
                                                    .site = CodeSite::Of(site)},
                                                   &base_.model.agents());
  if (wrong.has_value()) Report(*std::move(wrong));
}

bool NamedBarriers::CanWait(AgentId agent, const WaitTarget& target) const {
  const auto at = barriers_.find(KeyOf(agent, target.value));
  return at == barriers_.end() || at->second.CanWait(agent);
}

void NamedBarriers::Wait(AgentId agent, const WaitTarget& target, const Site&) {
  base_.memory.TellLanesMet();
  const auto at = barriers_.find(KeyOf(agent, target.value));
  if (at != barriers_.end()) at->second.Wait(agent, &base_.model.agents());
}

std::string NamedBarriers::Describe(AgentId agent, const WaitTarget& target) const {
  const auto at = barriers_.find(KeyOf(agent, target.value));
  return at == barriers_.end() ? Cat("named barrier ", target.value) : WordsFor(at->second.Waiting(agent, {}));
}

std::int64_t NamedBarriers::ObjectOf(AgentId agent, std::int64_t number) const {
  return NamedBarrierObjectOf(base_.residents.Of(agent).block, number);
}

void NamedBarriers::Retire(BlockId block) {
  const auto first = barriers_.lower_bound({block, 0});
  auto at = first;
  for (; at != barriers_.end() && at->first.first == block; ++at) {
    if (std::optional<Finding> left = at->second.End()) Report(*std::move(left));
  }
  barriers_.erase(first, at);
}

}  // namespace palladion::threads
