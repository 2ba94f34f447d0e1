// Which buffers are still read or written by operations in flight: the bytes of a scope that has ended are kept until
// no engine uses them. Limits: it is not asked about buffers of scopes that have not ended.
#ifndef PALLADION_EMU_RUN_THREADS_BUFFERS_IN_USE_H_
#define PALLADION_EMU_RUN_THREADS_BUFFERS_IN_USE_H_

#include <cstdint>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "semantics/base/ids.h"

namespace palladion::threads {

class BuffersInUse {
 public:
  void Add(BufferId buffer) { ++uses_[buffer.value]; }
  // One use less. True: the buffer was to be freed, and is not used any more.
  bool Remove(BufferId buffer) {
    const auto at = uses_.find(buffer.value);
    if (--at->second > 0) return false;
    uses_.erase(at);
    return to_free_.erase(buffer) > 0;
  }
  // It is to be freed: now (true), or where Remove returns true.
  bool Free(BufferId buffer) {
    if (!uses_.contains(buffer.value)) return true;
    to_free_.insert(buffer);
    return false;
  }

 private:
  absl::flat_hash_map<std::int32_t, int> uses_;  // operations in flight, by buffer
  std::set<BufferId> to_free_;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_BUFFERS_IN_USE_H_
