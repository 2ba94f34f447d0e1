#include "emu/run/threads/sync_arrays.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/program/scratch_scope.h"

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

std::string PythonName(const SyncRequest& request, std::int64_t element, std::int64_t count) {
  return count == 1 ? request.name : ElementName(request, element, ".at[");
}

}  // namespace

bool SyncArrays::SpecsOfPlace::Serves(const SyncRequest& other) const {
  return !specs.empty() && request.name == other.name && request.kind == other.kind && request.shape == other.shape &&
         request.num_arrivals == other.num_arrivals && request.orders_tensor_core == other.orders_tensor_core &&
         request.axes == other.axes;
}

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
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();  // more than can ever come
  return request.num_arrivals > kMost / blocks ? kMost : request.num_arrivals * blocks;
}

// Semaphores of a GPU, which other devices reach whether their block runs or not.
bool SyncArrays::InGlobalMemory(const SyncRequest& request) const {
  return base_.shape.gpus() && request.kind == SyncKind::kSemaphore;
}

// Where there are several blocks or devices, its owner's name is part of an element's.
std::string SyncArrays::OwnerInNames(const SyncArray& array) const {
  if (array.number >= 0 && base_.shape.has_peers())
    return Cat(" of ", base_.shape.BlockNameOf(base_.shape.IndexOf(array.number)));
  return base_.shape.several_devices() ? Cat(" of ", base_.shape.DeviceNameOf(array.device)) : "";
}

std::vector<memory_model::Barrier::Spec> SyncArrays::MakeSpecs(const SyncRequest& request,
                                                               const std::string& of) const {
  std::vector<memory_model::Barrier::Spec> specs;
  const std::int64_t count = NumElements(request.shape);
  for (std::int64_t i = 0; i < count; ++i) {
    specs.push_back(std::make_shared<const memory_model::BarrierSpec>(
        memory_model::BarrierSpec{.name = ElementName(request, i) + of,
                                  .num_arrivals = Arrivals(request),
                                  .orders_tensor_core = request.orders_tensor_core,
                                  .python = PythonName(request, i, count)}));
  }
  return specs;
}

void SyncArrays::MakeBarriers(const SyncRequest& request, SyncArray* array) {
  const std::string of = OwnerInNames(*array);
  SpecsOfPlace& here = specs_[request.place.step];
  if (!of.empty() || !here.Serves(request)) here = {request, MakeSpecs(request, of)};
  array->barriers.reserve(here.specs.size());
  for (const auto& spec : here.specs) array->barriers.push_back(base_.model.MakeBarrier(spec));
}

void SyncArrays::MakeSemaphores(const SyncRequest& request, SyncArray* array) {
  const std::string of = OwnerInNames(*array);
  const bool dma = request.kind == SyncKind::kDmaSemaphore;
  const auto kind = dma ? memory_model::SemaphoreKind::kDma : memory_model::SemaphoreKind::kRegular;
  const std::int64_t count = NumElements(request.shape);
  for (std::int64_t i = 0; i < count; ++i) {
    array->semaphores.push_back(base_.model.MakeSemaphore(
        {.name = ElementName(request, i) + of, .kind = kind, .python = PythonName(request, i, count)}));
  }
}

SyncId SyncArrays::Make(const SyncRequest& request, const ObjectName& name, std::int64_t number, std::int64_t device) {
  const BlockId block = number < 0 ? BlockId{} : base_.residents.At(number);
  if (block.valid()) EndLeft(block, memory_model::Barrier::Ends::kScope);
  const SyncId id = arrays_.Next();
  SyncArray& array = arrays_.Add();
  array.request = request;
  array.number = number;
  array.block = InGlobalMemory(request) ? BlockId{} : block;
  array.device = device;
  array.name = name;
  const std::size_t threads = block.valid() ? base_.residents.Of(block).threads.size() : base_.shape.threads_of_block();
  array.users = number < 0 ? 0 : threads;
  if (number >= 0) Of(number, request).all.push_back(id);
  const bool counts = request.kind == SyncKind::kSemaphore || request.kind == SyncKind::kDmaSemaphore;
  counts ? MakeSemaphores(request, &array) : MakeBarriers(request, &array);
  session_.Made(array, device);
  return id;
}

// One for each place of the kernel, however often threads come there.
SyncId SyncArrays::OfGrid(const SyncRequest& request, std::int64_t device) {
  const ObjectName here{request.place.step, device};
  const auto [at, added] = of_grid_.try_emplace(here);
  if (added) at->second = Make(request, here, -1, device);
  return at->second;
}

// The block's with that name; in global memory, whether it runs or not.
SyncId SyncArrays::OfBlock(const SyncRequest& request, const ObjectName& name, std::int64_t number) {
  const auto [at, added] = Of(number, request).named.try_emplace(name);
  if (added) at->second = Make(request, name, number, base_.shape.DeviceOf(base_.shape.IndexOf(number)));
  return at->second;
}

absl::StatusOr<SyncId> SyncArrays::Alloc(AgentId thread, const SyncRequest& request) {
  constexpr std::int64_t kMaxObjects = std::int64_t{1} << 16;  // shared memory has room for fewer
  std::int64_t count = 1;
  for (const std::int64_t size : request.shape) count = std::min(count * size, kMaxObjects + 1);
  if (count > kMaxObjects) {
    return absl::ResourceExhaustedError(
        Cat("'", request.name, "' has more than ", kMaxObjects, " barriers or semaphores; no chip has room for them"));
  }
  const std::int64_t device = base_.shape.DeviceOf(base_.residents.BlockOf(thread).index);
  if (request.place.owner == PlaceLevel::kDevice) return OfGrid(request, device);
  const ObjectName name = request.collective >= 0 ? ObjectName{-1 - request.collective, 0}
                                                  : base_.residents.Of(thread).NextName(request.place.step);
  const Block& block = base_.residents.BlockOf(thread);
  if (request.place.owner == PlaceLevel::kThread && block.threads.size() > 1) {
    const SyncId own = Make(request, name, block.number, device);
    arrays_[own].users = 1;
    return own;
  }
  return OfBlock(request, name, block.number);
}

void SyncArrays::Leave(SyncId id, const Site& site) {
  SyncArray& array = arrays_[id];
  if (array.users > 0 && --array.users > 0) return;
  if (array.number >= 0) Of(base_.residents.At(array.number)).left.emplace_back(id, CodeSite::Of(site));
}

SyncElement SyncArrays::OfPeer(AgentId thread, SyncElement element, absl::Span<const std::int64_t> block,
                               const Site& site) {
  const SyncArray& array = arrays_[element.array];
  const bool global = InGlobalMemory(array.request);  // there from the start of the kernel to its end
  const BlockId peer = peers_.At(block);
  // Who has it.
  const bool outlives = OperandOfCollective(array.request.collective).has_value();
  const bool there = global ? base_.shape.Has(block) : peer.valid() && (outlives || peers_.Runs(peer));
  const bool own = global ? there && base_.shape.NumberOf(block) == array.number : there && peer == array.block;
  if (own) return element;
  if (!there) {
    peers_.Report(thread, Cat(array.semaphores.empty() ? "barrier '" : "semaphore '", array.request.name, "'"), block,
                  site);
    return element;
  }
  if (array.number < 0) return {OfGrid(array.request, base_.shape.DeviceOf(block)), element.element};
  return {OfBlock(array.request, array.name, base_.shape.NumberOf(block)), element.element};
}

void SyncArrays::ExpectEntered(AgentId thread, SyncElement semaphore, const Site& site) const {
  const SyncArray& array = arrays_[semaphore.array];
  const bool enters = array.request.collective == -1 && array.block.valid();  // others outlive the kernel
  if (!races_ || !enters || !base_.shape.tpus()) return;
  const Block& owner = base_.residents.Of(array.block);
  constexpr std::uint32_t kEntry = 1;
  const memory_model::VectorClock& known = base_.model.agents().ClockOf(thread)[memory_model::ClockPart::kGeneric];
  if (!known.Covers({owner.threads[0], kEntry}))
    peers_.ReportEarly(thread, Cat("semaphore '", array.request.name, "'"), owner, site);
}

std::optional<BarrierId> SyncArrays::LeadersBarrier(AgentId thread, SyncElement barrier, const Site& site) {
  const SyncArray& array = arrays_[barrier.array];
  std::vector<std::int64_t> leader = base_.residents.Of(array.block).index;
  if (std::exchange(leader[array.request.axes[0][0]], 0) == 0) return array.barrier(barrier.element);
  const SyncElement there = OfPeer(thread, barrier, leader, site);
  if (there.array == barrier.array) return std::nullopt;  // it has ended, which OfPeer has reported
  return BarrierOf(there);
}

void SyncArrays::Arrive(AgentId thread, SyncElement barrier, const Site& site, scheduler::Changes* changes) {
  const auto arrive = [&](BarrierId at) {
    changes->Add(threads::ObjectOf(at));
    base_.model.Arrive(thread, at, CodeSite::Of(site));
  };
  const SyncArray& array = arrays_[barrier.array];
  if (array.request.leader_tracked) {
    const std::optional<BarrierId> leaders = LeadersBarrier(thread, barrier, site);
    if (leaders.has_value()) arrive(*leaders);
    return;
  }
  if (array.request.kind != SyncKind::kClusterBarrier) return arrive(array.barrier(barrier.element));
  std::vector<BarrierId> targets = {array.barrier(barrier.element)};
  for (const std::vector<std::size_t>& axis : array.request.axes) {
    for (const std::vector<std::int64_t>& block : base_.shape.Along(base_.residents.Of(array.block).index, axis)) {
      const SyncElement there = OfPeer(thread, barrier, block, site);
      if (there.array != barrier.array) targets.push_back(BarrierOf(there));
    }
  }
  for (const BarrierId target : targets) arrive(target);
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
  // Peers may come to it by its name, and operations in flight may signal it.
  if (base_.shape.has_block_peers() || !array.block.valid()) return;
  const Block& block = base_.residents.Of(array.block);
  base_.residents.ClusterOf(block.cluster).in_flight > 0 ? Of(array.block).ended.push_back(id) : Retire(id);
}

void SyncArrays::EndLeft(BlockId block, memory_model::Barrier::Ends ends) {
  for (const auto& [sync, site] : std::exchange(Of(block).left, {})) {
    const bool stays = ends == memory_model::Barrier::Ends::kBlock && InGlobalMemory(arrays_[sync].request);
    if (!stays) End(sync, site, ends);
  }
}

// What lies in global memory ends with the kernel.
void SyncArrays::BlockEnds(BlockId block) {
  EndLeft(block, memory_model::Barrier::Ends::kBlock);
  std::vector<SyncId> named;
  for (const auto& [name, sync] : Of(block).named) named.push_back(sync);
  for (const SyncId sync : named) End(sync, {}, memory_model::Barrier::Ends::kBlock);
}

void SyncArrays::Retire(SyncId id) {
  if (!arrays_.Has(id)) return;
  const SyncArray& array = arrays_[id];
  session_.HandOver(array, array.device);
  BlockSyncs& block = Of(array.number, array.request);
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

// The end of the kernel reports those that hold something.
void SyncArrays::RetireGlobal(std::int64_t block) {
  const auto at = global_.find(block);
  if (at == global_.end()) return;
  for (const SyncId sync : std::vector<SyncId>(at->second.all)) {
    const std::vector<SemaphoreId>& semaphores = arrays_[sync].semaphores;
    const auto leaks = [this](SemaphoreId id) { return base_.model.Leaks(id); };
    if (std::none_of(semaphores.begin(), semaphores.end(), leaks)) Retire(sync);
  }
  if (at->second.all.empty()) global_.erase(at);
}

void SyncArrays::ClusterRetires(std::int64_t number) {
  const LaunchShape& shape = base_.shape;
  if (!shape.gpus()) return;
  const std::int64_t size = shape.cluster_size(), each = shape.blocks() / size / shape.devices();
  const std::int64_t first = number % each;  // on the first device
  if (const auto over = over_.try_emplace(first).first; ++over->second < shape.devices()) return;
  over_.erase(first);
  for (std::int64_t cluster = first; cluster < each * shape.devices(); cluster += each) {
    for (std::int64_t block = cluster * size; block < (cluster + 1) * size; ++block) RetireGlobal(block);
  }
}

void SyncArrays::HandOver() {
  arrays_.ForEach([&](SyncId, const SyncArray& array) { session_.HandOver(array, array.device); });
}

}  // namespace palladion::threads
