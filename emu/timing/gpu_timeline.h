// The timeline of a GPU: threads and warps of one SM as lanes, the barriers of its blocks, writers and readers of its
// shared memory, its copies, products and commits, its units, and the utilisation of the whole chip. The clock reports
// which operation ended when, so an engine's arrival at a barrier is attributed to its copy. Limits: an operation that
// another SM has started has no span here; of the places of one buffer the first 32 have lanes of their own; of the
// four quadrants the first one is drawn.
#ifndef PALLADION_EMU_TIMING_GPU_TIMELINE_H_
#define PALLADION_EMU_TIMING_GPU_TIMELINE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/threads/thread_machine.h"
#include "emu/timing/barrier_lanes.h"
#include "emu/timing/gpu_chip.h"
#include "emu/timing/gpu_plan.h"
#include "emu/timing/timeline_recorder.h"
#include "semantics/port/async.h"

namespace palladion::timing {

inline constexpr std::int32_t kNoLane = -1;

class GpuTimeline final : public scheduler::ClockListener {
 public:
  using Ticks = scheduler::Ticks;
  using Agent = scheduler::AgentOrdinal;

  // All outlive it. The clock tells it, and it tells `next`.
  struct Parts {
    const kernel::PreparedKernelState& kernel;
    const std::vector<GpuPlan>& plans;
    TimelineRecorder& recorder;
    const scheduler::VirtualClock& clock;
    scheduler::ClockListener& next;
  };
  explicit GpuTimeline(const Parts& parts)
      : kernel_(parts.kernel),
        plans_(parts.plans),
        recorder_(parts.recorder),
        clock_(parts.clock),
        next_(parts.next),
        barriers_(parts.recorder) {}

  void Begun(const threads::ThreadMachine& machine) { machine_ = &machine; }
  void Bound(const memory_model::Memory& memory) { memory_ = &memory; }

  // kNoLane: of another SM.
  std::int32_t LaneOf(const Frame& frame, std::int64_t sm);
  void EndThread(const Frame& frame, std::int32_t lane);

  // Of what a lane shows; `plan`: the instruction's, -1 of none.
  struct When {
    std::int32_t lane = kNoLane, plan = -1;
    Ticks begin, end;
  };
  void Worked(const When& when);
  // `awaited`: what for, and by whom.
  struct Awaited {
    const WaitTarget& target;
    AgentId thread;
  };
  void Waited(const When& when, std::int32_t ended_by, const std::optional<Awaited>& awaited = std::nullopt);
  void Copied(const When& when, SpanKind kind, const AsyncRequest& request);
  void Multiplied(const When& when, const AsyncRequest& request);
  void Commits(const When& when, const AsyncRequest& request);  // from `begin` on, until its operation is over
  void Touched(const When& when, BufferId buffer, const BoxAccess* box);  // by a thread, in shared memory
  void Stepped(std::int32_t lane);  // a thread's operation is over, and what it took has been told
  void UnitBusy(std::string_view unit, const scheduler::Server::Piece& piece, std::int32_t plan);
  void Use(const GpuChip& chip, Ticks now, std::int64_t sms);

  // ---- Of the clock.
  void Entered(Agent agent, Agent by) override;
  void Spent(Agent agent, Ticks time, scheduler::Spending at) override { next_.Spent(agent, time, at); }
  void Began(Agent agent) override { next_.Began(agent); }
  void Followed(Agent agent, Agent by) override { next_.Followed(agent, by); }
  void Left(Agent agent, Ticks time) override;

 private:
  // What an engine does for a thread of the SM.
  struct Engine {
    std::int32_t span = kNoSpan;
    std::optional<When> commit;  // its span is not known before it ends
    std::int32_t after = kNoSpan;
    std::string what;
  };
  struct Block {
    threads::BlockId id;
    Ticks begins;
    std::size_t running = 0;
  };
  // A part of a buffer in shared memory.
  struct Place {
    std::string name;
    std::int32_t slot = -1, lane = 0;
  };
  TimelineLine LineOf(std::int32_t plan) const;
  std::int32_t RanBeside(const When& when, TimelineRecorder::Beside beside);
  void Look(std::int32_t by);  // what an operation has changed, which began last
  void LookAtFindings(std::int32_t by);
  template <class F>
  void ForEachBarrier(const Block& block, const F& f) const;
  Place PlaceOf(BufferId buffer, const BoxAccess* box);
  std::string SideText(const AsyncOperand& side) const;
  std::string NameOf(BarrierId id, const threads::Block& of) const;
  std::string WaitText(const Awaited& awaited, std::int32_t* slot) const;

  const kernel::PreparedKernelState& kernel_;
  const std::vector<GpuPlan>& plans_;
  TimelineRecorder& recorder_;
  const scheduler::VirtualClock& clock_;
  scheduler::ClockListener& next_;
  BarrierLanes barriers_;
  const threads::ThreadMachine* machine_ = nullptr;
  const memory_model::Memory* memory_ = nullptr;
  std::vector<Block> blocks_;     // of the SM, that run
  std::optional<Engine> issued_;  // whose agent enters next
  absl::flat_hash_map<std::int32_t, Engine> engines_;
  std::map<std::string, std::map<std::string, std::int32_t>> places_;  // lanes, by buffer's name and their own
  std::size_t of_model_ = 0, of_memory_ = 0;                           // findings so far
  absl::flat_hash_map<std::int32_t, std::int32_t> last_engine_;        // by thread's lane: its last operation's span
};

}  // namespace palladion::timing

#endif  // PALLADION_EMU_TIMING_GPU_TIMELINE_H_
