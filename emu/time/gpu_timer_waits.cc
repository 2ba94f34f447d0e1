// How the time of the thread that runs goes on: what it spends, what it waits for.
#include "emu/time/gpu_timer.h"

namespace palladion::time {

using scheduler::Ticks;

// ---- blocks

// In a place that nobody had, or where another one has ended.
void GpuTimer::BeginCluster(Cluster& cluster) {
  const BlockPlaces::Place place = places_.Begin();
  cluster.group = place.group;
  cluster.begins = place.begins;
  const auto left = ended_.find({place.group, place.begins - TicksOf(costs_.replace)});
  if (left == ended_.end()) return;
  cluster.from = left->second;
  ended_.erase(left);
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
  places_.End(cluster.group, cluster.ends);
  path_.Release(cluster.from);
  ended_.emplace(std::pair(cluster.group, cluster.ends), cluster.to);
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
  const GpuPlan& plan = plans_[static_cast<std::size_t>(now_.plan)];
  const Parts parts = PartsOf(plan, all, chip_.TakeAsked(now_.thread->sm));
  Stalled(parts.busy_unit, parts.queued);
  Charge(parts.worked);
  Stalled(parts.memory, parts.under_way);
}

void GpuTimer::Stalled(Stall stall, Ticks time) {
  if (time.value <= 0) return;
  if (Shown()) timeline_->Waited(Here(clock_.now(), clock_.now() + time), kNoPlan);
  clock_.Spend(time, {.what = now_.plan, .how = HowOf(stall)});
  Spent& spent = spent_[static_cast<std::size_t>(now_.plan)];
  spent.waited = spent.waited + time;
  Ticks& reason = spent.stalls[static_cast<std::size_t>(stall)];
  reason = reason + time;
}

// Until it could begin; somebody else has ended that.
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
  Ticks& stall = spent.stalls[static_cast<std::size_t>(StallAt(plans_[static_cast<std::size_t>(now_.plan)], ended))];
  stall = stall + now_.waited;
}

}  // namespace palladion::time
