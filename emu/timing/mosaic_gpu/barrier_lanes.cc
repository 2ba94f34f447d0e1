#include "emu/timing/mosaic_gpu/barrier_lanes.h"

#include <algorithm>

#include "semantics/base/cat.h"

namespace palladion::timing::mosaic_gpu {

using timeline::SpanKind;

// One that no other barrier has now.
std::int32_t BarrierLanes::TakeLane(const std::string& name) {
  std::vector<Taken>& lanes = lanes_[name];
  auto lane = std::find_if(lanes.begin(), lanes.end(), [](const Taken& one) { return !one.taken; });
  if (lane == lanes.end()) {
    const std::string number = lanes.empty() ? "" : Cat(", ", lanes.size() + 1);
    const timeline::Lane added{.group = "barriers", .name = name + number, .kind = timeline::LaneKind::kBarrier};
    lane = lanes.insert(lanes.end(), {.lane = recorder_.NewLane(added), .taken = false});
  }
  lane->taken = true;
  return lane->lane;
}

// A part of a phase where that has several arrivals.
void BarrierLanes::PutPart(const Seen& seen, BarrierId id, Ticks at, std::int32_t by) {
  if (seen.all < 2) return;
  const std::int64_t left = std::max<std::int64_t>(0, seen.all - seen.arrived);
  recorder_.Put({.lane = seen.lane,
                 .kind = SpanKind::kPending,
                 .what = Cat(left, " of ", seen.all, " pending"),
                 .slot = SlotOf(id),
                 .by = by},
                seen.part, at, recorder_.LineOf(by));
}

void BarrierLanes::Saw(const Look& look) {
  const memory_model::BarrierSpec& spec = look.barrier.spec();
  const auto [at, is_new] = seen_.try_emplace(look.id.value);
  Seen& seen = at->second;
  if (is_new) {
    seen = {.lane = TakeLane(look.name),
            .name = look.name,
            .all = spec.num_arrivals,
            .phase = look.born,
            .part = look.born};
  }
  if (look.barrier.completed() == seen.completed && look.barrier.arrived() == seen.arrived) return;
  PutPart(seen, look.id, look.at, look.by);
  seen.part = look.at;
  seen.arrived = look.barrier.arrived();
  if (look.barrier.completed() == seen.completed) return;
  recorder_.Put({.lane = seen.lane,
                 .kind = SpanKind::kPhase,
                 .what = Cat(seen.name, ", phase ", seen.completed),
                 .slot = SlotOf(look.id),
                 .by = look.by},
                seen.phase, look.at, recorder_.LineOf(look.by));
  seen.phase = look.at;
  seen.completed = look.barrier.completed();
}

void BarrierLanes::Ends(BarrierId id, Ticks at) {
  const auto found = seen_.find(id.value);
  if (found == seen_.end()) return;
  const Seen& seen = found->second;
  if (seen.arrived > 0) {
    PutPart(seen, id, at, timeline::kNoSpan);
    recorder_.Put({.lane = seen.lane,
                   .kind = SpanKind::kPhase,
                   .what = Cat(seen.name, ", phase ", seen.completed, ", which did not complete"),
                   .slot = SlotOf(id)},
                  seen.phase, at, {});
  }
  for (Taken& lane : lanes_[seen.name]) lane.taken &= lane.lane != seen.lane;
  slots_.erase(id.value);
  seen_.erase(found);
}

}  // namespace palladion::timing::mosaic_gpu
