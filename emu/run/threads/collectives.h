// Collective operations without waits: the copies that several blocks issue together, each for all of them. Based on:
// collective_axes of Mosaic GPU's copies (TMA multicast). Limits: what the copies move, and when, is decided by the
// engines; this file only checks that all members issue the same copies in the same order.
#ifndef PALLADION_EMU_RUN_THREADS_COLLECTIVES_H_
#define PALLADION_EMU_RUN_THREADS_COLLECTIVES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "emu/run/threads/machine_base.h"

namespace palladion::threads {

// Of whom collective copies, or allocations, are the same: the blocks that differ from each other along some dimensions
// only, and in each the same lane of the same thread, for those of two threads of a block, or of two warps, have no
// order.
struct CollectiveGroup {
  std::vector<std::int64_t> blocks;  // their index; -1: any
  std::size_t thread = 0, lane = 0;
  std::string kinds;  // of what: copies and allocations have no order among each other
  friend bool operator<(const CollectiveGroup& a, const CollectiveGroup& b) {
    return std::tie(a.blocks, a.thread, a.lane, a.kinds) < std::tie(b.blocks, b.thread, b.lane, b.kinds);
  }

  std::vector<std::size_t> GridDims() const;  // along which they differ
};

// The number of the block with this index among those of the group; none: it is not of them.
std::optional<std::size_t> MemberOf(const CollectiveGroup& group, absl::Span<const std::int64_t> index,
                                    const LaunchShape& shape);
// Are all of its blocks of one cluster?
bool InCluster(const CollectiveGroup& group, const LaunchShape& shape);

class Collectives {
 public:
  explicit Collectives(const MachineBase& base) : base_(base) {}

  // The thread makes its part.
  void Enter(AgentId thread, const CollectiveStep& step, const CodeSite& site);

  void ThreadEnds(AgentId thread);  // it issues no more
  void BlockEnds(absl::Span<const std::int64_t> index);
  void RetireCluster(std::int64_t number);

  std::size_t size() const;

 private:
  using ByGroup = std::map<CollectiveGroup, memory_model::CollectiveId>;
  memory_model::CollectiveId Make(const CollectiveGroup& group);
  void MemberEnds(const Thread& thread, const ByGroup& all);

  const MachineBase base_;
  absl::flat_hash_map<std::int64_t, ByGroup> of_cluster_;  // among blocks of one, by its number
  ByGroup across_;                                         // among blocks of several
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_COLLECTIVES_H_
