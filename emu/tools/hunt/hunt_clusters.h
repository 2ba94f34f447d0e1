// Patterns of clusters of two blocks for the hunt: copies that both blocks make together, each to both, on barriers
// that other arrivals share. Limits: a cluster is two blocks; a copy is of one row.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_CLUSTERS_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_CLUSTERS_H_

#include <vector>

#include "emu/tools/hunt/hunt_kernel.h"
#include "scheduler/policies/random.h"

namespace palladion::hunt {

// Makes it one of a cluster, with one or two threads a block.
void MakeCluster(scheduler::Random* random, HuntKernel* kernel);
void ClusterPattern(scheduler::Random* random, HuntKernel* kernel, std::vector<std::vector<Op>>* body);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_CLUSTERS_H_
