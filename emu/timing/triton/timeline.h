// The timeline of a Triton kernel: for each place that an SM has for a block the blocks that ran there, one after
// another, and what their warps did; beside them what they load, store, update and multiply, the stages in shared
// memory that loads of pipelined loops fill, the units of the SM, and the utilisation of the whole chip. Based on: what
// the timer (timer.h) adds to the clock and requests of the units, so the spans of all SMs add up to what its report
// says of busy and stalled time. Limits: the warps of a block go along together, and share a lane; of the four
// quadrants the first one is drawn; of values that a block stores into shared memory itself only the time is shown.
#ifndef PALLADION_EMU_TIMING_TRITON_TIMELINE_H_
#define PALLADION_EMU_TIMING_TRITON_TIMELINE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emu/kernel/prepared_kernel.h"
#include "emu/timing/gpu/chip.h"
#include "emu/timing/gpu/stalls.h"
#include "emu/timing/timeline/recorder.h"
#include "emu/timing/triton/plan.h"
#include "memory_model/bytes/memory.h"

namespace palladion::timing::triton {

class TritonTimeline {
 public:
  using Ticks = scheduler::Ticks;
  static constexpr std::int32_t kNoPlace = -1;

  // All outlive it.
  struct Parts {
    const kernel::PreparedKernelState& kernel;
    const std::vector<TritonPlan>& plans;
    timeline::TimelineRecorder& recorder;
    std::int64_t warps = 1;
    std::int64_t places = 1;  // of an SM
  };
  explicit TritonTimeline(const Parts& parts);

  // ---- Blocks. A place is where one of them is on the drawn SM.
  std::int32_t Begins(const std::vector<std::int64_t>& index, Ticks launched, Ticks begins);
  void Ends(std::int32_t place, Ticks at);
  Ticks Finished(Ticks end);  // the kernel is over everywhere, but for blocks that wait for ever: the last one's time

  // ---- What a block does. `plan`: of the instruction.
  struct When {
    std::int32_t place = kNoPlace, plan = -1;
    Ticks begin, end;
  };
  void Worked(const When& when);
  // `by`: the plan that ended it, or, of none, what this instruction itself had asked for.
  void Stalled(const When& when, gpu::Stall stall, std::int32_t by);
  void Iterates(std::int32_t place, Ticks at);  // a loop: what is requested for then has been issued here
  // What the next of these reaches in global memory, in words.
  void Reaches(std::string_view array, const BoxAccess* box, std::int64_t elements);
  enum class Level : std::uint8_t { kL1, kL2, kDram };
  // From so far away. `iteration`: of the loop that it is pipelined in, or -1.
  void Loaded(const When& when, Level level, std::int64_t iteration);
  void Stored(const When& when);
  void Updated(const When& when);
  // `loads`: plans that have filled the stages that it reads, until `read`.
  void Multiplied(const When& when, Ticks read, const std::vector<std::int32_t>& loads);

  // ---- The SM and the chip.
  void UnitBusy(std::string_view unit, const scheduler::Server::Piece& piece, std::int32_t plan);
  void Use(const gpu::GpuChip& chip, Ticks now, std::int64_t sms);
  void Look(const memory_model::Memory& memory, std::int32_t place, Ticks at);  // at its findings

 private:
  struct Beside {
    std::int32_t span = timeline::kNoSpan;
    Ticks end;
  };
  struct Stage {
    std::int32_t lane = 0, slot = -1;
  };
  struct Place {
    std::string name;
    std::int32_t warps = 0, blocks = 0;                // lanes
    std::string block;                                 // that is there; "": none
    Ticks begins, left, now;                           // now: of the block that is there
    std::map<std::int32_t, std::vector<Beside>> last;  // that ran beside the block, or made a value, by plan
    std::map<std::int32_t, Stage> stage;               // that a load filled last, by plan
    std::map<Ticks, std::int32_t> iterated;            // the warps' last span when an iteration began
  };
  Place& At(std::int32_t place) { return places_[static_cast<std::size_t>(place)]; }
  timeline::TimelineLine LineOf(std::int32_t plan) const;
  void Keep(const When& when, std::int32_t span);
  std::int32_t EndedBy(const When& when, std::int32_t by) const;
  Stage StageOf(const When& when, std::int64_t iteration);
  std::string NameOfLoad(std::int32_t plan);
  std::int32_t RanBeside(const When& when, timeline::TimelineRecorder::Beside beside);

  const std::vector<TritonPlan>& plans_;
  timeline::TimelineRecorder& recorder_;
  const std::int64_t stages_, warps_, most_places_;
  std::vector<Place> places_;
  std::string array_, reached_;
  Ticks used_until_;
  std::array<Ticks, 3> used_{};                // by strip
  std::map<std::int32_t, std::string> loads_;  // names of their stages, by plan
  std::size_t findings_ = 0;                   // so far
};

}  // namespace palladion::timing::triton

#endif  // PALLADION_EMU_TIMING_TRITON_TIMELINE_H_
