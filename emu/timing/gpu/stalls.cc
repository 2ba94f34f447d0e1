#include "emu/timing/gpu/stalls.h"

#include <iterator>

namespace palladion::timing::gpu {
namespace {

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

}  // namespace palladion::timing::gpu
