#include "emu/time/gpu_timeline.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "emu/watch/observed.h"
#include "semantics/base/cat.h"
#include "semantics/program/thread_mesh.h"

namespace palladion::time {

std::int32_t GpuTimeline::LaneOf(const Frame& frame, std::int64_t sm) {
  if (!recorder_.Shows(sm)) return kNoLane;
  const std::optional<ThreadMesh>& mesh = kernel_.program().mesh;
  const bool has_threads = mesh.has_value() && mesh->thread_dim;
  const std::size_t block_dims = frame.grid_size.size() - (has_threads ? 1 : 0);
  std::string block, name = Cat("thread ", has_threads ? frame.grid_index.back() : 0);
  for (std::size_t d = 0; d < block_dims; ++d) Append(&block, d == 0 ? "" : ", ", frame.grid_index[d]);
  if (frame.warp >= 0) Append(&name, " warp ", frame.warp);
  return recorder_.LaneOfAgent(frame.agent.value, Cat("block (", block, ")"), name);
}

TimelineLine GpuTimeline::LineOf(std::int32_t plan) const {
  if (plan < 0) return {};
  const Instr& instr = *plans_[static_cast<std::size_t>(plan)].instr;
  return {.instruction = plan, .loc = instr.loc, .text_line = instr.text_line, .op = watch::OpName(instr)};
}

void GpuTimeline::Worked(const When& when) {
  if (when.lane != kNoLane) recorder_.Worked(when.lane, when.begin, when.end, LineOf(when.plan));
}

void GpuTimeline::Waited(const When& when, std::int32_t ended_by) {
  if (when.lane != kNoLane) recorder_.Waited(when.lane, when.begin, when.end, LineOf(when.plan), ended_by);
}

void GpuTimeline::RanBeside(const When& when, TimelineRecorder::Beside beside) {
  const TimelineLine line = LineOf(when.plan);
  beside.what = line.op;
  beside.issuer = when.lane;
  recorder_.RanBeside(beside, when.begin, when.end, line);
}

void GpuTimeline::Copied(const When& when, SpanKind kind, const AsyncRequest& request) {
  if (when.lane == kNoLane) return;
  TimelineRecorder::Beside beside{.name = kind == SpanKind::kCopyIn ? "copies in" : "copies out", .kind = kind};
  const AsyncOperand& shared = kind == SpanKind::kCopyIn ? request.destinations[0] : request.sources[0];
  if (const auto* box = std::get_if<BoxAccess>(&shared.where); box != nullptr && !box->start.empty())
    beside.slot = recorder_.SlotOf(shared.buffer().value, box->start[0]);
  RanBeside(when, std::move(beside));
}

void GpuTimeline::Multiplied(const When& when) {
  if (when.lane != kNoLane) RanBeside(when, {.name = "tensor cores", .kind = SpanKind::kMultiply});
}

void GpuTimeline::Use(const GpuChip& chip, scheduler::Ticks now, std::int64_t sms) {
  const GpuChip::Use use = chip.use();
  recorder_.Used(0, "L2", now, use.l2, 1);
  recorder_.Used(1, "DRAM", now, use.dram, 1);
  recorder_.Used(2, "tensor cores of all SMs", now, use.tensor, sms);
}

}  // namespace palladion::time
