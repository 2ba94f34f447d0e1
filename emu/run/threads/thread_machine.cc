#include "emu/run/threads/thread_machine.h"

#include <optional>
#include <utility>
#include <vector>

#include "emu/run/threads/kept_bytes.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::threads {

ThreadMachine::ThreadMachine(const Program& program, memory_model::Memory& memory, absl::Span<const std::int64_t> grid,
                             const ThreadMachineOptions& options)
    : memory_model::OverMemory(memory),
      model_(memory_model::FenceRule(options.policy, options.automatic_barriers),
             /*proxies=*/program.target.backend == TargetBackend::kMosaicGpu),
      shape_(program, grid),
      residents_(shape_, model_),
      base_{shape_, memory, model_, residents_},
      peers_(base_),
      session_(base_, options.between),
      syncs_(base_, peers_, session_, options.races),
      operands_(base_, peers_, program.operand_infos.size(), options.races),
      block_memory_(base_, peers_, operands_, syncs_, options.races),
      collectives_(base_),
      queues_(base_),
      waitables_({base_, syncs_, queues_}),
      operations_(base_, queues_, block_memory_, session_),
      control_(base_, syncs_, block_memory_, operations_) {
  if (options.definedness) model_.TrackDefinedness();
  if (options.moves_nothing) model_.MoveNothing();
  if (options.ordered_links) operations_.OrderLinks();
  model_.TrackAccesses(options.races);
  model_.NamePlaces(options.places);
}

// ---- memory

absl::StatusOr<BufferId> ThreadMachine::Alloc(const AllocRequest& request) {
  if (!request.place.has_value()) return memory_.Alloc(request);
  const auto alloc = [&] { return block_memory_.Alloc(current_, request); };
  if (touches_ == nullptr || block_memory_.IsOwn(current_, *request.place)) return alloc();
  return touches_->Allocates(current_, request.place->memory == PlaceLevel::kDevice, alloc);
}

BufferId ThreadMachine::PeerBuffer(BufferId buffer, absl::Span<const PeerCoordinate> where, const Site& site) {
  const auto find = [&] { return block_memory_.OfPeer(current_, buffer, where, site); };
  return touches_ == nullptr ? find() : touches_->Reaches(current_, find);
}

// ---- barriers and semaphores

absl::StatusOr<SyncId> ThreadMachine::AllocSync(const SyncRequest& request) {
  const auto alloc = [&] { return syncs_.Alloc(current_, request); };
  const bool of_grid = request.place.owner == PlaceLevel::kDevice;
  PALLADION_ASSIGN_OR_RETURN(const SyncId id,
                             touches_ == nullptr ? alloc() : touches_->Allocates(current_, of_grid, alloc));
  PALLADION_RETURN_IF_ERROR(Resume(syncs_[id]));
  return id;
}

// Of an operand that earlier launches have left something in: that is there from here on.
absl::Status ThreadMachine::Resume(const SyncArray& array) {
  const std::int64_t device = shape_.DeviceOf(residents_.BlockOf(current_).index);
  const auto arriving = session_.Restore(array, device);
  if (!arriving.has_value()) return absl::OkStatus();
  if (touches_ != nullptr) touches_->Everything();
  changes_.AddAnything();
  memory_model::AgentTable& agents = model_.agents();
  agents.Act(current_);
  for (const agents::ArrivingCopy* copy : *arriving) {
    AsyncRequest request = session_.RequestFor(array, *copy);
    agents.Acquire(residents_.Before(), agents.ClockOf(current_));  // that the device has entered
    PALLADION_RETURN_IF_ERROR(operations_.Start(current_, std::move(request), copy));
  }
  if (!arriving->empty()) model_.agents().Tick(current_, {});  // what it does from here on no copy knows
  return absl::OkStatus();
}

SyncElement ThreadMachine::PeerSync(SyncElement element, absl::Span<const PeerCoordinate> where, const Site& site) {
  const std::int64_t owner = syncs_[element.array].number;
  const std::vector<std::int64_t> index = owner < 0 ? residents_.BlockOf(current_).index : shape_.IndexOf(owner);
  const auto find = [&] { return syncs_.OfPeer(current_, element, LaunchShape::PeerOf(index, where), site); };
  return touches_ == nullptr ? find() : touches_->Reaches(current_, find);
}

absl::Status ThreadMachine::Arrive(const Arrival& arrival, const Site& site) {
  memory_.watchers().Each(memory_model::EventKind::kArrive,
                          [&](memory_model::MemoryWatcher& watcher) { watcher.Arrives(memory_.who(), arrival); });
  return waitables_.Of(arrival.at).Arrive(Asking(site), arrival);
}

absl::StatusOr<std::int64_t> ThreadMachine::Poll(const WaitTarget& target, const Site& site) {
  return waitables_.Of(target).Poll(Asking(site), target);
}

absl::Status ThreadMachine::Wait(const WaitTarget& target, const Site& site) {
  if (!Waitables::IsWait(target)) return absl::OkStatus();
  Waitable& what = waitables_.Of(target);
  if (!what.IsVisible()) {  // the memory's own
    if (touches_ != nullptr) touches_->Everything();
    return memory_.Wait(target, site);
  }
  if (touches_ != nullptr) what.ReportTouches(current_, target, touches_);
  changes_.Add(what.Object(current_, target));
  what.Wait(current_, target, site);
  memory_.watchers().Each(memory_model::EventKind::kWait,
                          [&](memory_model::MemoryWatcher& watcher) { watcher.Awaited(memory_.who(), target); });
  return absl::OkStatus();
}

absl::Status ThreadMachine::Make(Fence fence, const Site& site) {
  memory_model::AgentTable& agents = model_.agents();
  if (fence == Fence::kLanes) return memory_.Make(fence, site);
  if (fence == Fence::kPrerequisiteGrids && residents_.overlaps())
    agents.Acquire(current_, agents.ClockOf(residents_.Before()));
  if (fence == Fence::kSharedToAsync) model_.Commit(current_, memory_model::ClockPart::kAsyncSmem, CodeSite::Of(site));
  return absl::OkStatus();
}

absl::Status ThreadMachine::Collective(const CollectiveStep& step, const Site& site) {
  if (touches_ != nullptr) touches_->Everything();
  collectives_.Enter(current_, step, CodeSite::Of(site));
  return absl::OkStatus();
}

// ---- operations of engines

QueueId ThreadMachine::QueueOf(AsyncQueue queue) {
  return queue == AsyncQueue::kBlocks ? memory_.QueueOf(queue) : queues_.ForIssue(current_, queue);
}

void ThreadMachine::Turn(const BlockTurn& turn, const Site& site) {
  if (touches_ != nullptr) touches_->Turns(turn);
  if (turn.input) {
    model_.Overwrite(current_, turn.from, CodeSite::Of(site));
  } else {
    model_.CarryOver(current_, turn.from, turn.to);
  }
}

absl::Status ThreadMachine::Start(AsyncRequest&& request) {
  if (request.queue.valid() && request.queue == memory_.QueueOf(AsyncQueue::kBlocks))
    return memory_.Start(std::move(request));
  if (request.block != nullptr && request.block->flush && model_.Tracks(request.destinations[0].buffer())) {
    if (touches_ != nullptr) touches_->Object(request.destinations[0].buffer().value, /*writes=*/false);
    SayKeptBytes(memory_, request);
  }
  if (request.expects_at.valid()) changes_.Add(threads::ObjectOf(request.expects_at));
  if (touches_ != nullptr) operations_.orders_links() ? touches_->Everything() : touches_->Starts(current_, request);
  return operations_.Start(current_, std::move(request));
}

absl::Status ThreadMachine::CommitGroup(AsyncQueue queue, const Site&) {
  if (touches_ != nullptr) touches_->Commits(current_, queue);
  changes_.Add(queues_.ObjectOf(current_, queue));
  queues_.CommitGroup(current_, queue);
  return absl::OkStatus();
}

void ThreadMachine::Perform(AgentId operation, Half half) {
  if (touches_ != nullptr) touches_->Performs(operation, half);
  const AsyncRequest& request = model_.RequestOf(operation);
  if (request.queue.valid()) changes_.Add(queues_.ObjectOf(request.queue));
  for (const Completion& completion : request.completions) {
    if (completion.after == half) changes_.Add(threads::ObjectOf(completion));
  }
  const std::optional<std::int64_t> idle = operations_.Perform(operation, half);
  if (idle.has_value()) RetireIfIdle(*idle);
}

absl::Status ThreadMachine::TryCancel(const CancelRequest& request, const Site& site) {
  if (touches_ != nullptr) touches_->Everything();
  changes_.Add(syncs_.ObjectOf(request.barrier));
  return control_.Try(current_, request, site);
}

absl::StatusOr<CancelAnswer> ThreadMachine::ReadAnswer(const std::byte* answer, const Site& site) {
  if (touches_ != nullptr) touches_->Everything();
  return control_.Read(current_, answer, site);
}

// ---- warps, and what has ended

absl::Status ThreadMachine::Spawn(const SpawnRequest& request, const Site& site) {
  if (touches_ != nullptr) touches_->Object(WarpsObjectOf(current_));
  const AgentId parent = current_;
  for (std::int64_t w = 0; w < request.count; ++w) {
    const AgentId warp = residents_.Fork(parent, w, CodeSite::Of(site));
    PALLADION_RETURN_IF_ERROR(fork_(warp, w, request.first));
  }
  return absl::OkStatus();
}

void ThreadMachine::LeaveCluster() { waitables_.Of({.kind = WaitTarget::Kind::kClusterSync}).ThreadEnds(Asking({})); }

bool ThreadMachine::EndThread(AgentId id) {
  if (touches_ != nullptr) touches_->EndsThread(id);
  // What it has read of tensor memory is in its registers.
  queues_.Await(id, {.kind = WaitTarget::Kind::kGroups, .queue = AsyncQueue::kTmemLoads}, {});
  model_.AgentEnds(id);
  if (shape_.has_peers()) collectives_.ThreadEnds(id);
  if (!residents_.ThreadEnds(id)) return false;
  const std::int64_t cluster = residents_.BlockOf(id).cluster;
  for (const BlockId block : residents_.ClusterOf(cluster).blocks) EndBlock(block);
  RetireIfIdle(cluster);
  return true;
}

void ThreadMachine::EndBlock(BlockId block) {
  syncs_.BlockEnds(block);
  block_memory_.BlockEnds(block);
  waitables_.Retire(block);
  collectives_.BlockEnds(residents_.Of(block).index);
}

// Where a cluster's operations have landed, nothing can ask for a block of it any more.
void ThreadMachine::RetireIfIdle(std::int64_t number) {
  const Cluster& cluster = residents_.ClusterOf(number);
  if (cluster.in_flight > 0) return;
  for (const BlockId block : cluster.blocks) syncs_.RetireEnded(block);
  if (!cluster.over) return;
  operands_.ClusterRetires(number);
  collectives_.RetireCluster(number);
  for (const BlockId block : cluster.blocks) {
    syncs_.RetireBlock(block);
    for (const AgentId thread : residents_.Of(block).threads) queues_.RetireThread(thread);
  }
  residents_.RetireCluster(number);
  syncs_.ClusterRetires(number);
}

agents::LaunchLeft ThreadMachine::HandOver() {
  syncs_.HandOver();
  session_.ReportLostCopies();
  return session_.left();
}

ThreadMachine::Kept ThreadMachine::kept() const {
  return {.threads = residents_.threads(),
          .blocks = residents_.blocks(),
          .clusters = residents_.clusters(),
          .syncs = syncs_.size(),
          .queues = queues_.size(),
          .collectives = collectives_.size(),
          .globals = block_memory_.globals(),
          .names = block_memory_.names()};
}

}  // namespace palladion::threads
