// Cluster launch control: a running cluster requests the work of one that has not begun, and later reads the answer.
// The schedule chooses which one that is, or none, so both are requests to the machine. Based on
// clusterlaunchcontrol.try_cancel and .query_cancel of PTX, as plgpu.try_cluster_cancel issues them. What it does not
// know: how the sixteen bytes of an answer are written, which is the machine's own business.
#ifndef PALLADION_SEMANTICS_PORT_LAUNCH_CONTROL_H_
#define PALLADION_SEMANTICS_PORT_LAUNCH_CONTROL_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "semantics/port/async.h"
#include "semantics/port/sync.h"

namespace palladion {

inline constexpr std::size_t kCancelAnswerBytes = 16;

struct CancelRequest {
  AsyncOperand result;  // of the asking block, to which the answer is written; every block of its cluster gets it too
  SyncElement barrier;  // the same: completes when it has come
  bool of_each_thread = false;    // each thread of the cluster's first block makes one; or its first thread one for all
  std::string_view each_along{};  // the cluster's axes along which each block makes one, which is a mistake
};

struct CancelAnswer {
  bool is_one = false;  // the bytes are an answer
  bool success = false;
  std::int64_t cluster = 0;  // of success: which one will not run, its number in the grid
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PORT_LAUNCH_CONTROL_H_
