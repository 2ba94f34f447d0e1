// Stall classes of a GPU's threads, with their names in reports. Which class a wait gets when it ends is for the timers
// to say: emu/timing/mosaic_gpu/stall_causes.h, emu/timing/triton/timer.h.
#ifndef PALLADION_EMU_TIMING_GPU_STALLS_H_
#define PALLADION_EMU_TIMING_GPU_STALLS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "scheduler/virtual_clock.h"

namespace palladion::timing::gpu {

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

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_STALLS_H_
