#include "emu/run/threads/residents.h"

#include <algorithm>
#include <map>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion::threads {

AgentId Residents::AddBlock(absl::Span<const std::int64_t> index, std::int64_t threads) {
  const BlockId id = blocks_.Next();
  Block& block = blocks_.Add();
  block.index.assign(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(shape_.block_dims()));
  block.number = shape_.NumberOf(index);
  block.cluster = shape_.ClusterOf(index);
  block.place = shape_.PlaceOf(index);
  block_at_[block.number] = id;
  if (begun_.size() <= static_cast<std::size_t>(block.number))
    begun_.resize(static_cast<std::size_t>(block.number) + 1);
  begun_[static_cast<std::size_t>(block.number)] = true;
  clusters_[block.cluster].blocks.push_back(id);
  const AgentId first = threads_.Next();
  for (std::int64_t t = 0; t < threads; ++t) {
    Thread& thread = threads_.Add();
    thread.block = id;
    thread.index = block.index;
    thread.number = static_cast<std::size_t>(t);
    if (threads > 1 || shape_.counts_threads()) thread.index.push_back(t);
    const memory_model::Place place = block.place.With(PlaceLevel::kThread, static_cast<std::int32_t>(t));
    block.threads.push_back(model_.agents().Add(shape_.NameOf(thread.index), place));
  }
  block.running = block.threads.size();
  block.meeting = model_.MakeRendezvous(Cat("the threads of ", shape_.BlockNameOf(block.index)), block.threads);
  return first;
}

AgentId Residents::Fork(AgentId parent, std::int64_t number, const CodeSite& site) {
  Thread& warp = threads_.Add();
  warp.block = Of(parent).block;
  warp.index = Of(parent).index;
  warp.parent = parent;
  warp.number = Of(parent).number;
  warp.warp = static_cast<std::size_t>(number);
  memory_model::AgentTable& agents = model_.agents();
  const memory_model::Place place = agents.PlaceOf(parent).With(PlaceLevel::kWarp, static_cast<std::int32_t>(number));
  if (model_.rule().automatic_barriers()) agents.LanesMeet(parent);
  const AgentId id = agents.Spawn(parent, Cat("warp ", number, " of ", agents.NameOf(parent)), place, site);
  Of(parent).warps.push_back(id);
  ++Of(parent).warps_running;
  return id;
}

bool Residents::ThreadEnds(AgentId id) {
  Block& block = BlockOf(id);
  Of(id).ended = true;
  if (--block.running > 0) return false;
  // Blocks of a cluster may look at each other's memory until all have come to their end.
  Cluster& cluster = ClusterOf(block.cluster);
  cluster.over = ++cluster.ended >= BlocksOfCluster();
  return cluster.over;
}

// Of several TPUs, a core may walk a whole part of the grid.
std::int64_t Residents::BlocksOfCluster() const {
  return shape_.tpus() ? static_cast<std::int64_t>(block_at_.size()) : shape_.cluster_size();
}

AgentId Residents::Before() {
  if (before_.valid()) return before_;
  before_ = AddLaunch("the kernel before this one", shape_.PlaceOfDevice(0));
  return before_;
}

AgentId Residents::AddLaunch(std::string name, const memory_model::Place& place) {
  threads_.Skip();
  return model_.agents().Add(std::move(name), place, AgentRole::kLaunch);
}

std::vector<BlockId> Residents::InOrder() const {
  const std::map<std::int64_t, BlockId> by_number(block_at_.begin(), block_at_.end());
  std::vector<BlockId> blocks;
  for (const auto& [number, block] : by_number) blocks.push_back(block);
  return blocks;
}

void Residents::RetireThread(AgentId id) {
  model_.Retire(id);
  threads_.Retire(id);
}

void Residents::RetireCluster(std::int64_t number) {
  const auto at = clusters_.find(number);
  for (const BlockId id : at->second.blocks) {
    const Block& block = Of(id);
    for (const AgentId thread : block.threads) RetireThread(thread);
    model_.Retire(block.meeting);
    block_at_.erase(block.number);
    blocks_.Retire(id);
  }
  clusters_.erase(at);
}

}  // namespace palladion::threads
