#include "emu/timing/stalls.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace palladion::timing {
namespace {

using scheduler::Ticks;

struct StallRow {
  Stall stall;
  std::string_view name;
};
constexpr StallRow kRows[] = {
    {Stall::kCopyIn, "a copy into shared memory"},
    {Stall::kCopyOut, "a copy to global memory"},
    {Stall::kProduct, "a matrix product"},
    {Stall::kTensorCopy, "a copy into tensor memory"},
    {Stall::kPeerStore, "a store by another block"},
    {Stall::kBarrier, "another thread at a barrier"},
    {Stall::kMeeting, "threads that meet"},
    {Stall::kSemaphore, "a semaphore"},
    {Stall::kGlobalMemory, "global memory"},
    {Stall::kSharedMemory, "shared memory"},
    {Stall::kTensorMemory, "tensor memory"},
    {Stall::kOtherDevice, "another device's memory"},
    {Stall::kIssueSlots, "busy issue slots"},
    {Stall::kPort, "a busy port of shared memory"},
    {Stall::kTensorLoads, "busy reads of tensor memory"},
    {Stall::kTensorStores, "busy writes of tensor memory"},
    {Stall::kL2, "a busy L2"},
    {Stall::kDram, "a busy DRAM"},
    {Stall::kLink, "a busy link between devices"},
    {Stall::kLaunch, "the launch of its block"},
    {Stall::kArithmetic, "a result of arithmetic"},
    {Stall::kOther, "another thread"},
};
static_assert(std::size(kRows) == kStalls);
static_assert(kRows[kStalls / 2].stall == static_cast<Stall>(kStalls / 2));

}  // namespace

std::string_view Name(Stall stall) { return kRows[static_cast<std::size_t>(stall)].name; }

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

Parts PartsOf(const GpuPlan& plan, Ticks all, const GpuChip::Asked& asked) {
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

}  // namespace palladion::timing
