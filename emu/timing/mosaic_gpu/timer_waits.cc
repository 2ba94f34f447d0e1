// How the running thread's time advances: by costs and by waits.
#include <algorithm>

#include "emu/run/threads/thread_machine.h"
#include "emu/timing/base/ticks.h"
#include "emu/timing/gpu/report_parts.h"
#include "emu/timing/mosaic_gpu/stall_causes.h"
#include "emu/timing/mosaic_gpu/timer.h"

namespace palladion::timing::mosaic_gpu {

using base::TicksOf;
using gpu::GlobalBox;
using gpu::HowOf;
using gpu::Spent;
using gpu::Stall;
using gpu::StallTimes;
using scheduler::Ticks;

// ---- blocks

// In an unused place, or where another one has ended.
void GpuTimer::BeginCluster(Cluster& cluster) {
  Device& device = devices_[static_cast<std::size_t>(cluster.device)];
  const gpu::BlockPlaces::Place place = device.places.Begin();
  cluster.group = place.group;
  cluster.begins = place.begins;
  const auto left = device.left.find({place.group, place.begins - TicksOf(costs_.replace)});
  if (left == device.left.end()) return;
  cluster.from = left->second;
  device.left.erase(left);
}

// A thread's first step.
void GpuTimer::EnterBlock(const Cluster& cluster) {
  if (cluster.begins.value == 0) return;
  const Ticks launch = TicksOf(costs_.replace);
  launches_ = launches_ + launch;
  path_.StartFrom(clock_.running(), cluster.from);
  path_.Spent(clock_.running(), launch, {.what = kNoPlan, .how = HowOf(Stall::kLaunch)});
  clock_.MoveTo(cluster.begins);
}

void GpuTimer::EndCluster(Cluster& cluster) {
  Device& device = devices_[static_cast<std::size_t>(cluster.device)];
  device.places.End(cluster.group, cluster.ends);
  path_.Release(cluster.from);
  early_ = early_ + (Ticks{cluster.threads * cluster.ends.value} - cluster.sum_of_ends);
  device.left.emplace(std::pair(cluster.group, cluster.ends), cluster.to);
}

// ---- threads

void GpuTimer::Charge(Ticks time) {
  if (time.value <= 0) return;
  if (Shown()) timeline_->Worked(Here(clock_.now(), clock_.now() + time));
  clock_.Spend(time, {.what = now_.plan});
  if (now_.plan != kNoPlan) {
    Spent& spent = spent_[static_cast<std::size_t>(now_.plan)];
    spent.busy = spent.busy + time;
  }
}

// By an operation that units of its SM have just served.
void GpuTimer::ChargeUntil(Ticks end) {
  const Ticks all = end - clock_.now();
  if (all.value <= 0) return;
  const GpuPlan& plan = plans_[now_.plan];
  const Parts parts = PartsOf(plan, all, node_.TakeRecent(now_.thread->at));
  Stalled(parts.busy_unit, parts.queued);
  Charge(parts.worked);
  Stalled(parts.memory, parts.in_flight);
}

void GpuTimer::Stalled(Stall stall, Ticks time) {
  if (time.value <= 0) return;
  if (Shown()) timeline_->Waited(Here(clock_.now(), clock_.now() + time), kNoPlan);
  clock_.Spend(time, {.what = now_.plan, .how = HowOf(stall)});
  Spent& spent = spent_[static_cast<std::size_t>(now_.plan)];
  spent.waited = spent.waited + time;
  for (StallTimes* const stalls : {&spent.stalls, &DeviceOf(*now_.thread).stalls}) {
    Ticks& reason = (*stalls)[static_cast<std::size_t>(stall)];
    reason = reason + time;
  }
}

// Until it could begin; another agent has ended that.
void GpuTimer::HasWaited() {
  const Ticks began = clock_.operation_began();
  if (Shown()) {
    const GpuTimeline::Awaited awaited{now_.target, now_.agent};
    timeline_->Waited(Here(began - now_.waited, began), now_.ended_by, awaited);
  }
  Spent& spent = spent_[static_cast<std::size_t>(now_.plan)];
  spent.waited = spent.waited + now_.waited;
  Ticks& reason = spent.waited_for[now_.ended_by];
  reason = reason + now_.waited;
  const Stall ended = now_.ended_by == kNoPlan ? Stall::kOther : ends_as_[static_cast<std::size_t>(now_.ended_by)];
  const auto at = static_cast<std::size_t>(StallAt(plans_[now_.plan], ended));
  for (StallTimes* const stalls : {&spent.stalls, &DeviceOf(*now_.thread).stalls})
    (*stalls)[at] = (*stalls)[at] + now_.waited;
}

std::optional<report::Whole> GpuTimer::Whole() const {
  const std::int64_t threads = cluster_size_ * threads_of_block_;
  gpu::WholeInputs what{.devices = {},
                        .threads = threads,
                        .are = threads == 1 ? "places for blocks" : "threads of places for blocks",
                        .end = clock_.end(),
                        .launch = costs_.launch,
                        .launches = launches_,
                        .early = early_,
                        .warps = warps_};
  if (warps_.value > 0) what.are = "threads of places for blocks, and of warps while they run,";
  for (const Device& device : devices_) what.devices.push_back(&device.places);
  return gpu::WholeOf(what);
}

// ---- devices

std::int64_t GpuTimer::DeviceOf(BufferId buffer) const {
  const auto operand = array_of_.find(buffer.value);
  return operand != array_of_.end() ? operand->second.device : now_.thread->at.device;
}

// The same boxes of each of them, by a thread.
void GpuTimer::AccessDevices(const std::vector<std::int64_t>& devices, const std::vector<GlobalBox>& boxes,
                             bool writes) {
  Thread& thread = *now_.thread;
  Ticks end = clock_.now();
  for (const GlobalBox& box : boxes) {
    if (!writes) {
      end = std::max(end, node_.LoadDirectly(thread.at, clock_.now(), devices, box));
      continue;
    }
    const gpu::GpuChip::Stored stored = node_.StoreDirectly(thread.at, clock_.now(), devices, box);
    end = std::max(end, stored.read);
    thread.sent = std::max(thread.sent, stored.written);
  }
  ChargeUntil(end);
}

// The signal follows all that its thread has stored. It is visible on its own device after the time of a fence, on
// another after the latency of the link.
void GpuTimer::ReceiveSignal(SyncElement semaphore) {
  if (now_.thread == nullptr) return;
  const bool here = machine_->syncs()[semaphore.array].device == now_.thread->at.device;
  const Ticks leaves = std::max(clock_.now(), now_.thread->sent);
  Ticks& seen = signals_[{semaphore.array.value, semaphore.element}];
  seen = std::max(seen, leaves + (here ? TicksOf(costs_.device_fence) : node_.link_latency()));
}

// The waiter has begun with the last signal that it needs, but sees it later.
void GpuTimer::AwaitSignals(SyncElement semaphore) {
  const auto seen = signals_.find({semaphore.array.value, semaphore.element});
  if (seen != signals_.end()) Stalled(Stall::kSemaphore, seen->second - clock_.now());
}

}  // namespace palladion::timing::mosaic_gpu
