// The timeline of a GPU: threads and warps of one SM as lanes, the barriers of its blocks, writers and readers of its
// shared memory, its copies, products and commits, its units, and the utilisation of the whole chip. The clock reports
// which operation ended when, so an engine's arrival at a barrier is attributed to its copy. Limits: of
// what another SM does there is only a mark where it ends a wait here; of the places of one buffer the first 32 have
// lanes of their own; of the four quadrants the first one is drawn.
#ifndef PALLADION_EMU_TIMING_MOSAIC_GPU_TIMELINE_H_
#define PALLADION_EMU_TIMING_MOSAIC_GPU_TIMELINE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/threads/thread_machine.h"
#include "emu/timing/gpu/node.h"
#include "emu/timing/mosaic_gpu/barrier_lanes.h"
#include "emu/timing/mosaic_gpu/plan.h"
#include "emu/timing/timeline/recorder.h"
#include "semantics/port/async.h"

namespace palladion::timing::mosaic_gpu {

inline constexpr std::int32_t kNoLane = -1;

class GpuTimeline final : public scheduler::ClockListener {
 public:
  using Ticks = scheduler::Ticks;
  using Agent = scheduler::AgentOrdinal;

  // All outlive it. The clock passes it events, and it passes them to `next`.
  struct Parts {
    const kernel::PreparedKernelState& kernel;
    const std::vector<GpuPlan>& plans;
    timeline::TimelineRecorder& recorder;
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
  // `awaited`: what for, and by which thread.
  struct Awaited {
    const WaitTarget& target;
    AgentId thread;
  };
  void Waited(const When& when, std::int32_t ended_by, const std::optional<Awaited>& awaited = std::nullopt);
  void Copied(const When& when, timeline::SpanKind kind, const AsyncRequest& request);
  void Multiplied(const When& when, const AsyncRequest& request);
  void Commits(const When& when, const AsyncRequest& request);  // from `begin` on, until its operation is over
  void Touched(const When& when, BufferId buffer, const BoxAccess* box);  // by a thread, in shared or tensor memory
  void Stepped(std::int32_t lane);  // a thread's operation is over, and its time has been recorded
  void UnitBusy(std::string_view unit, const scheduler::Server::Piece& piece, std::int32_t plan);
  void Use(const gpu::GpuNode& node, std::int64_t device, Ticks now, std::int64_t sms);
  void Finished(Ticks end);  // the kernel is over everywhere

  // ---- Of the clock.
  void Entered(Agent agent, Agent by) override;
  void Spent(Agent agent, Ticks time, scheduler::Spending at) override { next_.Spent(agent, time, at); }
  void Began(Agent agent) override { next_.Began(agent); }
  void Followed(Agent agent, Agent by) override;
  void Left(Agent agent, Ticks time) override;

 private:
  // What an engine does for a thread of the SM.
  struct Engine {
    std::int32_t span = timeline::kNoSpan;
    std::optional<When> commit;  // its span is not known before it ends
    std::int32_t after = timeline::kNoSpan;
    std::string what;
  };
  struct Block {
    threads::BlockId id;
    std::string name;
    Ticks begins;
    std::size_t running = 0;
  };
  // A part of a buffer in shared or tensor memory.
  struct Place {
    std::string name;
    std::int32_t slot = -1, lane = 0;
  };
  static constexpr std::string_view kSharedMemory = "shared memory", kTensorMemory = "tensor memory";  // groups
  std::int32_t BlocksLane();
  std::int32_t FromElsewhere(Ticks at, std::int32_t plan);  // a mark of what another SM did then
  timeline::TimelineLine LineOf(std::int32_t plan) const;
  std::int32_t RanBeside(const When& when, timeline::TimelineRecorder::Beside beside);
  void Look(std::int32_t by);  // what an operation has changed, which began last
  void LookAtFindings(std::int32_t by);
  template <class F>
  void ForEachBarrier(const Block& block, const F& f) const;
  Place PlaceOf(BufferId buffer, const BoxAccess* box, std::string_view memory = kSharedMemory);
  std::string SideText(const AsyncOperand& side) const;
  std::string NameOf(BarrierId id, const threads::Block& of) const;
  std::string WaitText(const Awaited& awaited, std::int32_t* slot) const;

  const kernel::PreparedKernelState& kernel_;
  const std::vector<GpuPlan>& plans_;
  timeline::TimelineRecorder& recorder_;
  const scheduler::VirtualClock& clock_;
  scheduler::ClockListener& next_;
  BarrierLanes barriers_;
  const threads::ThreadMachine* machine_ = nullptr;
  const memory_model::Memory* memory_ = nullptr;
  std::vector<Block> blocks_;     // of the SM, that run
  Ticks ended_;                   // the last of those that do not
  std::optional<Engine> issued_;  // whose agent enters next
  absl::flat_hash_map<std::int32_t, Engine> engines_;
  absl::flat_hash_set<std::int32_t> here_;                    // agents of the SM: threads and engines' operations
  absl::flat_hash_map<std::int32_t, std::int32_t> followed_;  // the agent that each of these last followed
  std::map<std::string, std::map<std::string, std::int32_t>> places_;  // lanes, by buffer's name and their own
  std::size_t of_model_ = 0, of_memory_ = 0;                           // findings so far
  absl::flat_hash_map<std::int32_t, std::int32_t> last_engine_;        // by thread's lane: its last operation's span
};

}  // namespace palladion::timing::mosaic_gpu

#endif  // PALLADION_EMU_TIMING_MOSAIC_GPU_TIMELINE_H_
