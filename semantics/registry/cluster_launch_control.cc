#include "semantics/registry/cluster_launch_control.h"

#include <cstddef>

#include "semantics/registry/op_row.h"

namespace palladion {
namespace {

std::size_t CountIn(const Region& region, ClusterLaunchControl what) {
  std::size_t count = 0;
  for (const Instr& op : region.body) {
    count += RowOf(op).launch_control == what ? 1 : 0;
    for (const Region& inner : op.regions) count += CountIn(inner, what);
  }
  return count;
}

std::size_t CountIn(const Kernel& kernel, ClusterLaunchControl what) {
  std::size_t count = 0;
  for (const Body& body : kernel.bodies) count += CountIn(body.region, what);
  return count;
}

}  // namespace

bool TakesWork(const Kernel& kernel) { return CountIn(kernel, ClusterLaunchControl::kRequests) > 0; }

bool ReadsAnswersTwice(const Kernel& kernel) { return CountIn(kernel, ClusterLaunchControl::kReads) > 1; }

}  // namespace palladion
