// What the launches of one run share: devices, and the buffers of all of them, each with an id of its own in the run
// and the device that it is on. Several launches may be under way at once, one on each device (emu/launch/run.h).
// Limits: each launch has its own model of synchronisation and its own findings; clocks, barriers and semaphores of one
// device are not seen by another.
#ifndef PALLADION_EMU_AGENTS_RUN_STATE_H_
#define PALLADION_EMU_AGENTS_RUN_STATE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "memory_model/bytes/memory.h"

namespace palladion::agents {

class RunState {
 public:
  explicit RunState(std::int32_t devices = 1) : busy_(static_cast<std::size_t>(devices)) {}
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

  std::int32_t devices() const { return static_cast<std::int32_t>(busy_.size()); }
  const std::shared_ptr<memory_model::RunBuffers>& buffers() const { return buffers_; }

  // A launch begins on the device, which is free until the launch has ended. False: it is not there, or not free.
  bool Begin(std::int32_t device) {
    if (device < 0 || device >= devices() || busy_[static_cast<std::size_t>(device)]) return false;
    return busy_[static_cast<std::size_t>(device)] = true;
  }
  void End(std::int32_t device) { busy_[static_cast<std::size_t>(device)] = false; }

 private:
  std::vector<bool> busy_;  // by device
  std::shared_ptr<memory_model::RunBuffers> buffers_ = std::make_shared<memory_model::RunBuffers>();
};

// Where a launch is: on a device of a run, which outlives it.
struct LaunchPlace {
  RunState* run = nullptr;
  std::int32_t device = 0;
};

}  // namespace palladion::agents

#endif  // PALLADION_EMU_AGENTS_RUN_STATE_H_
