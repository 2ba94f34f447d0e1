// Which arrays of barriers and semaphores one block has. Plain data; what happens to them is in sync_arrays.h.
#ifndef PALLADION_EMU_RUN_THREADS_BLOCK_SYNCS_H_
#define PALLADION_EMU_RUN_THREADS_BLOCK_SYNCS_H_

#include <map>
#include <utility>
#include <vector>

#include "emu/run/threads/object_name.h"
#include "semantics/port/sync.h"

namespace palladion::threads {

struct BlockSyncs {
  std::map<ObjectName, SyncId> named;
  std::vector<SyncId> all;                        // that have not been retired
  std::vector<std::pair<SyncId, CodeSite>> left;  // their scope is over; their bytes are not in use again yet
  std::vector<SyncId> ended;                      // an operation in flight may still signal them
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_BLOCK_SYNCS_H_
