// The barriers of one SM on a timeline: a lane for each, with its phases from one completion to the next, and below
// them the number of pending arrivals. Based on: the counts of the memory model (memory_model/sync/barrier.h), sampled
// after every operation that may change them. Limits: arrivals between two samples are one; a phase that the end of its
// block cuts off ends there.
#ifndef PALLADION_EMU_TIMING_MOSAIC_GPU_BARRIER_LANES_H_
#define PALLADION_EMU_TIMING_MOSAIC_GPU_BARRIER_LANES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "emu/timing/timeline/recorder.h"
#include "memory_model/sync/barrier.h"

namespace palladion::timing::mosaic_gpu {

class BarrierLanes {
 public:
  using Ticks = scheduler::Ticks;

  explicit BarrierLanes(timeline::TimelineRecorder& recorder) : recorder_(recorder) {}  // it outlives this

  struct Look {
    BarrierId id;
    const memory_model::Barrier& barrier;
    std::string name;
    Ticks born;                           // when its block began
    Ticks at;                             // when what changed it did
    std::int32_t by = timeline::kNoSpan;  // and the span of that
  };
  void Saw(const Look& look);
  void Ends(BarrierId id, Ticks at);  // its block does, and another one's barrier may have its lane

  // Arrivals there signal this slot of a ring, whose colour the phases have.
  void CountsFor(BarrierId id, std::int32_t slot) { slots_[id.value] = slot; }
  std::int32_t SlotOf(BarrierId id) const {
    const auto found = slots_.find(id.value);
    return found == slots_.end() ? -1 : found->second;
  }

 private:
  struct Seen {
    std::int32_t lane = 0;
    std::string name;
    std::int64_t all = 1;  // of a phase's arrivals
    std::uint64_t completed = 0;
    std::int64_t arrived = 0;
    Ticks phase, part;  // when the current ones began
  };
  struct Taken {
    std::int32_t lane = 0;
    bool taken = false;
  };
  std::int32_t TakeLane(const std::string& name);
  void PutPart(const Seen& seen, BarrierId id, Ticks at, std::int32_t by);

  timeline::TimelineRecorder& recorder_;
  absl::flat_hash_map<std::int32_t, Seen> seen_;  // by barrier
  absl::flat_hash_map<std::int32_t, std::int32_t> slots_;
  std::map<std::string, std::vector<Taken>> lanes_;
};

}  // namespace palladion::timing::mosaic_gpu

#endif  // PALLADION_EMU_TIMING_MOSAIC_GPU_BARRIER_LANES_H_
