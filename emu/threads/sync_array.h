// An array of barriers or semaphores that threads have allocated: what was asked for, whose it is, and what the model
// has for its elements. Plain data; sync_arrays.h says what happens to it.
#ifndef PALLADION_EMU_THREADS_SYNC_ARRAY_H_
#define PALLADION_EMU_THREADS_SYNC_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emu/threads/object_name.h"
#include "emu/threads/schedule_objects.h"
#include "semantics/port/async.h"
#include "semantics/port/sync.h"

namespace palladion::threads {

struct SyncArray {
  SyncRequest request;
  BlockId block;  // invalid: it is the grid's
  ObjectName name;
  std::vector<BarrierId> barriers;
  std::vector<SemaphoreId> semaphores;  // either these or barriers
  std::size_t users = 0;                // threads that have not left its scope
  bool ended = false;

  BarrierId barrier(std::int64_t element) const { return barriers[static_cast<std::size_t>(element)]; }
  SemaphoreId semaphore(std::int64_t element) const { return semaphores[static_cast<std::size_t>(element)]; }
  std::int64_t ObjectOf(std::int64_t element) const {
    return barriers.empty() ? threads::ObjectOf(semaphore(element)) : threads::ObjectOf(barrier(element));
  }
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_THREADS_SYNC_ARRAY_H_
