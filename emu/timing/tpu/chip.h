// A TensorCore in time: what it does itself, one thing after another, the copies beside it, and what it waits for.
// Which copies there are, and when they start and are awaited, is the kernel's to say, and its pipeline's
// (semantics/program/block_pipeline.h). Based on: costs.h. Limits: the cores of a device share its main memory equally,
// whatever each requests; copies are served one after another, each as fast as memory goes; a queue has no end.
#ifndef PALLADION_EMU_TIMING_TPU_CHIP_H_
#define PALLADION_EMU_TIMING_TPU_CHIP_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emu/timing/base/critical_path.h"
#include "emu/timing/base/ticks.h"
#include "emu/timing/tpu/costs.h"
#include "scheduler/virtual_clock.h"

namespace palladion::timing::tpu {

class TpuCore {
 public:
  // `cores` of the device run the kernel. `costs` outlives it.
  TpuCore(const TpuCosts& costs, std::int64_t cores) : costs_(costs), cores_(cores) {}

  scheduler::Ticks now() const { return now_; }
  void Compute(const TpuWork& work, const TpuChain& chain);
  // Is there a wait for the latency of a copy, or is it part of the time of the pipeline's step?
  enum class CopyKind : std::uint8_t { kWaitedFor, kInStep };
  // A copy of so many bytes through main memory: when it has landed. `at`: it was started; not after now.
  scheduler::Ticks Copy(scheduler::Ticks at, machines::Bytes bytes, CopyKind way = CopyKind::kWaitedFor);
  void WaitUntil(scheduler::Ticks time) { now_ = std::max(now_, time); }
  // What a step of a pipelined grid takes beside all else.
  void StepOfGrid() { now_ = now_ + base::TicksOf(costs_.grid_step); }

  // For a timeline: when main memory is at its copies.
  using AtMemory = std::function<void(const scheduler::Server::Piece&)>;
  void WatchMemory(AtMemory watch) { watch_ = std::move(watch); }

  void Forget(scheduler::Ticks before) { memory_.Forget(before); }  // no copy starts before that any more

  struct Use {
    TpuWork work;
    scheduler::Ticks memory;  // it was busy with this core's copies
    machines::Bytes bytes;    // of these
  };
  const Use& use() const { return use_; }

 private:
  const TpuCosts& costs_;
  const std::int64_t cores_;
  scheduler::Ticks now_;
  scheduler::Server memory_;
  Use use_;
  AtMemory watch_;
};

// A copy of an operand of the kernel, or of a block of it.
struct TpuBlockCopy {
  std::size_t operand = 0;
  machines::Bytes bytes;
  std::int64_t buffers = 1;  // so many blocks of the operand have room
  std::string what = "";     // which one it is, for pictures
  bool goes_back = false;
  std::optional<scheduler::Ticks> start = {};  // nullopt: it has not started
  scheduler::Ticks landed = {};
  std::int32_t span = -1;              // that shows it
  base::CriticalPath::Held held = {};  // the path to where it was started
};

// Copies of a core in the groups in which it awaits them.
class TpuCopyQueue {
 public:
  TpuBlockCopy& Add(TpuBlockCopy copy) { return open_.emplace_back(std::move(copy)); }
  void Commit() { groups_.push_back(std::exchange(open_, {})); }
  // Those of all groups but the last so many, in their order; they are not here from now on.
  std::vector<TpuBlockCopy> TakeAllBut(std::size_t remain);
  template <class Start>
  void StartAll(const Start& start) {
    for (std::vector<TpuBlockCopy>& group : groups_) {
      for (TpuBlockCopy& copy : group) {
        if (!copy.start.has_value()) start(copy);
      }
    }
  }

 private:
  std::deque<std::vector<TpuBlockCopy>> groups_;
  std::vector<TpuBlockCopy> open_;
};

}  // namespace palladion::timing::tpu

#endif  // PALLADION_EMU_TIMING_TPU_CHIP_H_
