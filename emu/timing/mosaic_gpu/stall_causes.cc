#include "emu/timing/mosaic_gpu/stall_causes.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace palladion::timing::mosaic_gpu {

using gpu::Stall;
using scheduler::Ticks;

Stall StallOf(const GpuPlan& ended) {
  switch (ended.work) {
    case GpuWork::kCopyIn:
      return Stall::kCopyIn;
    case GpuWork::kCopyOut:
      return Stall::kCopyOut;
    case GpuWork::kProduct:
      return Stall::kProduct;
    case GpuWork::kTensorCopy:
      return Stall::kTensorCopy;
    case GpuWork::kPeerStore:
      return Stall::kPeerStore;
    case GpuWork::kArrive:
      return Stall::kBarrier;
    case GpuWork::kSignal:
      return Stall::kSemaphore;
    case GpuWork::kMeet:
      return Stall::kMeeting;
    default:
      return Stall::kOther;
  }
}

Stall StallAt(const GpuPlan& waiting, Stall ended) {
  if (ended != Stall::kOther) return ended;
  switch (waiting.work) {
    case GpuWork::kAwaitBarrier:
      return Stall::kBarrier;
    case GpuWork::kAwaitSemaphore:
      return Stall::kSemaphore;
    case GpuWork::kMeet:
      return Stall::kMeeting;
    default:
      return Stall::kOther;
  }
}

Parts PartsOf(const GpuPlan& plan, Ticks all, const gpu::GpuChip::Asked& asked) {
  const bool loads = plan.work == GpuWork::kAccess && !plan.stores;
  Parts parts;
  const auto queued = [&](Stall unit, Ticks time) {
    if (time > parts.queued) std::tie(parts.busy_unit, parts.queued) = std::pair(unit, std::min(time, all));
  };
  queued(Stall::kIssueSlots, asked.issue.waited);
  queued(Stall::kPort, asked.port.waited);
  queued(Stall::kTensorLoads, asked.tensor_loads.waited);
  queued(Stall::kTensorStores, asked.tensor_stores.waited);
  if (loads) {  // no thread waits for stores
    queued(Stall::kL2, asked.l2.waited);
    queued(Stall::kDram, asked.dram.waited);
    queued(Stall::kLink, asked.link.waited);
  }
  parts.worked = all - parts.queued;
  if (!loads) return parts;
  parts.worked = std::min(parts.worked, std::max(asked.port.served, asked.tensor_loads.served));
  parts.under_way = all - parts.queued - parts.worked;
  parts.memory = plan.space == Space::kSmem    ? Stall::kSharedMemory
                 : plan.space == Space::kTmem  ? Stall::kTensorMemory
                 : asked.link.served.value > 0 ? Stall::kOtherDevice
                                               : Stall::kGlobalMemory;
  return parts;
}

}  // namespace palladion::timing::mosaic_gpu
