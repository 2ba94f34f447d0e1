// The time of a Mosaic GPU kernel as it runs: each operation (plan.h) is scheduled on the units of its SM
// (emu/timing/gpu/chip.h), and its agent's time advances. It watches a launch whose policy is the timed one
// (scheduler/virtual_clock.h) and changes nothing of what the launch does. Based on: an operation begins at its agent's
// time; phases of copies and products are scheduled for when their engine is done. Limits: those of the chip and of the
// plans; a product that follows another one of its thread is issued when the thread reaches it, also where the memory
// model lets it begin later: hardware keeps their order by itself.
#ifndef PALLADION_EMU_TIMING_MOSAIC_GPU_TIMER_H_
#define PALLADION_EMU_TIMING_MOSAIC_GPU_TIMER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/events.h"
#include "emu/timing/base/critical_path.h"
#include "emu/timing/gpu/block_places.h"
#include "emu/timing/gpu/chip.h"
#include "emu/timing/gpu/global_boxes.h"
#include "emu/timing/gpu/node.h"
#include "emu/timing/gpu/spent.h"
#include "emu/timing/gpu/stalls.h"
#include "emu/timing/mosaic_gpu/kernel_plans.h"
#include "emu/timing/mosaic_gpu/plan.h"
#include "emu/timing/mosaic_gpu/timeline.h"
#include "emu/timing/report/timing.h"
#include "scheduler/virtual_clock.h"
#include "semantics/program/mark.h"

namespace palladion::timing::mosaic_gpu {

class GpuTimer final : public run::Watcher {
 public:
  // Where the kernel runs: what a device has room for; of several, or where it says that it is for several, their
  // links.
  struct On {
    gpu::BlockPlaces::Room room;
    std::optional<gpu::LinkCosts> links;
  };
  // Both outlive it. Unimplemented: an operation of the kernel has no cost.
  static absl::StatusOr<std::unique_ptr<GpuTimer>> Create(const kernel::PreparedKernelState& kernel,
                                                          const gpu::ChipCosts& costs, const On& on);

  void RecordTo(timeline::TimelineRecorder& timeline, const timeline::TimelineOptions& shown);  // it outlives the run
  void EndRecording();                                                                          // the run is over

  scheduler::VirtualClock& clock() { return clock_; }
  const scheduler::VirtualClock& clock() const { return clock_; }
  const gpu::GpuNode& node() const { return node_; }
  const base::CriticalPath& path() const { return path_; }  // `how`: 0, or 1 + its Stall
  const gpu::BlockPlaces& places(std::int64_t device) const {
    return devices_[static_cast<std::size_t>(device)].places;
  }
  // Of all threads of a device.
  scheduler::Ticks ended(std::int64_t device) const { return devices_[static_cast<std::size_t>(device)].ended; }
  const gpu::StallTimes& stalls(std::int64_t device) const { return devices_[static_cast<std::size_t>(device)].stalls; }
  const KernelPlans& kernel_plans() const { return plans_; }
  const std::vector<GpuPlan>& plans() const { return plans_.all(); }
  const std::vector<gpu::Spent>& spent() const { return spent_; }  // for each of these
  scheduler::Ticks launches() const { return launches_; }          // that threads of later blocks waited for
  double flops() const { return flops_; }
  std::optional<report::Whole> Whole() const;

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kStep, memory_model::EventKind::kAccess, memory_model::EventKind::kIssue,
            memory_model::EventKind::kArrive};
  }
  void Begun(const threads::ThreadMachine& machine) override;
  void Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override;
  void Before(const Step& step, Frame& frame) override;
  void After(const Step& step, Frame& frame) override;
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;
  void Issued(const Who& who, const AsyncRequest& request) override;
  void Arrives(const Who&, const Arrival& arrival) override {
    if (machine_ != nullptr && arrival.at.kind == WaitTarget::Kind::kSemaphore) ReceiveSignal(arrival.at.object);
  }

 private:
  static constexpr std::int32_t kNoPlan = KernelPlans::kNone;
  struct Thread {
    std::int64_t cluster = 0;
    gpu::SmPlace at;
    bool warp = false;
    scheduler::Ticks entered;  // of a warp
    std::int64_t quadrant = gpu::GpuChip::kAllQuadrants;
    std::int32_t last_engine = kNoPlan;  // that it has started
    std::int32_t lane = kNoLane;         // of the timeline, if it shows the SM
    scheduler::Ticks sent;               // all that it has stored in other devices' memory is there
  };
  struct Cluster {
    std::int64_t device = 0, group = 0, running = 0;  // threads that have not ended
    scheduler::Ticks begins, ends;
    scheduler::Ticks sum_of_ends;  // of its threads that have ended
    std::int64_t threads = 0;
    base::CriticalPath::Held from, to;  // the paths to these
  };
  struct Device {
    gpu::BlockPlaces places;
    std::multimap<std::pair<std::int64_t, scheduler::Ticks>, base::CriticalPath::Held> left;  // by group and when
    scheduler::Ticks ended;
    gpu::StallTimes stalls = {};
  };
  // What an operation requests in the same place of several devices.
  struct Everywhere {
    std::vector<std::int64_t> devices;
    std::vector<gpu::GlobalBox> boxes;  // of the first
  };
  struct Array {
    std::int64_t device = 0, operand = 0;
  };
  // The step that an agent is in.
  struct Now {
    Thread* thread = nullptr;
    std::int32_t plan = kNoPlan;
    scheduler::Ticks waited;
    std::int32_t ended_by = kNoPlan;
    WaitTarget target;  // of a timeline; and the thread that waits
    AgentId agent;
    Everywhere everywhere = {};
  };

  GpuTimer(const kernel::PreparedKernelState& kernel, const gpu::ChipCosts& costs, const On& on, KernelPlans plans);
  Thread& ThreadOf(const Frame& frame);
  bool Shown() const { return now_.thread != nullptr && now_.thread->lane != kNoLane; }
  GpuTimeline::When Here(scheduler::Ticks begin, scheduler::Ticks end) const {
    return {.lane = now_.thread->lane, .plan = now_.plan, .begin = begin, .end = end};
  }
  void EndThread(const Frame& frame);
  void FinishMark(const Mark& mark);
  void FinishStep(const Step& step, Frame& frame);
  scheduler::Ticks Synchronised(GpuWork work, const Step& step) const;
  void Charge(scheduler::Ticks time);
  void ChargeUntil(scheduler::Ticks end);
  void Stalled(gpu::Stall stall, scheduler::Ticks time);
  void HasWaited();
  void BeginCluster(Cluster& cluster);
  void EnterBlock(const Cluster& cluster);
  void EndCluster(Cluster& cluster);
  gpu::GpuChip& Chip() { return node_.chip(now_.thread->at.device); }
  Device& DeviceOf(const Thread& thread) { return devices_[static_cast<std::size_t>(thread.at.device)]; }
  std::int64_t DeviceOf(BufferId buffer) const;  // whose memory it is in
  void ReceiveSignal(SyncElement semaphore);
  void AwaitSignals(SyncElement semaphore);
  void AccessDevices(const std::vector<std::int64_t>& devices, const std::vector<gpu::GlobalBox>& boxes, bool writes);
  bool Accesses(const Who& who) const;
  bool InTensorMemory() const;
  void AccessGlobal(AccessKind kind, BufferId buffer, const std::vector<gpu::GlobalBox>& boxes);
  void AccessShared(std::int64_t bytes, BufferId buffer, const BoxAccess* box);
  void IssueCopyIn(const AsyncRequest& request);
  void IssueCopyOut(const AsyncRequest& request);
  void IssueProduct(const AsyncRequest& request);
  void IssuePeerStore(const AsyncRequest& request);
  void AccessTensor(BufferId buffer, const BoxAccess* box);
  std::vector<gpu::GlobalBox> BoxesOfOperand(const AsyncOperand& operand) const;
  gpu::ArrayLayout LayoutOf(BufferId buffer) const;

  const kernel::PreparedKernelState& kernel_;
  const gpu::ChipCosts chip_costs_;
  const gpu::GpuCosts costs_;
  gpu::GpuNode node_;
  scheduler::VirtualClock clock_;
  base::CriticalPath path_;
  std::vector<Device> devices_;
  const KernelPlans plans_;
  std::vector<gpu::Spent> spent_;
  std::vector<bool> signalled_by_engine_;  // by plan: an engine arrives for it
  std::vector<gpu::Stall> ends_as_;        // by plan: what those waited for whose wait it ended
  const memory_model::Memory* memory_ = nullptr;
  const threads::ThreadMachine* machine_ = nullptr;
  std::int64_t bound_ = 0;                                                     // devices
  absl::flat_hash_map<std::int32_t, Array> array_of_;                          // by buffer: which operand
  std::map<std::pair<std::int32_t, std::int64_t>, scheduler::Ticks> signals_;  // by semaphore: all are seen
  absl::flat_hash_map<std::int32_t, Thread> threads_;                          // by agent
  absl::flat_hash_map<std::int64_t, Cluster> clusters_;                        // by number
  std::int64_t cluster_size_ = 1, threads_of_block_ = 1;
  Now now_;
  std::optional<GpuTimeline> timeline_;
  std::int64_t shown_device_ = 0;  // by it
  scheduler::Ticks launches_;
  scheduler::Ticks early_, warps_;  // of ended threads until their cluster has ended; of warps beside their thread
  double flops_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace palladion::timing::mosaic_gpu

#endif  // PALLADION_EMU_TIMING_MOSAIC_GPU_TIMER_H_
