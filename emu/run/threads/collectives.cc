#include "emu/run/threads/collectives.h"

#include <iterator>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion::threads {

std::vector<std::size_t> CollectiveGroup::GridDims() const {
  std::vector<std::size_t> dims;
  for (std::size_t d = 0; d < blocks.size(); ++d) {
    if (blocks[d] < 0) dims.push_back(d);
  }
  return dims;
}

std::optional<std::size_t> MemberOf(const CollectiveGroup& group, absl::Span<const std::int64_t> index,
                                    const LaunchShape& shape) {
  std::int64_t member = 0;
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (group.blocks[d] < 0) {
      member = member * shape.size(d) + index[d];
    } else if (group.blocks[d] != index[d]) {
      return std::nullopt;
    }
  }
  return static_cast<std::size_t>(member);
}

bool InCluster(const CollectiveGroup& group, const LaunchShape& shape) {
  std::int64_t inner = 1;  // blocks of the dimensions from d on
  for (std::size_t d = group.blocks.size(); d-- > 0;) {
    inner *= shape.size(d);
    if (group.blocks[d] < 0 && inner > shape.cluster_size()) return false;
  }
  return true;
}

void Collectives::Enter(AgentId id, const CollectiveStep& step, const CodeSite& site) {
  const Thread& thread = base_.residents.Of(id);
  const Block& block = base_.residents.Of(thread.block);
  CollectiveGroup group{block.index, thread.number, thread.lane(), std::string(step.kinds)};
  for (const std::size_t d : step.grid_dims) group.blocks[d] = -1;
  ByGroup& all = InCluster(group, base_.shape) ? of_cluster_[block.cluster] : across_;
  const auto [at, added] = all.try_emplace(group);
  if (added) at->second = Make(group);
  base_.model.Enter(at->second, *MemberOf(group, block.index, base_.shape), step.what, site);
}

memory_model::CollectiveId Collectives::Make(const CollectiveGroup& group) {
  const std::string warp = group.lane > 0 ? Cat("warp ", group.lane, " of ") : "";
  std::vector<std::string> names;
  std::vector<bool> ended;
  for (const std::vector<std::int64_t>& member : base_.shape.Along(group.blocks, group.GridDims())) {
    const std::int64_t number = base_.shape.NumberOf(member);
    const BlockId block = base_.residents.At(number);  // none: it has been retired, if it has begun
    const bool begun = base_.residents.HasBegun(number);
    std::vector<std::int64_t> index = member;
    if (base_.shape.counts_threads()) index.push_back(static_cast<std::int64_t>(group.thread));
    names.push_back(Cat(warp, begun ? base_.shape.NameOf(index) : NameOfBlock(member)));
    ended.push_back(begun &&
                    (!block.valid() || base_.residents.Of(base_.residents.Of(block).threads[group.thread]).ended));
  }
  const memory_model::CollectiveId id = base_.model.MakeCollective(group.kinds, std::move(names));
  for (std::size_t m = 0; m < ended.size(); ++m) {
    if (ended[m]) base_.model.MemberEnds(id, m, {});
  }
  return id;
}

void Collectives::MemberEnds(const Thread& thread, const ByGroup& all) {
  const std::vector<std::int64_t>& index = base_.residents.Of(thread.block).index;
  for (const auto& [group, collective] : all) {
    if (group.thread != thread.number) continue;
    const std::optional<std::size_t> member = MemberOf(group, index, base_.shape);
    if (member.has_value()) base_.model.MemberEnds(collective, *member, {});
  }
}

void Collectives::ThreadEnds(AgentId id) {
  const Thread& thread = base_.residents.Of(id);
  MemberEnds(thread, across_);
  const auto of_cluster = of_cluster_.find(base_.residents.Of(thread.block).cluster);
  if (of_cluster != of_cluster_.end()) MemberEnds(thread, of_cluster->second);
}

void Collectives::BlockEnds(absl::Span<const std::int64_t> index) {
  for (auto at = across_.begin(); at != across_.end();) {
    at = MemberOf(at->first, index, base_.shape).has_value() ? across_.erase(at) : std::next(at);
  }
}

void Collectives::RetireCluster(std::int64_t number) {
  const auto at = of_cluster_.find(number);
  if (at == of_cluster_.end()) return;
  for (const auto& [group, collective] : at->second) base_.model.Retire(collective);
  of_cluster_.erase(at);
}

std::size_t Collectives::size() const {
  std::size_t size = across_.size();
  for (const auto& [number, all] : of_cluster_) size += all.size();
  return size;
}

}  // namespace palladion::threads
