// Waits for a named barrier of the block (memory_model/sync/named_barrier.h), made when an agent first comes to one.
// Based on: bar.sync and bar.arrive of PTX. Limits: the operation checks numbers and counts.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "emu/run/threads/schedule_objects.h"
#include "emu/run/threads/thread_touches.h"
#include "emu/run/threads/waitables.h"
#include "memory_model/sync/named_barrier.h"
#include "semantics/base/cat.h"

namespace palladion::threads {
namespace {

constexpr std::int64_t kLanesOfThread = 128, kLanesOfWarp = 32;

class OfNamedBarriers final : public Waitable {
 public:
  explicit OfNamedBarriers(const MachineBase& base) : base_(base) {}

  absl::Status Arrive(const Asker& asker, const Arrival& arrival) override;

  bool CanWait(AgentId agent, const WaitTarget& target) const override {
    const auto at = barriers_.find(KeyOf(agent, target));
    return at == barriers_.end() || at->second.CanWait(agent);
  }
  void Wait(AgentId agent, const WaitTarget& target, const Site&) override {
    base_.memory.NotifyLanesMet();
    const auto at = barriers_.find(KeyOf(agent, target));
    if (at != barriers_.end()) at->second.Wait(agent, &base_.model.agents());
  }
  std::string Describe(AgentId agent, const WaitTarget& target) const override {
    const auto at = barriers_.find(KeyOf(agent, target));
    return at == barriers_.end() ? Cat("named barrier ", target.value) : WordsFor(at->second.Waiting(agent, {}));
  }
  std::string Name(AgentId, const WaitTarget& target) const override { return Cat("named barrier ", target.value); }
  std::int64_t Object(AgentId agent, const WaitTarget& target) const override {
    return ObjectOfKind(target.kind, base_.residents.Of(agent).block.value * kNamedBarriers + target.value);
  }
  void Retire(BlockId block) override;
  std::optional<bool> ThreadMaySignal(AgentId waiter, const Other& other) const override {
    return base_.residents.IsOf(waiter, other.index);
  }

 private:
  using Key = std::pair<BlockId, std::int64_t>;
  Key KeyOf(AgentId agent, const WaitTarget& target) const { return {base_.residents.Of(agent).block, target.value}; }
  void Report(Finding finding) const;

  const MachineBase base_;
  std::map<Key, memory_model::NamedBarrier> barriers_;
};

void OfNamedBarriers::Report(Finding finding) const {
  finding.severity = RowOf(finding.code).severity;
  base_.memory.Report(std::move(finding));
}

absl::Status OfNamedBarriers::Arrive(const Asker& asker, const Arrival& arrival) {
  const std::int64_t object = Object(asker.agent, arrival.at);
  if (asker.touches != nullptr) asker.touches->Object(object);
  asker.changes.Add(object);
  const Key key = KeyOf(asker.agent, arrival.at);
  const std::string name =
      Cat("named barrier ", key.second, " of ", base_.shape.BlockNameOf(base_.residents.Of(key.first).index));
  const auto at = barriers_.try_emplace(key, name).first;
  const bool warp = base_.residents.Of(asker.agent).is_warp();
  std::optional<Finding> wrong = at->second.Arrive({.by = asker.agent,
                                                    .lanes = warp ? kLanesOfWarp : kLanesOfThread,
                                                    .of = arrival.amount,
                                                    .waits = arrival.waits,
                                                    .site = CodeSite::Of(asker.site)},
                                                   &base_.model.agents());
  if (wrong.has_value()) Report(*std::move(wrong));
  return absl::OkStatus();
}

void OfNamedBarriers::Retire(BlockId block) {
  const auto first = barriers_.lower_bound({block, 0});
  auto at = first;
  for (; at != barriers_.end() && at->first.first == block; ++at) {
    if (std::optional<Finding> left = at->second.End()) Report(*std::move(left));
  }
  barriers_.erase(first, at);
}

}  // namespace

std::unique_ptr<Waitable> NamedBarrierWaits(const WaitableParts& parts) {
  return std::make_unique<OfNamedBarriers>(parts.base);
}

}  // namespace palladion::threads
