// Stall classes of a GPU's threads: each wait gets a class when it ends, by what ended it; stalls inside an operation
// of the thread itself (a busy unit, the latency of a memory) by the units of its SM. Based on: the plans of the two
// instructions (gpu_plan.h) and the servers that the operation used. Limits: where several units delayed an operation,
// the longest delay counts for all.
#ifndef PALLADION_EMU_TIMING_STALLS_H_
#define PALLADION_EMU_TIMING_STALLS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "emu/timing/gpu_chip.h"
#include "emu/timing/gpu_plan.h"

namespace palladion::timing {

enum class Stall : std::uint8_t {
  kCopyIn,
  kCopyOut,
  kProduct,
  kTensorCopy,
  kPeerStore,
  kBarrier,
  kMeeting,
  kSemaphore,
  kGlobalMemory,
  kSharedMemory,
  kTensorMemory,
  kOtherDevice,
  kIssueSlots,
  kPort,
  kTensorLoads,
  kTensorStores,
  kL2,
  kDram,
  kLink,
  kLaunch,
  kArithmetic,
  kOther,
};
inline constexpr std::size_t kStalls = static_cast<std::size_t>(Stall::kOther) + 1;
std::string_view Name(Stall stall);
using StallTimes = std::array<scheduler::Ticks, kStalls>;  // by Stall

// The number that stands for it in CriticalPath, where 0 is work.
constexpr std::uint8_t HowOf(Stall stall) { return static_cast<std::uint8_t>(1 + static_cast<int>(stall)); }

// What `ended` is to those whose wait it ends by itself; kOther: that depends on what they wait at.
Stall StallOf(const GpuPlan& ended);
// Of a wait at `waiting` that something of class `ended` has ended.
Stall StallAt(const GpuPlan& waiting, Stall ended);

// What an operation of `plan` that took `all` consists of, in this order.
struct Parts {
  Stall busy_unit = Stall::kOther;  // that others kept busy
  scheduler::Ticks queued, worked;
  Stall memory = Stall::kOther;  // whose latency is long
  scheduler::Ticks under_way;
};
Parts PartsOf(const GpuPlan& plan, scheduler::Ticks all, const GpuChip::Asked& asked);

}  // namespace palladion::timing

#endif  // PALLADION_EMU_TIMING_STALLS_H_
