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

Parts PartsOf(const GpuPlan& plan, Ticks all, const gpu::GpuChip::Recent& recent) {
  const bool loads = plan.work == GpuWork::kAccess && !plan.stores;
  Parts parts;
  const auto queued = [&](Stall unit, Ticks time) {
    if (time > parts.queued) std::tie(parts.busy_unit, parts.queued) = std::pair(unit, std::min(time, all));
  };
  queued(Stall::kIssueSlots, recent.issue.waited);
  queued(Stall::kPort, recent.port.waited);
  queued(Stall::kTensorLoads, recent.tensor_loads.waited);
  queued(Stall::kTensorStores, recent.tensor_stores.waited);
  if (loads) {  // no thread waits for stores
    queued(Stall::kL2, recent.l2.waited);
    queued(Stall::kDram, recent.dram.waited);
    queued(Stall::kLink, recent.link.waited);
  }
  parts.worked = all - parts.queued;
  if (!loads) return parts;
  parts.worked = std::min(parts.worked, std::max(recent.port.served, recent.tensor_loads.served));
  parts.in_flight = all - parts.queued - parts.worked;
  parts.memory = plan.space == Space::kSmem     ? Stall::kSharedMemory
                 : plan.space == Space::kTmem   ? Stall::kTensorMemory
                 : recent.link.served.value > 0 ? Stall::kOtherDevice
                                                : Stall::kGlobalMemory;
  return parts;
}

}  // namespace palladion::timing::mosaic_gpu
