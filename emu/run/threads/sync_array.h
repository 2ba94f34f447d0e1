// An array of barriers or semaphores that threads have allocated: the request, its owner, and the model's objects for
// its elements. Plain data; sync_arrays.h says what happens to it.
#ifndef PALLADION_EMU_RUN_THREADS_SYNC_ARRAY_H_
#define PALLADION_EMU_RUN_THREADS_SYNC_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emu/run/threads/object_name.h"
#include "emu/run/threads/schedule_objects.h"
#include "semantics/port/async.h"
#include "semantics/port/sync.h"

namespace palladion::threads {

struct SyncArray {
  SyncRequest request;
  std::int64_t number = -1;  // of its block in the grid; -1: it is the grid's
  BlockId block;             // the same, which goes with it; invalid: it lies in global memory, or is the grid's
  std::int64_t device = 0;
  ObjectName name;
  std::vector<BarrierId> barriers;
  std::vector<SemaphoreId> semaphores;  // either these or barriers
  std::size_t users = 0;                // threads that have not left its scope
  bool ended = false;

  BarrierId barrier(std::int64_t element) const { return barriers[static_cast<std::size_t>(element)]; }
  SemaphoreId semaphore(std::int64_t element) const { return semaphores[static_cast<std::size_t>(element)]; }
  Completion CompletionAt(std::int64_t element) const {
    if (barriers.empty()) return {.object = semaphore(element)};
    return {.object = barrier(element)};
  }
  std::int64_t ObjectOf(std::int64_t element) const {
    return barriers.empty() ? threads::ObjectOf(semaphore(element)) : threads::ObjectOf(barrier(element));
  }
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_SYNC_ARRAY_H_
