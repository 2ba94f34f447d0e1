#include "emu/threads/thread_touches.h"

#include <variant>

#include "emu/threads/thread_machine.h"

namespace palladion::threads {

void ThreadTouches::Count(std::int64_t object, std::int64_t held, bool writes) {
  scheduler::Touched touched{{.object = object, .writes = writes}};
  touched.held = held;
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

// A wait for a phase changes nothing that another one sees, and one that leaves its credits neither.
void ThreadTouches::Waits(AgentId thread, const WaitTarget& target) {
  switch (target.kind) {
    case WaitTarget::Kind::kNothing:
      return;
    case WaitTarget::Kind::kBarrier:
      return Element(target.object, /*writes=*/false);
    case WaitTarget::Kind::kSemaphore:
      return Element(target.object, target.decrement);
    case WaitTarget::Kind::kMeeting:
      return Object(machine_.ObjectOf(thread, target), /*writes=*/false);
    case WaitTarget::Kind::kQueue:
    case WaitTarget::Kind::kSpawned:  // what warps have seen of every barrier
      return Everything();
    default:
      return Object(machine_.ObjectOf(thread, target));
  }
}

void ThreadTouches::Looks(SyncElement element) { Element(element, /*writes=*/false); }
void ThreadTouches::Signals(SyncElement semaphore) { Element(semaphore, /*writes=*/true); }

// Arrivals of a phase may come in any order; who comes last is told apart, for messages name it.
void ThreadTouches::Arrives(SyncElement element) {
  const SyncArray& array = machine_.syncs()[element.array];
  if (array.request.kind == SyncKind::kClusterBarrier || array.request.leader_tracked) return Everything();
  const memory_model::Barrier& barrier = machine_.model().Of(array.barrier(element.element));
  const std::int64_t left = barrier.spec().num_arrivals - barrier.arrived() - 1;
  scheduler::Touched touched{{.object = array.ObjectOf(element.element)}};
  touched.held = static_cast<std::int64_t>(barrier.completed());
  touched.commutes = left > 0;
  touched.turns = left == 1;
  log_.Add(touched);
}

void ThreadTouches::Starts(AgentId thread, const AsyncRequest& request) {
  if (request.expects_at.valid()) Object(ObjectOf(request.expects_at));
  if (request.queue.valid()) Object(machine_.queues().ObjectOf(request.queue));
  if (!request.pipelined.has_value()) return;
  Object(TensorCoreObjectOf(machine_.model().agents().PlaceOf(thread).at(PlaceLevel::kBlock)));
}

void ThreadTouches::Performs(AgentId operation, Half half) {
  const AsyncRequest& request = machine_.model().RequestOf(operation);
  if (request.queue.valid()) Object(machine_.queues().ObjectOf(request.queue));
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

void ThreadTouches::EndsThread(AgentId thread) {
  scheduler::Touched ends{{.object = kPeersObject}};
  ends.commutes = true;
  log_.Add(ends);
  const Block& block = machine_.residents().BlockOf(thread);
  ends.object = ObjectOf(block.meeting);
  if (block.threads.size() > 1) log_.Add(ends);
  if (block.running > 1) return;
  for (const BlockId of_cluster : machine_.residents().ClusterOf(block.cluster).blocks) {
    for (const SyncId id : machine_.residents().Of(of_cluster).syncs.all) {  // are they left as they should be?
      const SyncArray& array = machine_.syncs()[id];
      for (const BarrierId barrier : array.barriers) Object(ObjectOf(barrier));
      for (const SemaphoreId semaphore : array.semaphores) Object(ObjectOf(semaphore));
    }
  }
}

void ThreadTouches::EndsWarp(AgentId parent) {
  scheduler::Touched ends{{.object = WarpsObjectOf(parent)}};
  ends.commutes = true;
  log_.Add(ends);
}

void ThreadTouches::LeavesScope(AgentId thread) {
  Object(ScopesObjectOf(machine_.residents().Of(thread).block), /*writes=*/false);
}

void ThreadTouches::Peers() { Object(kPeersObject, /*writes=*/false); }

// What gets another's bytes there, or ends when these are given away.
std::vector<std::int64_t> ThreadTouches::ScopesOf(AgentId thread) {
  log_.TakeAllocated();
  const BlockId block = machine_.residents().Of(thread).block;
  std::vector<std::int64_t> objects = {ScopesObjectOf(block)};
  for (const BufferId buffer : machine_.block_memory().Replaceable(block)) objects.push_back(buffer.value);
  for (const auto& [id, site] : machine_.residents().Of(block).syncs.left) {
    const SyncArray& array = machine_.syncs()[id];
    for (const BarrierId barrier : array.barriers) objects.push_back(ObjectOf(barrier));
    for (const SemaphoreId semaphore : array.semaphores) objects.push_back(ObjectOf(semaphore));
  }
  return objects;
}

// Several devices find each other's, under way or not.
void ThreadTouches::Makes(bool of_grid, const std::vector<std::int64_t>& ended) {
  if (machine_.shape().several_devices()) return Everything();
  if (of_grid) Object(kGridScopesObject);
  for (const std::int64_t object : ended) Object(object);
}

void ThreadTouches::Finds(AgentId thread, bool of_grid) {
  if (of_grid) Object(kGridScopesObject, /*writes=*/false);
  LeavesScope(thread);
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
