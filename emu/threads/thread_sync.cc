// Barriers and semaphores of blocks, clusters and the grid.
#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "emu/threads/thread_machine.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
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
std::int64_t ThreadMachine::Arrivals(const SyncRequest& request) const {
  if (request.kind != SyncKind::kClusterBarrier) return request.num_arrivals;
  std::int64_t blocks = 1;
  for (const std::vector<std::size_t>& axis : request.axes) {
    std::int64_t size = 1;
    for (const std::size_t d : axis) size *= grid_[d];
    blocks += size - 1;
  }
  return request.num_arrivals * blocks;
}

SyncId ThreadMachine::MakeSync(const SyncRequest& request, const ObjectName& name, BlockId block) {
  if (block.valid()) EndLeft(Of(block), memory_model::Barrier::Ends::kScope);
  const SyncId id = syncs_.Next();
  SyncArray& array = syncs_.Add();
  array.request = request;
  array.block = block;
  array.name = name;
  array.users = block.valid() ? Of(block).threads.size() : 0;
  if (block.valid()) Of(block).arrays.push_back(id);
  std::int64_t count = 1;
  for (const std::int64_t size : request.shape) count *= size;
  const std::string of = HasPeers() && block.valid() ? Cat(" of ", NameOf(Of(block))) : "";
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string text = ElementName(request, i) + of;
    const std::string python = count == 1 ? request.name : ElementName(request, i, ".at[");
    if (request.kind == SyncKind::kSemaphore || request.kind == SyncKind::kDmaSemaphore) {
      const bool dma = request.kind == SyncKind::kDmaSemaphore;
      const memory_model::SemaphoreKind kind =
          dma ? memory_model::SemaphoreKind::kDma : memory_model::SemaphoreKind::kRegular;
      array.semaphores.push_back(model_.MakeSemaphore({.name = text, .kind = kind, .python = python}));
    } else {
      array.barriers.push_back(model_.MakeBarrier({.name = text,
                                                   .num_arrivals = Arrivals(request),
                                                   .orders_tensor_core = request.orders_tensor_core,
                                                   .units = units_,
                                                   .python = python}));
    }
  }
  if (OperandOfCollective(request.collective).has_value())
    operand_semaphores_.insert(array.semaphores.begin(), array.semaphores.end());
  const agents::LaunchArrivals* const arrivals = options_.between.arrivals;
  if (arrivals != nullptr && request.collective >= 0) {
    const auto left = arrivals->barriers.find({request.collective, DeviceOf(Of(block).index)});
    if (left != arrivals->barriers.end()) Restore(array.semaphores[0], left->second);
  }
  return id;
}

absl::StatusOr<SyncId> ThreadMachine::AllocSync(const SyncRequest& request) {
  constexpr std::int64_t kMaxObjects = std::int64_t{1} << 16;  // shared memory has room for fewer
  std::int64_t count = 1;
  for (const std::int64_t size : request.shape) count = std::min(count * size, kMaxObjects + 1);
  if (count > kMaxObjects) {
    return absl::ResourceExhaustedError(
        Cat("'", request.name, "' has more than ", kMaxObjects, " barriers or semaphores; no chip has room for them"));
  }
  const BlockId block = Current().block;
  if (request.place.owner ==
      PlaceLevel::kDevice) {  // one for each place of the kernel, however often threads come there
    const ObjectName here{request.place.step, 0};
    const auto [at, added] = grid_syncs_.try_emplace(here);
    if (added) at->second = MakeSync(request, here, {});
    return at->second;
  }
  const ObjectName name =
      request.collective >= 0 ? ObjectName{-1 - request.collective, 0} : NextName(request.place.step);
  if (request.place.owner == PlaceLevel::kThread && Of(block).threads.size() > 1) {
    const SyncId own = MakeSync(request, name, block);
    syncs_[own].users = 1;
    return own;
  }
  const auto [at, added] = Of(block).syncs.try_emplace(name);
  if (added) at->second = MakeSync(request, name, block);
  const SyncId found = at->second;
  const std::optional<std::size_t> operand = OperandOfCollective(request.collective);
  if (operand.has_value()) PALLADION_RETURN_IF_ERROR(Resume(found, *operand));
  return found;
}

bool ThreadMachine::SameBlock(AgentId thread, absl::Span<const std::int64_t> index) const {
  return Of(Of(thread).block).number == NumberOf(index);
}

bool ThreadMachine::Sees(absl::Span<const std::int64_t> index, SyncId id) const {
  const BlockId owner = syncs_[id].block;
  return !owner.valid() || Of(owner).cluster == NumberOf(index) / units_;
}

void ThreadMachine::EndSync(SyncId id, const CodeSite& site, memory_model::Barrier::Ends ends) {
  SyncArray& array = syncs_[id];
  if (OperandOfCollective(array.request.collective).has_value()) return;  // it goes on
  if (std::exchange(array.ended, true)) return;
  for (const BarrierId barrier : array.barriers) model_.End(barrier, site, ends);
  for (const SemaphoreId semaphore : array.semaphores) model_.End(semaphore, site);
  // Peers may come to it by its name, and operations under way may tell it.
  if (HasPeers() || !array.block.valid()) return;
  Cluster& cluster = ClusterOf(array.block);
  cluster.under_way > 0 ? cluster.ended_syncs.push_back(id) : RetireSync(id);
}

void ThreadMachine::RetireSync(SyncId id) {
  if (!syncs_.Has(id)) return;
  HandOver(id);
  const SyncArray& array = syncs_[id];
  Block& block = Of(array.block);
  const auto named = block.syncs.find(array.name);
  if (named != block.syncs.end() && named->second == id) block.syncs.erase(named);
  block.arrays.erase(std::find(block.arrays.begin(), block.arrays.end(), id));
  for (const BarrierId barrier : array.barriers) model_.Retire(barrier);
  for (const SemaphoreId semaphore : array.semaphores) model_.Retire(semaphore);
  syncs_.Retire(id);
}

void ThreadMachine::EndLeft(Block& block, memory_model::Barrier::Ends ends) {
  for (const auto& [sync, site] : std::exchange(block.left, {})) EndSync(sync, site, ends);
}

void ThreadMachine::LeaveSync(SyncId id, const Site& site) {
  SyncArray& array = syncs_[id];
  if (array.users > 0 && --array.users > 0) return;
  if (array.block.valid()) Of(array.block).left.emplace_back(id, CodeSite::Of(site));
}

SyncElement ThreadMachine::PeerSync(SyncElement element, absl::Span<const PeerCoordinate> where, const Site& site) {
  const SyncArray& array = syncs_[element.array];
  const BlockId peer = PeerOf(array.block, where);
  if (peer == array.block) return element;
  const std::string& object = array.request.name;
  const bool outlives = OperandOfCollective(array.request.collective).has_value();  // who has it
  if (!peer.valid() || (!outlives && (Of(peer).ended || Of(peer).running == 0))) {
    ReportPeer(Cat(array.semaphores.empty() ? "barrier '" : "semaphore '", object, "' ", WhyNoPeer(array.block, where)),
               site);
    return element;
  }
  const ObjectName name = array.name;
  const SyncRequest request = array.request;
  const auto [at, added] = Of(peer).syncs.try_emplace(name);
  if (added) at->second = MakeSync(request, name, peer);
  return {at->second, element.element};
}

BarrierId ThreadMachine::BarrierOf(SyncElement element) const {
  return syncs_[element.array].barriers[static_cast<std::size_t>(element.element)];
}

SemaphoreId ThreadMachine::SemaphoreOf(SyncElement element) const {
  return syncs_[element.array].semaphores[static_cast<std::size_t>(element.element)];
}

absl::Status ThreadMachine::Arrive(SyncElement barrier, const Site& site) {
  const SyncArray& array = syncs_[barrier.array];
  if (array.request.kind != SyncKind::kClusterBarrier) {
    model_.Arrive(current_, BarrierOf(barrier), CodeSite::Of(site), units_);
    return absl::OkStatus();
  }
  std::vector<BarrierId> targets = {BarrierOf(barrier)};
  const SyncRequest request = array.request;
  for (const std::vector<std::size_t>& axis : request.axes) {
    std::vector<std::vector<PeerCoordinate>> peers = {{}};
    for (const std::size_t d : axis) {
      std::vector<std::vector<PeerCoordinate>> more;
      for (const std::vector<PeerCoordinate>& peer : peers) {
        for (std::int64_t i = 0; i < grid_[d]; ++i) {
          more.push_back(peer);
          more.back().push_back({d, i});
        }
      }
      peers = std::move(more);
    }
    for (const std::vector<PeerCoordinate>& peer : peers) {
      const SyncElement there = PeerSync(barrier, peer, site);
      if (there.array != barrier.array) targets.push_back(BarrierOf(there));
    }
  }
  for (const BarrierId target : targets) model_.Arrive(current_, target, CodeSite::Of(site), units_);
  return absl::OkStatus();
}

absl::StatusOr<bool> ThreadMachine::Test(SyncElement barrier, const Site& site) {
  if (!model_.CanWait(current_, BarrierOf(barrier))) return false;
  model_.Wait(current_, BarrierOf(barrier), CodeSite::Of(site));
  return true;
}

absl::Status ThreadMachine::Signal(SyncElement semaphore, std::int64_t amount, const Site& site) {
  model_.Signal(current_, SemaphoreOf(semaphore), CodeSite::Of(site), amount);
  return absl::OkStatus();
}

absl::StatusOr<std::int64_t> ThreadMachine::Read(SyncElement semaphore, const Site&) {
  return model_.Read(current_, SemaphoreOf(semaphore));
}

}  // namespace palladion::threads
