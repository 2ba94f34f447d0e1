// Copies into shared memory that the blocks along some axes of a cluster issue together: multicast, and the copies of a
// pair of blocks that complete at the leader's barrier alone (leader_tracked, of Blackwell). Spec:
// docs/spec/gpu-copies.md. Based on: LaunchContext.async_copy of JAX 0.10.2. Here a block's own part becomes one
// request; the machine compares whether all blocks issue the same copy. Limits: that hardware has such copies for pairs
// only is a rule of emu/check/legality.
#ifndef PALLADION_SEMANTICS_OPS_GPU_COLLECTIVE_COPY_H_
#define PALLADION_SEMANTICS_OPS_GPU_COLLECTIVE_COPY_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "semantics/program/builder.h"
#include "semantics/registry/op_row.h"

namespace palladion {

// The attribute leader_tracked: which blocks get what, with arrivals at the leader's barrier only.
struct LeaderTracked {
  std::optional<std::size_t> axis = {};  // of the source: each block gets a part along it; none: each gets everything
};

// None: the copy has no such attribute. InvalidArgument: it is neither {} nor {axis=N}, or there are no
// collective_axes.
absl::StatusOr<std::optional<LeaderTracked>> ReadLeaderTracked(const Instr& op);

// The type of what one block gets of a source: all, or by the destination's size along the axis. InvalidArgument: no
// axis of the source, or one that does not come out even.
absl::StatusOr<Type> PartOfSource(const std::optional<LeaderTracked>& leader, const Type& source,
                                  const Type& destination);

struct CollectiveCopy {
  std::vector<std::size_t> axes = {};  // grid dimensions; none: the copy is one block's own
  std::optional<LeaderTracked> leader = {};
  std::string from, to, signals;  // for comparison between blocks: the refs' names
};

// Also settles that a partitioned source is as long as its parts together. `views`: of source, destination and barrier.
struct CopyViews {
  const ViewPlan &source, &destination, &barrier;
};
absl::StatusOr<CollectiveCopy> ReadCollective(const Instr& op, const CopyViews& views, Builder& builder);

// The block's part of the copy. `request` has the whole source and the block's own destination.
absl::Status StartCollective(const CollectiveCopy& copy, AsyncRequest request, const SyncElement& barrier,
                             const Step& step, Frame& frame);

// Of a copy that a leader tracks, with a false predicate: nothing is moved, and the leader's own call is its arrival.
absl::Status ArriveWithoutCopy(const CollectiveCopy& copy, AsyncRequest request, const SyncElement& barrier,
                               Frame& frame);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_GPU_COLLECTIVE_COPY_H_
