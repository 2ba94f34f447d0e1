#include "emu/timing/tpu/timeline.h"

#include <algorithm>

#include "emu/timing/base/ticks.h"
#include "semantics/base/cat.h"

namespace palladion::timing::tpu {

using machines::Cycles;
using scheduler::Ticks;
using timeline::kNoSpan;
using timeline::LaneKind;
using timeline::SpanKind;
using timeline::Timeline;
using timeline::TimelineLine;

void UseOverTime::Add(Ticks begin, Ticks end, double share) {
  if (end <= begin) return;
  while (static_cast<std::size_t>((end.value - 1) / interval_.value) >= most_) {
    used_.resize(used_.size() + used_.size() % 2);
    for (std::size_t i = 0; i < used_.size() / 2; ++i) used_[i] = used_[2 * i] + used_[2 * i + 1];
    used_.resize(used_.size() / 2);
    interval_ = {2 * interval_.value};
  }
  const auto first = static_cast<std::size_t>(begin.value / interval_.value);
  const auto last = static_cast<std::size_t>((end.value - 1) / interval_.value);
  if (used_.size() <= last) used_.resize(last + 1);
  for (std::size_t i = first; i <= last; ++i) {
    const Ticks from{static_cast<std::int64_t>(i) * interval_.value};
    const Ticks here = std::min(end, from + interval_) - std::max(begin, from);
    used_[i] += share * static_cast<double>(here.value);
  }
}

std::vector<double> UseOverTime::Shares(Ticks length) const {
  std::vector<double> shares;
  for (std::int64_t from = 0; from < length.value; from += interval_.value) {
    const std::size_t i = shares.size();
    const auto whole = static_cast<double>(std::min(interval_.value, length.value - from));
    shares.push_back(i < used_.size() ? std::clamp(used_[i] / whole, 0.0, 1.0) : 0.0);
  }
  return shares;
}

std::int32_t TpuTimeline::ProgramLane() {
  if (program_lane_ < 0)
    program_lane_ = recorder_.NewLane({.group = Cat("core ", core_), .name = "program", .kind = LaneKind::kThread});
  return program_lane_;
}

std::int32_t TpuTimeline::BufferLane(const std::string& block, std::int32_t slot) {
  return recorder_.LaneNamed(
      {.group = "buffers of blocks", .name = Cat(block, ", buffer ", slot), .kind = LaneKind::kSlot});
}

std::int32_t TpuTimeline::UnitLane(const TpuSlotRow& row) {
  const auto found = unit_lanes_.find(row.slot);
  if (found != unit_lanes_.end()) return found->second;
  const timeline::Lane lane{.group = "units", .name = std::string(row.name), .kind = LaneKind::kUnit};
  return unit_lanes_.emplace(row.slot, recorder_.NewLane(lane)).first->second;
}

void TpuTimeline::BeganBody() { here_ = fetched_; }

void TpuTimeline::EndedBody(Ticks end) { ended_ = {end, recorder_.LastOf(ProgramLane())}; }

void TpuTimeline::EndedProgram(Ticks begin, Ticks end, const TimelineLine& line) {
  if (steps_lane_ < 0) {
    steps_lane_ =
        recorder_.NewLane({.group = Cat("core ", core_), .name = "steps of the grid", .kind = LaneKind::kUnit});
  }
  recorder_.Worked(steps_lane_, begin, end, line);
}

void TpuTimeline::Worked(Ticks begin, Ticks end, const TimelineLine& line) {
  recorder_.Worked(ProgramLane(), begin, end, line);
}

void TpuTimeline::Waited(Ticks begin, Ticks end, const TimelineLine& line, std::int32_t copy) {
  recorder_.WaitedFor(ProgramLane(), begin, end, line, copy);
}

void TpuTimeline::Ran(Ticks begin, Ticks end, const std::vector<TpuPart>& parts) {
  Cycles alone, before;
  for (const TpuPart& part : parts) alone += part.alone;
  const auto at = [&](Cycles so_far) {
    return begin + Ticks{static_cast<std::int64_t>((so_far / alone) * static_cast<double>((end - begin).value))};
  };
  std::vector<Ticks> begins;
  for (const TpuPart& part : parts) {
    begins.push_back(at(before));
    before += part.alone;
    Worked(begins.back(), at(before), LineOf(part));
    if (part.slot >= 0) recorder_.Worked(BufferLane(part.block, part.slot), begins.back(), at(before), LineOf(part));
    for (auto& [line, copy] : without_issuer_) {
      if (line != part.line->text_line || copy == kNoSpan) continue;
      recorder_.IssuedBy(copy, recorder_.LastOf(ProgramLane()));
      copy = kNoSpan;
    }
  }
  without_issuer_.clear();
  for (const TpuSlotRow& row : AllTpuSlots()) FillUnit(row, end, parts, begins);
}

TimelineLine TpuTimeline::LineOf(const TpuPart& part) {
  return {.loc = part.line->loc, .text_line = part.line->text_line, .op = part.line->op, .slot = part.slot};
}

// Each as early as it can be, and no later than leaves room for those behind it.
void TpuTimeline::FillUnit(const TpuSlotRow& row, Ticks end, const std::vector<TpuPart>& parts,
                           const std::vector<Ticks>& begins) {
  std::vector<Stretch> stretches;
  Ticks free;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Cycles bundle = row.slot == TpuSlot::kMatrix ? Cycles(1) : costs_.pace;
    const Ticks time = base::TicksOf(BundlesOf(costs_, parts[i].work, row.slot) * bundle);
    if (time.value == 0) continue;
    stretches.push_back({.begin = std::max(free, begins[i]), .time = time, .part = i});
    free = stretches.back().begin + time;
  }
  Ticks latest = end;
  for (auto stretch = stretches.rbegin(); stretch != stretches.rend(); ++stretch) {
    stretch->begin = std::min(stretch->begin, latest - stretch->time);
    latest = stretch->begin;
  }
  const SpanKind kind = row.slot == TpuSlot::kMatrix ? SpanKind::kMultiply : SpanKind::kWork;
  for (const Stretch& one : stretches) {
    TimelineLine line = LineOf(parts[one.part]);
    line.slot = -1;
    recorder_.Worked(UnitLane(row), one.begin, one.begin + one.time, line, kind);
  }
}

std::int32_t TpuTimeline::SlotOf(std::size_t operand, std::int64_t buffers, bool goes_back) const {
  const auto& moved = goes_back ? flushed_ : here_;
  const auto found = moved.find(operand);
  const std::int64_t blocks = found == moved.end() ? 0 : found->second - (goes_back ? 0 : 1);
  return buffers < 2 ? -1 : static_cast<std::int32_t>(blocks % buffers);
}

// It starts after what the core did last; what goes back at the end of the kernel, after the last body.
std::int32_t TpuTimeline::CopiedBlock(const TpuBlockCopy& copied, const TimelineLine& declared) {
  std::int64_t& moved = (copied.goes_back ? flushed_ : fetched_)[copied.operand];
  const Ticks start = *copied.start;
  const bool after_body = copied.goes_back && start == ended_.first;
  const std::int32_t issuer = after_body ? ended_.second : recorder_.LastOf(ProgramLane());
  const auto slot = static_cast<std::int32_t>(moved++ % std::max<std::int64_t>(1, copied.buffers));
  const SpanKind kind = copied.goes_back ? SpanKind::kCopyOut : SpanKind::kCopyIn;
  if (copied.buffers >= 2) {
    recorder_.Put(
        {.lane = BufferLane(declared.op, slot), .kind = kind, .what = copied.what, .slot = slot, .by = issuer}, start,
        copied.landed, declared);
  }
  return recorder_.RanBeside({.name = copied.goes_back ? "blocks out" : "blocks in",
                              .kind = kind,
                              .what = copied.what,
                              .slot = copied.buffers < 2 ? -1 : slot,
                              .issuer_span = issuer},
                             start, copied.landed, declared);
}

std::int32_t TpuTimeline::Copied(const Copy& copy, Ticks begin, Ticks end, const TimelineLine& line) {
  const std::int32_t span =
      recorder_.RanBeside({.name = copy.kind == SpanKind::kCopyOut ? "copies out" : "copies in",
                           .kind = copy.kind,
                           .what = copy.what,
                           .slot = copy.buffer < 0 ? -1 : recorder_.SlotOf(copy.buffer, copy.place)},
                          begin, end, line);
  without_issuer_.emplace_back(line.text_line, span);
  return span;
}

Timeline TpuTimeline::Take(Ticks length) {
  Timeline timeline = recorder_.Take(Cat("core ", core_), length);
  timeline.strips.push_back({.name = "main memory (HBM)", .share = memory_.Shares(length)});
  return timeline;
}

}  // namespace palladion::timing::tpu
