#include "emu/threads/sync_arrays.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/ops/gpu/gpu_scope.h"

namespace palladion::threads {
namespace {

// "full[1]"; as an argument of a call "full.at[1]".
std::string ElementName(const SyncRequest& request, std::int64_t element, std::string_view bracket = "[") {
  if (request.shape.empty()) return request.name;
  if (request.shape.size() == 1) return Cat(request.name, bracket, element, "]");
  std::vector<std::int64_t> index(request.shape.size());
  for (std::size_t d = request.shape.size(); d-- > 0;) {
    index[d] = element % request.shape[d];
    element /= request.shape[d];
  }
  return Cat(request.name, std::string(bracket), absl::StrJoin(index, ", "), "]");
}

}  // namespace

// Of a cluster barrier, the arrivals that one block's barrier sees: its own block's, and those of every block that
// differs from it along one of the axes.
std::int64_t SyncArrays::Arrivals(const SyncRequest& request) const {
  if (request.kind != SyncKind::kClusterBarrier) return request.num_arrivals;
  std::int64_t blocks = 1;
  for (const std::vector<std::size_t>& axis : request.axes) {
    std::int64_t size = 1;
    for (const std::size_t d : axis) size *= base_.shape.size(d);
    blocks += size - 1;
  }
  return request.num_arrivals * blocks;
}

std::int64_t SyncArrays::DeviceOf(const SyncArray& array) const {
  return array.block.valid() ? base_.shape.DeviceOf(base_.residents.Of(array.block).index) : 0;
}

void SyncArrays::MakeElements(const SyncRequest& request, SyncArray* array) {
  std::int64_t count = 1;
  for (const std::int64_t size : request.shape) count *= size;
  const std::string of = base_.shape.has_peers() && array->block.valid()
                             ? Cat(" of ", base_.shape.BlockNameOf(base_.residents.Of(array->block).index))
                             : "";
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string text = ElementName(request, i) + of;
    const std::string python = count == 1 ? request.name : ElementName(request, i, ".at[");
    if (request.kind == SyncKind::kSemaphore || request.kind == SyncKind::kDmaSemaphore) {
      const bool dma = request.kind == SyncKind::kDmaSemaphore;
      const memory_model::SemaphoreKind kind =
          dma ? memory_model::SemaphoreKind::kDma : memory_model::SemaphoreKind::kRegular;
      array->semaphores.push_back(base_.model.MakeSemaphore({.name = text, .kind = kind, .python = python}));
    } else {
      array->barriers.push_back(base_.model.MakeBarrier({.name = text,
                                                         .num_arrivals = Arrivals(request),
                                                         .orders_tensor_core = request.orders_tensor_core,
                                                         .units = base_.shape.cluster_size(),
                                                         .python = python}));
    }
  }
}

SyncId SyncArrays::Make(const SyncRequest& request, const ObjectName& name, BlockId block) {
  if (block.valid()) EndLeft(block, memory_model::Barrier::Ends::kScope);
  const SyncId id = arrays_.Next();
  SyncArray& array = arrays_.Add();
  array.request = request;
  array.block = block;
  array.name = name;
  array.users = block.valid() ? base_.residents.Of(block).threads.size() : 0;
  if (block.valid()) Of(block).all.push_back(id);
  MakeElements(request, &array);
  session_.Made(array, DeviceOf(array));
  return id;
}

absl::StatusOr<SyncId> SyncArrays::Alloc(AgentId thread, const SyncRequest& request) {
  constexpr std::int64_t kMaxObjects = std::int64_t{1} << 16;  // shared memory has room for fewer
  std::int64_t count = 1;
  for (const std::int64_t size : request.shape) count = std::min(count * size, kMaxObjects + 1);
  if (count > kMaxObjects) {
    return absl::ResourceExhaustedError(
        Cat("'", request.name, "' has more than ", kMaxObjects, " barriers or semaphores; no chip has room for them"));
  }
  if (request.place.owner ==
      PlaceLevel::kDevice) {  // one for each place of the kernel, however often threads come there
    const ObjectName here{request.place.step, 0};
    const auto [at, added] = of_grid_.try_emplace(here);
    if (added) at->second = Make(request, here, {});
    return at->second;
  }
  const ObjectName name = request.collective >= 0 ? ObjectName{-1 - request.collective, 0}
                                                  : base_.residents.Of(thread).NextName(request.place.step);
  const BlockId block = base_.residents.Of(thread).block;
  if (request.place.owner == PlaceLevel::kThread && base_.residents.Of(block).threads.size() > 1) {
    const SyncId own = Make(request, name, block);
    arrays_[own].users = 1;
    return own;
  }
  const auto [at, added] = Of(block).named.try_emplace(name);
  if (added) at->second = Make(request, name, block);
  return at->second;
}

void SyncArrays::Leave(SyncId id, const Site& site) {
  SyncArray& array = arrays_[id];
  if (array.users > 0 && --array.users > 0) return;
  if (array.block.valid()) Of(array.block).left.emplace_back(id, CodeSite::Of(site));
}

SyncElement SyncArrays::OfPeer(AgentId thread, SyncElement element, absl::Span<const std::int64_t> block,
                               const Site& site) {
  const SyncArray& array = arrays_[element.array];
  const BlockId peer = peers_.At(block);
  if (peer == array.block) return element;
  const bool outlives = OperandOfCollective(array.request.collective).has_value();  // who has it
  if (!peer.valid() || (!outlives && !peers_.Runs(peer))) {
    peers_.Report(thread, Cat(array.semaphores.empty() ? "barrier '" : "semaphore '", array.request.name, "'"), block,
                  site);
    return element;
  }
  const auto [at, added] = Of(peer).named.try_emplace(array.name);
  if (added) at->second = Make(array.request, array.name, peer);
  return {at->second, element.element};
}

void SyncArrays::Arrive(AgentId thread, SyncElement barrier, const Site& site) {
  const std::int64_t units = base_.shape.cluster_size();
  const SyncArray& array = arrays_[barrier.array];
  if (array.request.kind != SyncKind::kClusterBarrier)
    return base_.model.Arrive(thread, array.barrier(barrier.element), CodeSite::Of(site), units);
  std::vector<BarrierId> targets = {array.barrier(barrier.element)};
  for (const std::vector<std::size_t>& axis : array.request.axes) {
    for (const std::vector<std::int64_t>& block : base_.shape.Along(base_.residents.Of(array.block).index, axis)) {
      const SyncElement there = OfPeer(thread, barrier, block, site);
      if (there.array != barrier.array) targets.push_back(BarrierOf(there));
    }
  }
  for (const BarrierId target : targets) base_.model.Arrive(thread, target, CodeSite::Of(site), units);
}

bool SyncArrays::Sees(absl::Span<const std::int64_t> index, SyncId id) const {
  const BlockId owner = arrays_[id].block;
  return !owner.valid() || base_.residents.Of(owner).cluster == base_.shape.ClusterOf(index);
}

void SyncArrays::End(SyncId id, const CodeSite& site, memory_model::Barrier::Ends ends) {
  SyncArray& array = arrays_[id];
  if (OperandOfCollective(array.request.collective).has_value()) return;  // it goes on
  if (std::exchange(array.ended, true)) return;
  for (const BarrierId barrier : array.barriers) base_.model.End(barrier, site, ends);
  for (const SemaphoreId semaphore : array.semaphores) base_.model.End(semaphore, site);
  // Peers may come to it by its name, and operations under way may tell it.
  if (base_.shape.has_peers() || !array.block.valid()) return;
  const Block& block = base_.residents.Of(array.block);
  base_.residents.ClusterOf(block.cluster).under_way > 0 ? Of(array.block).ended.push_back(id) : Retire(id);
}

void SyncArrays::EndLeft(BlockId block, memory_model::Barrier::Ends ends) {
  for (const auto& [sync, site] : std::exchange(Of(block).left, {})) End(sync, site, ends);
}

void SyncArrays::BlockEnds(BlockId block) {
  EndLeft(block, memory_model::Barrier::Ends::kBlock);
  std::vector<SyncId> named;
  for (const auto& [name, sync] : Of(block).named) named.push_back(sync);
  for (const SyncId sync : named) End(sync, {}, memory_model::Barrier::Ends::kBlock);
}

void SyncArrays::Retire(SyncId id) {
  if (!arrays_.Has(id)) return;
  const SyncArray& array = arrays_[id];
  session_.HandOver(array, DeviceOf(array));
  BlockSyncs& block = Of(array.block);
  const auto named = block.named.find(array.name);
  if (named != block.named.end() && named->second == id) block.named.erase(named);
  block.all.erase(std::find(block.all.begin(), block.all.end(), id));
  for (const BarrierId barrier : array.barriers) base_.model.Retire(barrier);
  for (const SemaphoreId semaphore : array.semaphores) base_.model.Retire(semaphore);
  arrays_.Retire(id);
}

void SyncArrays::RetireEnded(BlockId block) {
  for (const SyncId sync : std::exchange(Of(block).ended, {})) Retire(sync);
}

void SyncArrays::RetireBlock(BlockId block) {
  for (const SyncId sync : std::vector<SyncId>(Of(block).all)) Retire(sync);
}

void SyncArrays::HandOver() {
  arrays_.ForEach([&](SyncId, const SyncArray& array) { session_.HandOver(array, DeviceOf(array)); });
}

}  // namespace palladion::threads
