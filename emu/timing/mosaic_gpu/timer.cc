#include "emu/timing/mosaic_gpu/timer.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "emu/run/threads/thread_machine.h"
#include "emu/run/watch/observed.h"
#include "emu/timing/base/ticks.h"
#include "emu/timing/mosaic_gpu/stall_causes.h"
#include "memory_model/sets/region.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/registry/op_row.h"

namespace palladion::timing::mosaic_gpu {

using base::TicksOf;
using gpu::Burst;
using gpu::ChipCosts;
using gpu::GlobalBox;
using gpu::TurnTime;
using machines::Bytes;
using scheduler::Ticks;

GpuTimer::GpuTimer(const kernel::PreparedKernelState& kernel, const ChipCosts& costs, const On& on, KernelPlans plans)
    : kernel_(kernel),
      chip_costs_(costs),
      costs_(gpu::Common(costs)),
      node_(costs_, on.links, kernel.program().devices),
      devices_(static_cast<std::size_t>(kernel.program().devices),
               Device{.places = gpu::BlockPlaces(on.room), .left = {}, .ended = {}}),
      plans_(std::move(plans)),
      spent_(plans_.all().size()),
      signalled_by_engine_(plans_.all().size()) {
  for (const GpuPlan& plan : plans_.all()) ends_as_.push_back(StallOf(plan));
  clock_.ReportTo(path_);
}

absl::StatusOr<std::unique_ptr<GpuTimer>> GpuTimer::Create(const kernel::PreparedKernelState& kernel,
                                                           const ChipCosts& costs, const On& on) {
  PALLADION_ASSIGN_OR_RETURN(KernelPlans plans, KernelPlans::Of(kernel, costs));
  return std::unique_ptr<GpuTimer>(new GpuTimer(kernel, costs, on, std::move(plans)));
}

void GpuTimer::RecordTo(timeline::TimelineRecorder& timeline, const timeline::TimelineOptions& shown) {
  shown_device_ = shown.device;
  timeline_.emplace(GpuTimeline::Parts{
      .kernel = kernel_, .plans = plans_.all(), .recorder = timeline, .clock = clock_, .next = path_});
  clock_.ReportTo(*timeline_);
  node_.chip(shown_device_)
      .WatchUnits(shown.unit, [this](std::string_view unit, const scheduler::Server::Piece& piece) {
        timeline_->UnitBusy(unit, piece, now_.plan);
      });
}

void GpuTimer::EndRecording() {
  if (timeline_.has_value()) timeline_->Finished(clock_.end());
}

void GpuTimer::Begun(const threads::ThreadMachine& machine) {
  if (timeline_.has_value()) timeline_->Begun(machine);
  if (!node_.links().has_value()) return;
  machine_ = &machine;
}

void GpuTimer::Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
  memory_ = &memory;
  if (timeline_.has_value()) timeline_->Bound(memory);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].valid()) array_of_.emplace(arrays[i].value, Array{bound_, static_cast<std::int64_t>(i)});
  }
  ++bound_;
}

// ---- the running thread

GpuTimer::Thread& GpuTimer::ThreadOf(const Frame& frame) {
  const auto [found, added] = threads_.try_emplace(frame.agent().value);
  Thread& thread = found->second;
  if (!added) return thread;
  if (frame.warp().has_value()) {
    const Thread parent = threads_.at(frame.warp()->thread.value);
    return threads_[frame.agent().value] = {.cluster = parent.cluster,
                                            .at = parent.at,
                                            .warp = true,
                                            .entered = clock_.now() - clock_.waited(),
                                            .quadrant = frame.warp()->number,
                                            .lane = timeline_.has_value() && parent.lane != kNoLane
                                                        ? timeline_->LaneOf(frame, parent.at.sm)
                                                        : kNoLane};
  }
  const std::optional<ThreadMesh>& mesh = kernel_.program().mesh;
  const std::size_t block_dims = kernel_.program().block_dims();
  std::int64_t block = 0, cluster_size = 1, device = 0;
  for (std::size_t d = 0; d < block_dims; ++d) block = block * frame.grid_size()[d] + frame.grid_index()[d];
  for (std::size_t d = 0; d < kernel_.program().device_axes.size(); ++d)
    device = device * frame.grid_size()[d] + frame.grid_index()[d];
  for (std::size_t d = kernel_.program().first_cluster_dim(); d < block_dims; ++d) cluster_size *= frame.grid_size()[d];
  cluster_size_ = cluster_size;
  threads_of_block_ = mesh.has_value() && mesh->thread_dim ? frame.grid_size().back() : 1;
  const auto [at, begins] = clusters_.try_emplace(block / cluster_size);
  Cluster& cluster = at->second;
  if (begins) {
    cluster.device = device;
    cluster.running = cluster.threads = cluster_size * threads_of_block_;
    BeginCluster(cluster);
  }
  EnterBlock(cluster);
  thread = {.cluster = block / cluster_size, .at = {device, cluster.group * cluster_size + block % cluster_size}};
  if (timeline_.has_value() && device == shown_device_) thread.lane = timeline_->LaneOf(frame, thread.at.sm);
  return thread;
}

void GpuTimer::EndThread(const Frame& frame) {
  const auto thread = threads_.find(frame.agent().value);
  if (timeline_.has_value()) timeline_->EndThread(frame, thread->second.lane);
  Ticks& ended = DeviceOf(thread->second).ended;
  ended = std::max(ended, clock_.now());
  if (thread->second.warp) {
    warps_ = warps_ + (clock_.now() - thread->second.entered);
  } else {
    const auto at = clusters_.find(thread->second.cluster);
    Cluster& cluster = at->second;
    cluster.sum_of_ends = cluster.sum_of_ends + clock_.now();
    if (clock_.now() >= cluster.ends) {
      cluster.ends = clock_.now();
      path_.Release(cluster.to);
      cluster.to = path_.Hold(clock_.running());
    }
    if (--cluster.running == 0) {
      EndCluster(cluster);
      clusters_.erase(at);
    }
  }
  threads_.erase(thread);
}

// ---- what it does

void GpuTimer::Before(const Step& step, Frame& frame) {
  constexpr std::int64_t kForgetEvery = 8192, kShowEvery = 64;
  Thread& thread = ThreadOf(frame);
  now_ = {.thread = &thread, .plan = plans_.OfStep(step)};
  const bool requests =
      now_.plan != kNoPlan && (step.kind != StepKind::kMark || plans_[now_.plan].work == GpuWork::kRegisters);
  if (requests) node_.TakeRecent(thread.at);  // by others
  if (timeline_.has_value() && steps_ % kShowEvery == 0)
    timeline_->Use(node_, shown_device_, clock_.operation_began(), costs_.sms);
  if (++steps_ % kForgetEvery == 0) {
    // Operations begin in the order of time. The request for a product dates from when its thread came to it.
    const Ticks began = clock_.operation_began();
    node_.Forget({.registers = began, .memory = began, .products = std::min(began, clock_.first_request())});
  }
  if (step.kind == StepKind::kMark || !(step.visible || step.loop >= 0)) return;
  now_.waited = clock_.TakeWaited();
  if (Shown() && now_.waited.value > 0 && step.waits != nullptr && step.kind != StepKind::kAwaitBlocks)
    now_.target = step.waits(step.params, step, frame), now_.agent = frame.agent();
  now_.ended_by = now_.waited.value > 0 ? clock_.ended_by() : kNoPlan;
  clock_.CallRunning(now_.plan);
  if (now_.plan == kNoPlan || now_.waited.value == 0) return;
  HasWaited();
}

void GpuTimer::After(const Step& step, Frame& frame) {
  if (now_.plan != kNoPlan) {
    const Mark* const mark = MarkOf(step);
    mark == nullptr ? FinishStep(step, frame) : FinishMark(*mark);
  }
  if (timeline_.has_value() && step.visible) timeline_->Stepped(now_.thread->lane);
  if (frame.done()) EndThread(frame);
  now_ = {};
}

void GpuTimer::FinishMark(const Mark& mark) {
  const GpuPlan& plan = plans_[now_.plan];
  const bool iteration = mark.kind == Mark::Kind::kEnter && IsLoop(*plan.instr->row);
  if (plan.work == GpuWork::kControl && (mark.kind == Mark::Kind::kBegin || iteration))
    Charge(TicksOf(costs_.alu_interval));
  if (plan.work == GpuWork::kTensorRoom && mark.kind == Mark::Kind::kBegin) {
    if (const auto* blackwell = std::get_if<gpu::BlackwellCosts>(&chip_costs_)) Charge(TicksOf(blackwell->tmem_alloc));
  }
  if (mark.kind != Mark::Kind::kFinish) return;
  ++spent_[static_cast<std::size_t>(now_.plan)].runs;
  flops_ += plan.flops;
  if (plan.work != GpuWork::kRegisters) return;
  const bool warp = now_.thread->warp;
  for (const Burst* burst : {warp ? &plan.by_warp : &plan.by_thread, warp ? &plan.then_warp : &plan.then_thread})
    ChargeUntil(Chip().Compute(now_.thread->at.sm, clock_.now(), *burst, now_.thread->quadrant));
}

void GpuTimer::FinishStep(const Step& step, Frame& frame) {
  const GpuPlan& plan = plans_[now_.plan];
  if (!now_.everywhere.devices.empty()) AccessDevices(now_.everywhere.devices, now_.everywhere.boxes, plan.stores);
  Charge(Synchronised(plan.work, step));
  if (plan.work == GpuWork::kAwaitSemaphore && machine_ != nullptr && step.waits != nullptr)
    AwaitSignals(step.waits(step.params, step, frame).object);
}

// What a thread spends on it itself, once the wait is over. The latency of a copy is until its barrier lets the waiter
// go; an arrival's is the waiter's to see.
Ticks GpuTimer::Synchronised(GpuWork work, const Step& step) const {
  constexpr std::int64_t kWarps = 4;
  const bool waited = now_.waited.value > 0;
  switch (work) {
    case GpuWork::kArrive:
    case GpuWork::kSignal:
      return TicksOf(costs_.alu_interval);
    case GpuWork::kAwaitEngine:
      return step.waits == nullptr ? Ticks{} : TicksOf(costs_.alu_interval);
    case GpuWork::kAwaitBarrier: {
      const bool by_engine = now_.ended_by != kNoPlan && signalled_by_engine_[static_cast<std::size_t>(now_.ended_by)];
      if (waited) return by_engine ? Ticks{} : TicksOf(costs_.arrive + costs_.wait);
      return TicksOf(costs_.wait);
    }
    case GpuWork::kAwaitSemaphore:
      return TicksOf(waited ? costs_.device_fence : costs_.l2_latency);
    case GpuWork::kMeet: {
      if (step.waits == nullptr) return {};
      const auto warps = static_cast<double>(threads_of_block_ * kWarps);
      return TicksOf(costs_.barrier_base + warps * costs_.barrier_per_warp);
    }
    case GpuWork::kFence:
      return TicksOf(costs_.fence);
    default:
      return {};
  }
}

// ---- memory, by threads

bool GpuTimer::Accesses(const Who& who) const {
  return !who.of_engine() && now_.thread != nullptr && now_.plan != kNoPlan &&
         plans_[now_.plan].work == GpuWork::kAccess;
}

bool GpuTimer::InTensorMemory() const { return plans_[now_.plan].space == Space::kTmem; }

void GpuTimer::AccessTensor(BufferId buffer, const BoxAccess* box) {
  const Ticks began = clock_.now();
  const GpuPlan& plan = plans_[now_.plan];
  const Burst& burst = now_.thread->warp ? plan.tensor_warp : plan.tensor_thread;
  const std::int64_t sm = now_.thread->at.sm;
  ChargeUntil(plan.stores ? Chip().StoreTensor(sm, clock_.now(), burst) : Chip().LoadTensor(sm, clock_.now(), burst));
  if (Shown()) timeline_->Touched(Here(began, clock_.now()), buffer, box);
}

gpu::ArrayLayout GpuTimer::LayoutOf(BufferId buffer) const {
  const auto operand = array_of_.find(buffer.value);
  // Scratch in global memory comes after the operands.
  const std::int64_t number =
      operand != array_of_.end() ? operand->second.operand : static_cast<std::int64_t>(array_of_.size()) + buffer.value;
  return {.number = number, .shape = memory_->ShapeOf(buffer), .element_bytes = memory_->ElementSizeOf(buffer).value()};
}

void GpuTimer::AccessGlobal(AccessKind kind, BufferId buffer, const std::vector<GlobalBox>& boxes) {
  const GpuPlan& plan = plans_[now_.plan];
  const std::int64_t device = DeviceOf(buffer);
  if (plan.everywhere && node_.links().has_value()) {  // of each device; its last step requests all
    now_.everywhere.devices.push_back(device);
    if (now_.everywhere.devices.size() == 1) now_.everywhere.boxes = boxes;
    return;
  }
  const bool writes = kind != AccessKind::kRead;
  const bool returns = kind == AccessKind::kAtomic && !plan.stores;  // what an atomic has found
  if (device != now_.thread->at.device) {
    AccessDevices({device}, boxes, writes && !returns);
    return;
  }
  Ticks end = clock_.now();
  for (const GlobalBox& box : boxes) {
    const Ticks at = clock_.now();
    const std::int64_t sm = now_.thread->at.sm;
    end = std::max(end, writes ? Chip().StoreDirectly(sm, at, box) : Chip().LoadDirectly(sm, at, box));
  }
  ChargeUntil(returns ? end + TicksOf(costs_.l2_latency) : end);
}

void GpuTimer::AccessShared(std::int64_t bytes, BufferId buffer, const BoxAccess* box) {
  const Ticks began = clock_.now();
  const GpuPlan& plan = plans_[now_.plan];
  gpu::GpuChip::PortUse use{.time = gpu::PortTime(costs_, Bytes(static_cast<double>(bytes))), .conflicts = {}};
  if (const layouts::SharedTransfer* transfer = plans_.SharedOf(plan)) {
    const std::int64_t warps = now_.thread->warp ? layouts::kWarpsOfGroup : 1;  // a warp's own part
    use = {.time = TurnTime(costs_, transfer->turns) / warps,
           .conflicts = TurnTime(costs_, transfer->turns - transfer->least) / warps};
    if (transfer->selects > 0) {
      const Burst selects =
          gpu::BurstOf(costs_, gpu::Pipe::kAlu, transfer->selects * layouts::kLanesOfGroup, layouts::kWarpsOfGroup);
      ChargeUntil(Chip().Compute(now_.thread->at.sm, clock_.now(), selects));
    }
  }
  const Ticks there = Chip().Access(now_.thread->at.sm, clock_.now(), use);
  const bool waits = !plan.stores;
  ChargeUntil(waits ? there : there - TicksOf(costs_.smem_latency));
  if (Shown()) timeline_->Touched(Here(began, clock_.now()), buffer, box);
}

void GpuTimer::Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                   const std::byte*) {
  if (!Accesses(who)) return;
  if (InTensorMemory()) return AccessTensor(access.buffer, &access);
  if (plans_[now_.plan].space == Space::kSmem) {
    AccessShared(watch::ElementsOf(access, reach) * memory_->ElementSizeOf(access.buffer).value(), access.buffer,
                 &access);
  } else {
    AccessGlobal(kind, access.buffer, BoxesOf(access, LayoutOf(access.buffer)));
  }
}

void GpuTimer::Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte*) {
  if (!Accesses(who)) return;
  if (InTensorMemory()) return AccessTensor(access.buffer, nullptr);
  const auto piece = static_cast<std::int64_t>(access.piece_bytes);
  if (plans_[now_.plan].space == Space::kSmem) {
    std::int64_t pieces = 0;
    for (std::size_t p = 0; p < access.offset.size(); ++p) pieces += memory_model::Touches(access, p);
    AccessShared(pieces * piece, access.buffer, nullptr);
  } else {
    AccessGlobal(kind, access.buffer, BoxesOf(access.offset, piece, LayoutOf(access.buffer)));
  }
}

}  // namespace palladion::timing::mosaic_gpu
