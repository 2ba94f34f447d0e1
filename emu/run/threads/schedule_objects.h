// The objects of a launch over threads that operations touch, as the numbers that schedules have for them: a
// buffer is its own number, the others follow, far apart. Replay strings do not hold them; searches compare them.
#ifndef PALLADION_EMU_RUN_THREADS_SCHEDULE_OBJECTS_H_
#define PALLADION_EMU_RUN_THREADS_SCHEDULE_OBJECTS_H_

#include <cstdint>
#include <variant>

#include "emu/run/threads/object_name.h"
#include "memory_model/sync/rendezvous.h"
#include "semantics/base/ids.h"
#include "semantics/port/async.h"
#include "semantics/port/sync.h"

namespace palladion::threads {

inline constexpr std::int64_t kObjectsOfAKind = std::int64_t{1} << 40;

inline std::int64_t ObjectOf(BarrierId barrier) { return 1 * kObjectsOfAKind + barrier.value; }
inline std::int64_t ObjectOf(SemaphoreId semaphore) { return 2 * kObjectsOfAKind + semaphore.value; }
// The queues of a thread and of its warps are one object: a wait for several of them has one footprint.
inline std::int64_t QueueObjectOf(AgentId thread, AsyncQueue queue) {
  constexpr std::int64_t kKinds = 16;
  return 3 * kObjectsOfAKind + kKinds * thread.value + static_cast<std::int64_t>(queue);
}
inline std::int64_t ObjectOf(memory_model::RendezvousId meeting) { return 4 * kObjectsOfAKind + meeting.value; }
inline std::int64_t WarpsObjectOf(AgentId thread) { return 5 * kObjectsOfAKind + thread.value; }
inline std::int64_t LinkObjectOf(QueueId link) { return 6 * kObjectsOfAKind + link.value; }
// What a block's threads have given to its tensor core: products follow those of other threads, too. Blocks of clusters
// that have the same number share it.
inline std::int64_t TensorCoreObjectOf(std::int64_t block) { return 9 * kObjectsOfAKind + block; }
// What a block's threads have allocated together, and which blocks are there: of what was done (thread_touches.h).
inline std::int64_t ScopesObjectOf(BlockId block) { return 10 * kObjectsOfAKind + block.value; }
inline constexpr std::int64_t kPeersObject = 11 * kObjectsOfAKind;
inline std::int64_t EndsObjectOf(std::int64_t cluster) { return 13 * kObjectsOfAKind + cluster; }  // of its threads
inline constexpr std::int64_t kGridScopesObject = 12 * kObjectsOfAKind;  // what is found by all blocks of a device
// Which copies of the kernel's own a block of a TPU's pipeline has (Machine::Turn), by its memory.
inline std::int64_t TurnsObjectOf(BufferId buffer) { return 14 * kObjectsOfAKind + buffer.value; }
// Of a kind of thing to wait for that has no line above: `number` among its kind.
inline std::int64_t ObjectOfKind(WaitTarget::Kind kind, std::int64_t number) {
  constexpr std::int64_t kBefore = 16;
  return (kBefore + static_cast<std::int64_t>(kind)) * kObjectsOfAKind + number;
}
// Which clusters have begun.
inline constexpr std::int64_t kLaunchControlObject = 7 * kObjectsOfAKind;

inline std::int64_t ObjectOf(const Completion& completion) {
  const auto* barrier = std::get_if<BarrierId>(&completion.object);
  return barrier != nullptr ? ObjectOf(*barrier) : ObjectOf(std::get<SemaphoreId>(completion.object));
}

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_SCHEDULE_OBJECTS_H_
