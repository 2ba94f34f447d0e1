// What the timer of a Triton kernel adds to its timeline (timeline.h). Nothing here changes a time.
#include <algorithm>

#include "emu/timing/base/ticks.h"
#include "emu/timing/triton/timer.h"
#include "semantics/registry/op_row.h"

namespace palladion::timing::triton {

using base::TicksOf;
using gpu::GpuChip;
using scheduler::Ticks;
using timeline::TimelineOptions;
using timeline::TimelineRecorder;

void TritonTimer::RecordTo(TimelineRecorder& recorder, const TimelineOptions& shown) {
  shown_sm_ = shown.unit;
  timeline_.emplace(TritonTimeline::Parts{.kernel = kernel_,
                                          .plans = plans_,
                                          .recorder = recorder,
                                          .warps = warps_,
                                          .places = places_.room() / costs_.common.sms});
  chip_.WatchUnits(shown.unit, [this](std::string_view unit, const scheduler::Server::Piece& piece) {
    timeline_->UnitBusy(unit, piece, now_);
  });
}

Ticks TritonTimer::EndRecording() {
  timeline_->Use(chip_, clock_.end(), costs_.common.sms);
  return timeline_->Finished(clock_.end());
}

void TritonTimer::ShowBlock(const Frame& frame, Block& block, Ticks launched) {
  if (!timeline_.has_value() || block.sm != shown_sm_) return;
  const auto index = frame.grid_index();
  block.place = timeline_->Begins({index.begin(), index.end()}, launched, clock_.now());
}

// The farthest of the memories that have given it something.
void TritonTimer::ShowLoad(const TritonPlan& of, const Ready& ready, Ticks at, const GpuChip::Traffic& before,
                           std::int64_t array) {
  const GpuChip::Traffic now = chip_.traffic(array);
  TritonTimeline::Level level = TritonTimeline::Level::kL1;
  if (now.read > before.read) level = TritonTimeline::Level::kL2;
  if (now.missed > before.missed) level = TritonTimeline::Level::kDram;
  std::int64_t iteration = -1;
  if (of.prefetched) {
    iteration = 0;
    const auto loop = std::find_if(block_->loops.rbegin(), block_->loops.rend(),
                                   [](const Loop& one) { return IsLoop(RowOf(*one.instr)); });
    if (loop != block_->loops.rend()) iteration = static_cast<std::int64_t>(loop->begins.size()) - 2;
  }
  timeline_->Loaded(Here(at, ready.at), level, iteration);
}

// Its operands have been read when its last instruction has gone through the tensor cores.
void TritonTimer::ShowProduct(const TritonPlan& of, Ticks began, Ticks result) {
  if (!Shown()) return;
  std::vector<std::int32_t> loads;
  for (std::size_t i = 0; i < of.operands.size(); ++i) {
    const Arg& arg = of.instr->args[i];
    if (of.operands[i] == TritonOperand::kPrefetched && arg.kind == Arg::Kind::kValue)
      loads.push_back(At(arg.value).by);
  }
  timeline_->Multiplied(Here(began, result), result - TicksOf(of.tensor.drain), loads);
}

}  // namespace palladion::timing::triton
