// Collective operations that nobody waits in: the copies that several blocks issue together.
#include <string>
#include <utility>
#include <vector>

#include "emu/threads/thread_machine.h"
#include "semantics/base/cat.h"

namespace palladion::threads {

// The blocks that differ from each other along these dimensions only, and in each the same lane of the same thread: the
// copies of two threads of a block, or of two warps, have no order with each other.
absl::Status ThreadMachine::Collective(absl::Span<const std::size_t> grid_dims, std::string what, const Site& site) {
  const Thread& me = Current();
  const std::vector<std::int64_t>& mine = Of(me.block).index;
  CollectiveKey key{mine, me.number, LaneOf(me)};
  for (const std::size_t d : grid_dims) key.group[d] = -1;
  Collectives& all = InCluster(key) ? ClusterOf(me.block).collectives : collectives_;
  const auto [at, added] = all.try_emplace(key);
  if (added) at->second = MakeCollective(key);
  model_.Enter(at->second, *MemberOf(key, mine), std::move(what), CodeSite::Of(site));
  return absl::OkStatus();
}

bool ThreadMachine::InCluster(const CollectiveKey& key) const {
  std::int64_t inner = 1;  // blocks of the dimensions from d on
  for (std::size_t d = key.group.size(); d-- > 0;) {
    inner *= grid_[d];
    if (key.group[d] < 0 && inner > units_) return false;
  }
  return true;
}

// The number of the block with this index among those of the key; none: it is not of them.
std::optional<std::size_t> ThreadMachine::MemberOf(const CollectiveKey& key,
                                                   absl::Span<const std::int64_t> index) const {
  std::int64_t member = 0;
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (key.group[d] < 0) {
      member = member * grid_[d] + index[d];
    } else if (key.group[d] != index[d]) {
      return std::nullopt;
    }
  }
  return static_cast<std::size_t>(member);
}

memory_model::CollectiveId ThreadMachine::MakeCollective(const CollectiveKey& key) {
  std::vector<std::vector<std::int64_t>> members = {key.group};
  for (std::size_t d = 0; d < key.group.size(); ++d) {
    if (key.group[d] >= 0) continue;
    std::vector<std::vector<std::int64_t>> more;
    for (const std::vector<std::int64_t>& member : members) {
      for (std::int64_t i = 0; i < grid_[d]; ++i) more.emplace_back(member)[d] = i;
    }
    members = std::move(more);
  }
  const std::string warp = key.lane > 0 ? Cat("warp ", key.lane, " of ") : "";
  std::vector<std::string> names;
  std::vector<bool> ended;
  for (const std::vector<std::int64_t>& member : members) {
    const std::int64_t number = NumberOf(member);
    const auto block = block_at_.find(number);
    const bool begun = HasBegun(number);
    const bool there = block != block_at_.end();  // else it has been retired, if it has begun
    std::vector<std::int64_t> index = member;
    if (block_dims_ < grid_.size()) index.push_back(static_cast<std::int64_t>(key.thread));
    names.push_back(Cat(warp, begun ? NameOf(index) : NameOfBlock(member)));
    ended.push_back(begun && (!there || Of(Of(block->second).threads[key.thread]).ended));
  }
  const memory_model::CollectiveId id = model_.MakeCollective("multicast copies", std::move(names));
  for (std::size_t m = 0; m < ended.size(); ++m) {
    if (ended[m]) model_.MemberEnds(id, m, {});
  }
  return id;
}

void ThreadMachine::EndCollectives(const Thread& thread, const Collectives& all) {
  for (const auto& [key, collective] : all) {
    if (key.thread != thread.number) continue;
    const std::optional<std::size_t> member = MemberOf(key, Of(thread.block).index);
    if (member.has_value()) model_.MemberEnds(collective, *member, {});
  }
}

}  // namespace palladion::threads
