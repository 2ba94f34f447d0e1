// A TensorCore in time: what it does itself, one thing after another, and the copies beside it. Blocks of a pipelined
// grid are fetched while the program before theirs runs, and go back while the one after it does, as far as they have
// more than one buffer; copies that the kernel starts itself go when it starts them. Based on: tpu_costs.h, JAX's
// pltpu.emit_pipeline, which has the order of a step. Limits: the cores of a device share its main memory equally,
// whatever each asks for; copies are served one after another, each as fast as memory goes; a queue has no end.
#ifndef PALLADION_EMU_TIMING_TPU_CHIP_H_
#define PALLADION_EMU_TIMING_TPU_CHIP_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emu/timing/hopper_costs.h"
#include "emu/timing/tpu_costs.h"
#include "scheduler/virtual_clock.h"

namespace palladion::timing {

class TpuCore {
 public:
  // `cores` of the device run the kernel. `costs` outlives it.
  TpuCore(const TpuCosts& costs, std::int64_t cores) : costs_(costs), cores_(cores) {}

  scheduler::Ticks now() const { return now_; }
  void Compute(const TpuWork& work, const TpuChain& chain);
  // A copy of so many bytes through main memory: when it has landed. `at`: it was started; not after now.
  scheduler::Ticks Copy(scheduler::Ticks at, machines::Bytes bytes);
  void WaitUntil(scheduler::Ticks time) { now_ = std::max(now_, time); }
  // What a step of a pipelined grid takes beside all else.
  void StepOfGrid() { now_ = now_ + TicksOf(costs_.grid_step); }

  // Whoever draws: when main memory is at its copies.
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

// The blocks of a core's pipelined grid. For each of its programs: what comes and goes, then Begin, its work, End.
class TpuPipeline {
 public:
  explicit TpuPipeline(TpuCore& core) : core_(core) {}  // which outlives it

  // Before a program: its block of the operand is not the one that is there, or the one that was there goes back.
  // `buffers`: so many blocks of the operand have room. `what`: which one it is, for pictures.
  void Fetch(std::size_t operand, machines::Bytes bytes, std::int64_t buffers, std::string what = "") {
    fetches_.push_back({operand, bytes, buffers, std::move(what)});
  }
  void Flush(std::size_t operand, machines::Bytes bytes, std::int64_t buffers, std::string what = "") {
    flushes_.push_back({operand, bytes, buffers, std::move(what)});
  }

  // Whoever draws is told each copy of a block, and names it by a number.
  struct Copied {
    std::size_t operand = 0;
    machines::Bytes bytes;
    std::int64_t buffers = 0;
    const std::string& what;
    bool goes_back = false;
    scheduler::Ticks start, landed;
  };
  using Watch = std::function<std::int32_t(const Copied&)>;
  void WatchCopies(Watch watch) { watch_ = std::move(watch); }

  // What the core waited for, and how long.
  struct Waited {
    std::size_t operand = 0;
    scheduler::Ticks time;
    bool goes_back = false;
    std::int32_t copy = -1;  // as it is named
  };
  // The program's work begins: its blocks are there, and so is room for what it writes. With `overhead`, what a step
  // of a grid takes comes before.
  std::optional<Waited> Begin(bool overhead);
  void End() { ended_ = core_.now(); }
  // After the last program: what goes back has arrived.
  std::optional<Waited> Finish();

 private:
  struct Block {
    std::size_t operand;
    machines::Bytes bytes;
    std::int64_t buffers;
    std::string what;
  };
  struct Landing {
    scheduler::Ticks time;
    std::int32_t copy = -1;
  };
  Landing Copy(const Block& block, bool goes_back, scheduler::Ticks start);
  scheduler::Ticks FetchStart(std::int64_t buffers) const;
  std::optional<Waited> WaitFor(std::optional<Waited> last, scheduler::Ticks until);

  TpuCore& core_;
  std::vector<Block> fetches_, flushes_;
  std::deque<scheduler::Ticks> began_;               // the programs, the last first
  scheduler::Ticks start_;                           // of the first program's copies
  scheduler::Ticks ended_;                           // the last program's work
  std::map<std::size_t, std::deque<Landing>> back_;  // by operand: when its blocks were back, the last first
  Watch watch_;
};

}  // namespace palladion::timing

#endif  // PALLADION_EMU_TIMING_TPU_CHIP_H_
