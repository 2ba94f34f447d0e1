#include "emu/run/threads/thread_touches.h"

#include <variant>

#include "emu/run/threads/thread_machine.h"

namespace palladion::threads {
namespace {

// What may come in any order (Touched::commutes). Meetings have larger numbers.
constexpr std::int64_t kArrivals = 1, kEnds = 2, kPipeline = 3, kMeetings = 4;

// Of a meeting's object: which threads have come, and that all have. Of a block's scopes: what there is; then each by
// its name.
constexpr std::int64_t kGathering = 0, kMet = 1, kStack = 0;

scheduler::Touched Part(std::int64_t object, std::int64_t part, bool writes = true) {
  return {{.object = object, .first = part, .last = part, .writes = writes}};
}

}  // namespace

void ThreadTouches::Count(std::int64_t object, std::int64_t held, bool writes) {
  scheduler::Touched touched{{.object = object, .writes = writes}};
  touched.held = held;
  log_.Add(touched);
}

void ThreadTouches::Closing(scheduler::Touched touched) {
  touched.closing = true;
  log_.Add(touched);
}

void ThreadTouches::Element(SyncElement element, bool writes) {
  const SyncArray& array = machine_.syncs()[element.array];
  const memory_model::ConcurrencyModel& model = machine_.model();
  const std::int64_t held = array.barriers.empty()
                                ? model.Of(array.semaphore(element.element)).count()
                                : static_cast<std::int64_t>(model.Of(array.barrier(element.element)).completed());
  Count(array.ObjectOf(element.element), held, writes);
}

void ThreadTouches::Looks(SyncElement element) { Element(element, /*writes=*/false); }
void ThreadTouches::Signals(SyncElement semaphore) { Element(semaphore, /*writes=*/true); }

// Arrivals of a phase may come in any order; the last one is distinguished, for messages name it.
void ThreadTouches::Arrives(SyncElement element) {
  const SyncArray& array = machine_.syncs()[element.array];
  if (array.request.kind == SyncKind::kClusterBarrier || array.request.leader_tracked) return Everything();
  const memory_model::Barrier& barrier = machine_.model().Of(array.barrier(element.element));
  const std::int64_t left = barrier.spec().num_arrivals - barrier.arrived() - 1;
  scheduler::Touched touched{{.object = array.ObjectOf(element.element)}};
  touched.held = static_cast<std::int64_t>(barrier.completed());
  touched.commutes = left > 0 ? kArrivals : 0;
  touched.turns = left == 1;
  log_.Add(touched);
}

// Threads that come to do the same may come in any order; the last one shows nowhere. A thread that left the meeting
// before does not matter to those that come to the next.
void ThreadTouches::Meets(AgentId thread, const std::string& work, bool last) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : work) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  const std::int64_t meeting = ObjectOf(machine_.residents().BlockOf(thread).meeting);
  scheduler::Touched comes = Part(meeting, kGathering);
  comes.commutes = kMeetings + static_cast<std::int64_t>(hash >> 8);
  comes.closes = last;
  log_.Add(comes);
  if (last) Closing(Part(meeting, kMet));
}

void ThreadTouches::LeavesMeeting(memory_model::RendezvousId meeting) {
  log_.Add(Part(ObjectOf(meeting), kMet, /*writes=*/false));
}

// Copies of a TPU's pipeline are asked for, committed and completed in any order: none waits for another one (they have
// no QueueOrder), and a group is over when all of it is, which a wait for it alone looks at.
void ThreadTouches::OfQueue(const scheduler::Touch& touch, bool of_pipeline) {
  scheduler::Touched touched{touch};
  touched.commutes = of_pipeline ? kPipeline : 0;
  log_.Add(touched);
}

void ThreadTouches::Commits(AgentId thread, AsyncQueue queue) {
  OfQueue({.object = machine_.queues().ObjectOf(thread, queue)}, IsOfPipeline(queue));
}

// What a block's memories have of the pipeline's own copies is no matter when they turn.
void ThreadTouches::Turns(const Machine::BlockTurn& turn) {
  Object(TurnsObjectOf(turn.from));
  Object(TurnsObjectOf(turn.to));
}

void ThreadTouches::Operands(const AsyncRequest& request) {
  if (request.block != nullptr) return;
  for (const auto* operands : {&request.sources, &request.destinations}) {
    for (const AsyncOperand& operand : *operands) Object(TurnsObjectOf(operand.buffer()), /*writes=*/false);
  }
}

void ThreadTouches::Starts(AgentId thread, const AsyncRequest& request) {
  if (request.expects_at.valid()) Object(ObjectOf(request.expects_at));
  if (request.queue.valid()) OfQueue({.object = machine_.queues().ObjectOf(request.queue)}, request.block != nullptr);
  Operands(request);
  if (!request.pipelined.has_value()) return;
  Object(TensorCoreObjectOf(machine_.model().agents().PlaceOf(thread).at(PlaceLevel::kBlock)));
}

void ThreadTouches::Performs(AgentId operation, Half half) {
  const AsyncRequest& request = machine_.model().RequestOf(operation);
  Operands(request);
  if (request.block != nullptr) {
    OfQueue(machine_.queues().TouchOf(request.queue, operation), /*of_pipeline=*/true);
  } else if (request.queue.valid()) {
    OfQueue({.object = machine_.queues().ObjectOf(request.queue)}, /*of_pipeline=*/false);
  }
  if (request.pipelined.has_value()) {  // it begins where those that it follows have ended
    const std::int64_t block = machine_.model().agents().PlaceOf(operation).at(PlaceLevel::kBlock);
    Object(TensorCoreObjectOf(block), half == Half::kWrite);
  }
  for (const Completion& completion : request.completions) {
    if (completion.after != half) continue;
    const auto* const barrier = std::get_if<BarrierId>(&completion.object);
    const std::int64_t held = barrier != nullptr
                                  ? static_cast<std::int64_t>(machine_.model().Of(*barrier).completed())
                                  : machine_.model().Of(std::get<SemaphoreId>(completion.object)).count();
    Count(ObjectOf(completion), held, /*writes=*/true);
  }
}

// Threads may end in any order, and which is the last of its cluster shows nowhere: what ends with that does so in the
// name of all (BlockMemory::BlockEnds). But where operations are in flight, a thread may end before one of them while
// the memory is still there after it, because another one has not ended: then the last one is distinguished.
void ThreadTouches::EndsThread(AgentId thread) {
  scheduler::Touched ends{{.object = kPeersObject}};
  ends.commutes = kEnds;
  log_.Add(ends);
  Object(machine_.queues().ObjectOf(thread, AsyncQueue::kTmemLoads));  // it waits for them
  const Residents& residents = machine_.residents();
  const Block& block = residents.BlockOf(thread);
  if (block.threads.size() > 1) {
    scheduler::Touched misses = Part(ObjectOf(block.meeting), kGathering);  // those that gather
    misses.commutes = kEnds;
    log_.Add(misses);
  }
  const Cluster& cluster = residents.ClusterOf(block.cluster);
  std::int64_t running = 0;
  for (const BlockId of_cluster : cluster.blocks) running += residents.Of(of_cluster).running;
  const bool open = cluster.in_flight > 0 || machine_.shape().several_devices();
  ends.object = EndsObjectOf(block.cluster);
  ends.commutes = running > 1 || !open ? kEnds : 0;
  ends.turns = open;
  ends.closes = running == 1;
  log_.Add(ends);
  if (running == 1) EndsBlocks(cluster.blocks);
}

// Their memory is gone, and their barriers and semaphores are looked at: are they left as they should be?
void ThreadTouches::EndsBlocks(const std::vector<BlockId>& blocks) {
  for (const BlockId block : blocks) {
    for (const BufferId buffer : machine_.block_memory().BuffersOf(block)) Closing({{.object = buffer.value}});
    for (const SyncId id : machine_.residents().Of(block).syncs.all) {
      const SyncArray& array = machine_.syncs()[id];
      for (const BarrierId barrier : array.barriers) Closing({{.object = ObjectOf(barrier)}});
      for (const SemaphoreId semaphore : array.semaphores) Closing({{.object = ObjectOf(semaphore)}});
    }
  }
}

void ThreadTouches::EndsWarp(AgentId parent) {
  scheduler::Touched ends{{.object = WarpsObjectOf(parent)}};
  ends.commutes = kEnds;
  log_.Add(ends);
}

void ThreadTouches::LeavesScope(AgentId thread) {
  log_.Add(Part(ScopesObjectOf(machine_.residents().Of(thread).block), kStack, /*writes=*/false));
}

void ThreadTouches::Peers() { Object(kPeersObject, /*writes=*/false); }

// Whose bytes another gets there, or what ends when these are given away.
std::vector<std::int64_t> ThreadTouches::EndedFor(AgentId thread) {
  log_.TakeAllocated();
  const BlockId block = machine_.residents().Of(thread).block;
  std::vector<std::int64_t> objects;
  for (const BufferId buffer : machine_.block_memory().Replaceable(block)) objects.push_back(buffer.value);
  for (const auto& [id, site] : machine_.residents().Of(block).syncs.left) {
    const SyncArray& array = machine_.syncs()[id];
    for (const BarrierId barrier : array.barriers) objects.push_back(ObjectOf(barrier));
    for (const SemaphoreId semaphore : array.semaphores) objects.push_back(ObjectOf(semaphore));
  }
  return objects;
}

// Several devices find each other's, in flight or not. Of several TPUs, what is a core's own is found as that of a
// cluster's block is (FindsPeers).
void ThreadTouches::Makes(AgentId thread, bool of_grid, const std::vector<std::int64_t>& ended, std::int64_t name) {
  const LaunchShape& shape = machine_.shape();
  if (name == 0 || (shape.several_devices() && (of_grid || !shape.tpus()))) return Everything();
  if (of_grid) Object(kGridScopesObject);
  const std::int64_t scopes = ScopesObjectOf(machine_.residents().Of(thread).block);
  log_.Add(Part(scopes, kStack));
  log_.Add(Part(scopes, name));
  for (const std::int64_t object : ended) Object(object);
}

// Where a peer has made it, it lies with the block's own from here on.
void ThreadTouches::Finds(AgentId thread, bool of_grid, std::int64_t name, bool peers_ahead) {
  if (name == 0 || peers_ahead) return Everything();
  if (of_grid) Object(kGridScopesObject, /*writes=*/false);
  log_.Add(Part(ScopesObjectOf(machine_.residents().Of(thread).block), name, /*writes=*/false));
}

bool ThreadTouches::PeersAhead(AgentId thread) const {
  return machine_.block_memory().HasUnreached(machine_.residents().Of(thread).block);
}

// Whether a peer is there, and what its threads have made or left.
void ThreadTouches::FindsPeers(AgentId thread) {
  Peers();
  const std::int64_t cluster = machine_.residents().BlockOf(thread).cluster;
  for (const BlockId block : machine_.residents().ClusterOf(cluster).blocks)
    Object(ScopesObjectOf(block), /*writes=*/false);
}

bool ThreadTouches::MadeSync(const absl::StatusOr<SyncId>& id) {
  if (!id.ok() || id->value <= last_sync_) return false;
  last_sync_ = id->value;
  return true;
}

}  // namespace palladion::threads
