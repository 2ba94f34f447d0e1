// Blocks and threads; what they wait for.
#include "emu/threads/thread_machine.h"

#include <algorithm>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/agent_naming.h"

namespace palladion::threads {
namespace {

// Objects of schedules: buffers are their own numbers; the others follow, far apart.
constexpr std::int64_t kBarrierObjects = std::int64_t{1} << 40, kSemaphoreObjects = std::int64_t{2} << 40,
                       kQueueObjects = std::int64_t{3} << 40, kMeetingObjects = std::int64_t{4} << 40,
                       kWarpObjects = std::int64_t{5} << 40;

}  // namespace

ThreadMachine::ThreadMachine(const Program& program, memory_model::Memory& memory, absl::Span<const std::int64_t> grid,
                             const ThreadMachineOptions& options)
    : memory_model::OverMemory(memory),
      program_(program),
      grid_(grid.begin(), grid.end()),
      options_(options),
      model_(memory_model::FenceRule(options.policy), /*proxies=*/program.target.backend == TargetBackend::kMosaicGpu) {
  const bool threads = program.mesh.has_value() && program.mesh->thread_dim;
  block_dims_ = grid_.size() - (threads ? 1 : 0);
  const std::size_t cluster_dims = program.mesh.has_value() ? program.mesh->cluster_dims : 0;
  for (std::size_t d = block_dims_ - cluster_dims; d < block_dims_; ++d) units_ *= grid_[d];
  if (several_devices()) {  // the whole launch is one cluster: anybody may reach for anybody's
    units_ = 1;
    for (const std::int64_t size : grid_) units_ *= size;
  }
  if (options.definedness) model_.TrackDefinedness();
  if (options.moves_nothing) model_.MoveNothing();
  model_.TrackAccesses(options.races);
  model_.NamePlaces(options.places);
}

memory_model::TrackedBuffer ThreadMachine::Tracked(BufferId array, const memory_model::Place& place) const {
  const absl::Span<const std::int64_t> shape = memory_.ShapeOf(array);
  return {.name = std::string(memory_.NameOf(array)),
          .shape = {shape.begin(), shape.end()},
          .element_bytes = static_cast<std::int64_t>(memory_.ElementBytesOf(array)),
          .space = memory_model::ProxySpace::kGlobal,
          .place = place};
}

void ThreadMachine::Adopt(BufferId array) { model_.Adopt(array, Tracked(array, DevicePlace())); }

void ThreadMachine::WrittenBefore(BufferId array) {
  const absl::Span<const std::int64_t> shape = memory_.ShapeOf(array);
  BoxAccess whole;
  whole.rank = whole.value_rank = static_cast<int>(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    whole.start[d] = whole.lower[d] = 0;
    whole.count[d] = whole.upper[d] = shape[d];
    whole.step[d] = 1;
    whole.order[d] = static_cast<std::uint8_t>(d);
  }
  const auto bytes = static_cast<std::int64_t>(memory_.ElementBytesOf(array));
  model_.Touch(Before(), array, AccessKind::kWrite,
               memory_model::SetOf(shape, bytes, whole, memory_model::ReachOf(shape, whole)), {});
}

std::int64_t ThreadMachine::NumberOf(absl::Span<const std::int64_t> index) const {
  std::int64_t number = 0;
  for (std::size_t d = 0; d < block_dims_; ++d) number = number * grid_[d] + index[d];
  return number;
}

// A block of one thread is called by its block alone.
std::string ThreadMachine::NameOf(absl::Span<const std::int64_t> index) const {
  if (program_.grid_in_agent) {
    const std::size_t device_dims = program_.device_axes.size();
    const absl::Span<const std::int64_t> program = index.subspan(device_dims);
    const bool first = std::all_of(program.begin(), program.end(), [](std::int64_t i) { return i == 0; });
    const std::string core =
        program.empty() || (first && device_dims > 0) ? "the core" : "the core from " + AgentName(program) + " on";
    return device_dims == 0
               ? core
               : Cat(core, device_dims > 0 && !first ? ", on " : " on ", DeviceName(index.first(device_dims)));
  }
  if (several_devices() || OfCores()) return AgentName(NamingOf(program_), index);
  if (block_dims_ == grid_.size() || grid_.back() == 1) return NameOfBlock(index.first(block_dims_));
  return AgentName({.blocks = true, .thread_index = true, .many_threads = true}, index);
}

std::string ThreadMachine::NameOf(const Block& block) const {
  return program_.grid_in_agent || OfCores() ? NameOf(block.index) : NameOfBlock(block.index);
}

AgentId ThreadMachine::AddBlock(absl::Span<const std::int64_t> index, std::int64_t threads) {
  const BlockId id = blocks_.Next();
  Block& block = blocks_.Add();
  block.index.assign(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(block_dims_));
  block.number = NumberOf(index);
  block.cluster = block.number / units_;
  block.place = DevicePlace(DeviceOf(index))
                    .With(PlaceLevel::kCluster, static_cast<std::int32_t>(block.cluster))
                    .With(PlaceLevel::kBlock, static_cast<std::int32_t>(block.number % units_));
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
    if (threads > 1 || block_dims_ < grid_.size()) thread.index.push_back(t);
    const memory_model::Place place = block.place.With(PlaceLevel::kThread, static_cast<std::int32_t>(t));
    block.threads.push_back(model_.agents().Add(NameOf(thread.index), place));
  }
  block.running = block.threads.size();
  block.meeting = model_.MakeRendezvous(Cat("the threads of ", NameOf(block)), block.threads);
  return first;
}

bool ThreadMachine::EndThread(AgentId id) {
  Block& block = Of(Of(id).block);
  model_.AgentEnds(id);
  Of(id).ended = true;
  Cluster& cluster = clusters_.at(block.cluster);
  if (HasPeers()) EndCollectives(Of(id), collectives_);
  if (HasPeers()) EndCollectives(Of(id), cluster.collectives);
  if (--block.running > 0) return false;
  // Blocks of a cluster may look at each other's memory until all have come to their end.
  if (++cluster.ended < BlocksOfCluster()) return false;
  for (const BlockId other : cluster.blocks) EndBlock(other);
  cluster.over = true;
  RetireIfIdle(block.cluster);
  return true;
}

bool ThreadMachine::CanWait(AgentId id, const WaitTarget& target) const {
  const Thread& thread = Of(id);
  switch (target.kind) {
    case WaitTarget::Kind::kNothing:
    case WaitTarget::Kind::kQueue:  // of blocks, which are copied where that is asked for
      return true;
    case WaitTarget::Kind::kBarrier:
      return model_.CanWait(id, BarrierOf(target.object));
    case WaitTarget::Kind::kSemaphore:
      return model_.CanWait(SemaphoreOf(target.object), target.value);
    case WaitTarget::Kind::kGroups: {
      const auto may_go = [&](QueueId queue) {
        return model_.CanAwaitGroups(queue, static_cast<std::size_t>(target.value),
                                     target.reads_only ? Half::kRead : Half::kWrite);
      };
      const Thread& owner = thread.parent.valid() ? Of(thread.parent) : thread;  // asked often: no list for wgmma
      if (target.queue == AsyncQueue::kMma) return !owner.mma.valid() || may_go(owner.mma);
      const std::vector<QueueId> queues = QueuesOf(id, target.queue);
      return std::all_of(queues.begin(), queues.end(), may_go);
    }
    case WaitTarget::Kind::kMeeting:
      return model_.CanLeave(id, Of(thread.block).meeting);
    case WaitTarget::Kind::kSpawned:
      return thread.warps_running == 0;
  }
  return true;
}

std::string ThreadMachine::DescribeWait(AgentId id, const WaitTarget& target) const {
  const auto words = [](const memory_model::WaitRecord& wait) {
    return Cat(wait.object, " (needs ", wait.needs, ", has ", wait.has, ")");
  };
  const Thread& thread = Of(id);
  switch (target.kind) {
    case WaitTarget::Kind::kBarrier:
      return words(model_.Of(BarrierOf(target.object)).Waiting(id, {}));
    case WaitTarget::Kind::kSemaphore:
      return words(model_.Of(SemaphoreOf(target.object)).Waiting(id, target.value, {}));
    case WaitTarget::Kind::kGroups:
      return Cat("all but ", target.value, " of its groups of ",
                 target.queue == AsyncQueue::kMma ? "wgmma" : "copies to global memory");
    case WaitTarget::Kind::kMeeting:
      return words(model_.Of(Of(thread.block).meeting).Waiting(id, {}, model_.agents()));
    default:
      return "its warps";
  }
}

std::int64_t ThreadMachine::ObjectOf(SyncElement element) const {
  const SyncArray& array = syncs_[element.array];
  const auto i = static_cast<std::size_t>(element.element);
  return array.barriers.empty() ? kSemaphoreObjects + array.semaphores[i].value
                                : kBarrierObjects + array.barriers[i].value;
}

std::int64_t ThreadMachine::ObjectOf(const Completion& completion) {
  const auto* barrier = std::get_if<BarrierId>(&completion.object);
  return barrier != nullptr ? kBarrierObjects + barrier->value
                            : kSemaphoreObjects + std::get<SemaphoreId>(completion.object).value;
}

// The queues of a thread and of its warps are one object: who waits for several of them has one footprint.
std::int64_t ThreadMachine::QueueObject(AgentId id, AsyncQueue queue) const {
  const AgentId owner = Of(id).parent.valid() ? Of(id).parent : id;
  return kQueueObjects + 2 * owner.value + (queue == AsyncQueue::kMma ? 1 : 0);
}

std::int64_t ThreadMachine::ObjectOf(AgentId id, const WaitTarget& target) const {
  const Thread& thread = Of(id);
  switch (target.kind) {
    case WaitTarget::Kind::kBarrier:
    case WaitTarget::Kind::kSemaphore:
      return ObjectOf(target.object);
    case WaitTarget::Kind::kGroups:
      return QueueObject(id, target.queue);
    case WaitTarget::Kind::kSpawned:
      return kWarpObjects + id.value;
    default:
      return kMeetingObjects + Of(thread.block).meeting.value;
  }
}

absl::Status ThreadMachine::Wait(const WaitTarget& target, const Site& site) {
  if (target.kind == WaitTarget::Kind::kQueue) return memory_.Wait(target, site);
  switch (target.kind) {
    case WaitTarget::Kind::kBarrier:
      model_.Wait(current_, BarrierOf(target.object), CodeSite::Of(site));
      break;
    case WaitTarget::Kind::kSemaphore:
      model_.Wait(current_, SemaphoreOf(target.object), target.value, target.decrement);
      break;
    case WaitTarget::Kind::kGroups:
      for (const QueueId queue : QueuesOf(current_, target.queue)) {
        model_.AwaitGroups(current_, queue, static_cast<std::size_t>(target.value),
                           target.reads_only ? Half::kRead : Half::kWrite);
      }
      break;
    case WaitTarget::Kind::kMeeting:
      model_.Leave(current_, Of(Current().block).meeting);
      break;
    case WaitTarget::Kind::kSpawned:
      JoinWarps();
      break;
    case WaitTarget::Kind::kNothing:
    case WaitTarget::Kind::kQueue:
      break;
  }
  return absl::OkStatus();
}

absl::Status ThreadMachine::Meet(std::string what, const Site& site) {
  model_.Enter(current_, Of(Current().block).meeting,
               {Cat(what, " at ", model_.PlaceOf(CodeSite::Of(site))), site.text_line}, CodeSite::Of(site));
  return absl::OkStatus();
}

absl::Status ThreadMachine::Make(Fence fence, const Site& site) {
  memory_model::AgentTable& agents = model_.agents();
  if (fence == Fence::kPrerequisiteGrids && before_.valid()) agents.Acquire(current_, agents.ClockOf(before_));
  if (fence == Fence::kSharedToAsync) model_.Commit(current_, memory_model::ClockPart::kAsyncSmem, CodeSite::Of(site));
  return absl::OkStatus();
}

absl::Status ThreadMachine::Spawn(const SpawnRequest& request, const Site& site) {
  const AgentId parent = current_;
  for (std::int64_t w = 0; w < request.count; ++w) {
    Thread& warp = threads_.Add();
    warp.block = Of(parent).block;
    warp.index = Of(parent).index;
    warp.parent = parent;
    warp.number = Of(parent).number;
    warp.warp = static_cast<std::size_t>(w);
    const memory_model::Place place =
        model_.agents().PlaceOf(parent).With(PlaceLevel::kWarp, static_cast<std::int32_t>(w));
    const AgentId id =
        model_.agents().Spawn(parent, Cat("warp ", w, " of ", NameOf(parent)), place, CodeSite::Of(site));
    Of(parent).warps.push_back(id);
    ++Of(parent).warps_running;
    PALLADION_RETURN_IF_ERROR(fork_(id, w, request.first));
  }
  return absl::OkStatus();
}

void ThreadMachine::JoinWarps() {
  const std::vector<AgentId> warps = std::exchange(Current().warps, {});
  model_.JoinWarps(current_, warps);
  for (const AgentId warp : warps) RetireThread(warp);
}

void ThreadMachine::EndWarp(AgentId warp) { --Of(Of(warp).parent).warps_running; }

// ---- what has ended

// Its operations have landed: nothing can ask for a block of it any more.
void ThreadMachine::RetireIfIdle(std::int64_t number) {
  const auto at = clusters_.find(number);
  Cluster& cluster = at->second;
  if (cluster.under_way > 0) return;
  for (const SyncId sync : std::exchange(cluster.ended_syncs, {})) RetireSync(sync);
  if (!cluster.over) return;
  for (const auto& [key, collective] : cluster.collectives) model_.Retire(collective);
  for (const BlockId block : cluster.blocks) RetireBlock(block);
  clusters_.erase(at);
}

void ThreadMachine::RetireBlock(BlockId id) {
  Block& block = Of(id);
  for (const SyncId sync : std::vector<SyncId>(block.arrays)) RetireSync(sync);
  for (const AgentId thread : block.threads) RetireThread(thread);
  model_.Retire(block.meeting);
  block_at_.erase(block.number);
  blocks_.Retire(id);
}

void ThreadMachine::RetireThread(AgentId id) {
  Thread& thread = Of(id);
  thread.stores.push_back(thread.mma);
  for (const QueueId queue : thread.stores) {
    if (!queue.valid()) continue;
    queue_objects_.erase(queue.value);
    model_.Retire(queue);
  }
  model_.Retire(id);
  threads_.Retire(id);
}

ThreadMachine::Kept ThreadMachine::kept() const {
  std::size_t collectives = collectives_.size();
  for (const auto& [number, cluster] : clusters_) collectives += cluster.collectives.size();
  return {.threads = threads_.live(),
          .blocks = blocks_.live(),
          .clusters = clusters_.size(),
          .syncs = syncs_.live(),
          .queues = queue_objects_.size(),
          .collectives = collectives,
          .globals = globals_.size(),
          .names = names_.size()};
}

void ThreadMachine::End(const Site& site) { model_.End(CodeSite::Of(site)); }

}  // namespace palladion::threads
